"""What the embedded cluster runs: binaries, Debian packages and images, each built once and kept by content."""

from modelyard.local.build.cluster_set import cluster_binaries

__all__ = ["cluster_binaries"]
