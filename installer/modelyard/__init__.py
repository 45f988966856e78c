"""modelyard: a GitOps distribution of an AI platform on Kubernetes."""

__version__ = "0.1.0"
