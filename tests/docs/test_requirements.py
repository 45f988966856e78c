"""What component.yaml says it serves is in the checklist."""

from __future__ import annotations

import pytest

from docs.generators.requirements import REQUIREMENTS
from modelyard.catalog import Catalog, load
from modelyard.paths import data_root


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def test_every_requirement_that_a_component_serves_is_in_the_checklist(catalog: Catalog) -> None:
    known = {each.id for each in REQUIREMENTS}
    assert len(known) == len(REQUIREMENTS)
    for component in catalog.components.values():
        assert set(component.requirements) <= known, component.name
