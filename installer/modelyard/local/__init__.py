"""The target `local`: an embedded cluster, built and run on one machine."""
