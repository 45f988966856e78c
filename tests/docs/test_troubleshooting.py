"""Every message in docs/troubleshooting.md is one that the code can give."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from docs_pages import ROOT

PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^### `(.+)`$", PAGE, re.M)


@cache
def _texts() -> tuple[str, ...]:
    """Return every literal text in the package; in an f-string, a value is a line break."""
    found: list[str] = []
    for path in sorted((ROOT / "installer/modelyard").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append("\n".join(_literal(part) for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return tuple(found)


def _literal(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else ""


@pytest.mark.parametrize("message", MESSAGES)
def test_message_is_one_that_the_code_gives(message: str) -> None:
    pattern = re.compile(".*".join(re.escape(piece.strip()) for piece in message.split("…")), re.S)
    assert any(pattern.search(text) for text in _texts()), f"no text in installer/modelyard is like {message!r}"


def test_there_are_messages() -> None:
    assert MESSAGES
