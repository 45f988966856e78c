"""What observability expects: every component with an inventory, not only those whose objects happen to be there."""

from __future__ import annotations

import pytest

from conformance.observability.installed import NAMES, of


def test_a_component_with_an_inventory_is_wanted_and_others_are_not() -> None:
    assert of(["kueue", "tenancy"], ["kueue", "keda"]) == {"kueue"}


def test_a_namespace_that_is_missing_is_a_failure_not_a_component_less() -> None:
    with pytest.raises(AssertionError, match="keda of component keda"):
        of(["kueue", "keda"], ["kueue"])


def test_without_inventories_another_tool_has_installed_what_is_marked() -> None:
    assert of([], ["kueue"]) == {"kueue"}
    assert of(sorted(NAMES), sorted(NAMES)) == NAMES
