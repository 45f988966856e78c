"""Kinds of clusters behind one protocol (`protocol.Cluster`): embedded, kind, and any that exists. One file each."""
