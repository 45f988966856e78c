"""Nodes: their root file systems, mounts and processes, simulated ones too, and what is run and loaded on them."""
