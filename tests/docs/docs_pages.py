"""The Markdown pages of the repository, and what can be told from their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.M)
# The comment on the line before a block that says how it is run.
_MARKER = re.compile(r"<!-- (?P<how>needs|not run|file): (?P<what>[^\n]+?) -->\n *$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block that a reader carries out: commands to type, or a file to write.

    Args:
        page: its page, relative to the repository.
        line: its first, from 1.
        commands: the lines after `$ `, with the lines that go on (`> `).
        shown: for each command, the lines below it: what it prints.
        file: the file to write, relative to the clone; "" for commands.
        content: of that file.
        needs: "" for nothing but the clone, "platform", or "full": a platform with all components of that profile.
        not_run: why no test runs it; "" where one does.
    """

    page: str
    line: int
    commands: tuple[str, ...] = ()
    shown: tuple[tuple[str, ...], ...] = ()
    file: str = ""
    content: str = ""
    needs: str = ""
    not_run: str = ""


def pages() -> list[Path]:
    """Return every page, sorted."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def blocks(page: Path) -> Iterator[Block]:
    """Yield the console blocks and the files of `page`, in their order."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for found in _FENCE.finditer(text):
        marker = _MARKER.search(text[: found.start()])
        how = {marker["how"]: marker["what"]} if marker else {}
        line = text.count("\n", 0, found.start()) + 2
        if "file" in how:
            yield Block(name, line, file=how["file"], content=found["body"])
        elif found["language"] == "console":
            commands, shown = _commands(found["body"])
            yield Block(name, line, commands, shown, needs=how.get("needs", ""), not_run=how.get("not run", ""))


def languages(text: str) -> list[str]:
    """Return the language of each block of a page's text."""
    return [found["language"] for found in _FENCE.finditer(text)]


def _commands(body: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    commands: list[str] = []
    shown: list[list[str]] = []
    for line in (each.strip() for each in body.splitlines()):
        if line.startswith("$ "):
            commands.append(line[2:])
            shown.append([])
        elif commands and line.startswith("> ") and not shown[-1]:
            commands[-1] += f"\n{line[2:]}"
        elif commands and line:
            shown[-1].append(line)
    return tuple(commands), tuple(map(tuple, shown))


def links(text: str) -> list[str]:
    """Return the links of a page's text, code left out."""
    return _LINK.findall(_FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    return {_anchor(title) for title in _HEADING.findall(_FENCE.sub("", text))}


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
