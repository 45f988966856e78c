"""The generated pages are what the code says now."""

from __future__ import annotations

import pytest

from docs.generate import DOCS, PAGES


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_page_is_what_the_code_says(name: str) -> None:
    path = DOCS / name
    committed = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert committed == PAGES[name](), f"docs/{name} is out of date: run `make docs` and commit it"
