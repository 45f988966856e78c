"""The tools whose output the cache holds: another version of either renders anew."""

from __future__ import annotations

KUSTOMIZE_VERSION = "v5.8.1"
HELM_VERSION = "v3.19.5"
# What charts are rendered for.
KUBERNETES_VERSION = "v1.35.4"
# Raise it when staging, parsing or the rewriting of images changes what comes out.
FORMAT = "2"
