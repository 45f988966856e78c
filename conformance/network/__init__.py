"""Pods with more than one NIC."""
