"""What of a cluster is kept on disk: where, which spec, who runs it, its keys, what is to run."""
