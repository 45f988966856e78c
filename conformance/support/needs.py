"""Which components a test is about, where not every profile has them."""

from __future__ import annotations

from collections.abc import Collection

import pytest


def needs_of(item: pytest.Item) -> set[str]:
    """Return the components that a test's `needs` markers name, its module's too."""
    return {str(name) for marker in item.iter_markers("needs") for name in marker.args}


def absent(needs: Collection[str], installed: Collection[str]) -> list[str]:
    """Return which of the needed components are not installed.

    Args:
        needs: component names.
        installed: those that have an inventory in the cluster. None at all: another tool has installed the platform,
            and nothing is known to be absent.
    """
    return sorted(set(needs) - set(installed)) if installed else []
