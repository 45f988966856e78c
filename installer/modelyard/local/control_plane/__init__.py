"""The control plane's processes, their flags and rights, and the cluster's DNS."""
