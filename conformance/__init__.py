"""The conformance suite: what the integrated platform must do, each area in a folder of its own.

`modelyard conformance` runs it against any cluster on which the platform is installed.
"""
