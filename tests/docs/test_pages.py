"""What holds for every page: links lead somewhere, and nothing names a machine's own paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_pages import ROOT, anchors, blocks, languages, links, pages

from modelyard.platform.conform import areas_of

# Blocks that no test runs; each says why. Raise it only with a reason that no test could take away.
MOST_NOT_RUN = 11


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{_name(page)} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{_name(page)} links to {link}"


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_no_page_names_the_machine_on_which_it_was_written(page: Path) -> None:
    assert not re.search(r"/(work|tmp|root)/", page.read_text(encoding="utf-8")), _name(page)


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    found = [block for page in pages() for block in blocks(page) if block.not_run]
    for block in found:
        print(f"{block.page}:{block.line} is not run: {block.not_run}")
    assert len(found) <= MOST_NOT_RUN


def test_console_blocks_have_commands_and_known_needs() -> None:
    for page in pages():
        for block in blocks(page):
            assert block.commands or block.file, f"{block.page}:{block.line} has no `$ ` line"
            assert block.needs in ("", "platform", "full"), f"{block.page}:{block.line} needs {block.needs}"


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_commands_stand_in_console_blocks_where_a_test_runs_them(page: Path) -> None:
    escaping = {"bash", "sh", "shell", "zsh"} & set(languages(page.read_text(encoding="utf-8")))
    assert not escaping, f"{_name(page)} has blocks that no test looks at: {sorted(escaping)}"


def test_page_on_conformance_has_every_area() -> None:
    page = (ROOT / "docs/how-to/run-conformance.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[([a-z]+)\]\(\.\./\.\./conformance/\1\) \|", page, re.MULTILINE)
    assert sorted(told) == areas_of(ROOT / "conformance")
