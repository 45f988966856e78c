"""Bring an embedded cluster up and down, say how it is, and lend its kubeconfig."""
