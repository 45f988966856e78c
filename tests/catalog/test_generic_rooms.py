"""Generic rooms know no component by name: what is to be known of one is said in its component.yaml."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import modelyard
from modelyard.catalog import load
from modelyard.paths import data_root

PACKAGE = Path(modelyard.__file__).parent
ROOMS = (
    "apply",
    "catalog",
    "cluster",
    "images",
    "lock",
    "plan",
    "platform",
    "readiness",
    "render",
    "scaffold",
    "sources",
)
# What is another's convention on any cluster, whoever installed it.
KNOWN = {
    ("plan/hooks.py", "cert-manager"): "annotations by which its injector is told to fill a caBundle in",
    ("plan/quota_left.py", "kwok"): "the label of simulated nodes",
    **{
        ("platform/embedded/supply.py", name): "what the smoke job, which is modelyard's own, runs through"
        for name in ("tenancy", "kueue", "kuberay")
    },
    ("readiness/replicas.py", "keda"): "the user agent of an autoscaler",
}


def texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def named(room: str) -> set[tuple[str, str]]:
    components = sorted(load(data_root()).components)
    words = {name: re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])") for name in components}
    return {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in (PACKAGE / room).rglob("*.py")
        for text in texts(path)
        for name, word in words.items()
        if word.search(text)
    }


def test_no_generic_room_names_a_component() -> None:
    found = {each for room in ROOMS for each in named(room)}
    assert found == set(KNOWN)
