"""Images by the catalogue: the tests use no tag of their own."""

from __future__ import annotations

from functools import cache

from modelyard.catalog import load
from modelyard.paths import data_root

# Sleeps until it is told to stop, and stops at once. Every node has one for its pods' sandboxes.
PAUSE = "registry.k8s.io/pause:3.10.1"


def python_image() -> str:
    """Return the image of tests that need no framework: Python, bash and sleep, on every target.

    It is Ray's, which the platform has anyway.
    """
    return image("kuberay", "docker.io/rayproject/ray")


@cache
def image(component: str, name: str) -> str:
    """Return an image of a component with its tag.

    Args:
        component: whose component.yaml lists it.
        name: its name there.
    """
    listed = load(data_root()).component(component).images
    found = next(each for each in listed if each.name == name)
    return f"{found.name}:{found.tag}"
