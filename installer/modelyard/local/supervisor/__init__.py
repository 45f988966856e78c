"""Pid 1 of a cluster's namespaces: it starts the processes, starts them again, and forwards the port."""
