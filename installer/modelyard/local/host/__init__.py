"""What the machine has: processes, cgroups, mounts, kernel modules, ports, links. Knows no cluster."""
