"""A summary of each target's objects (kinds, names, images), kept beside the test so that a review sees what changed.

What a target offers beside its profiles has a summary of its own. `make golden` writes them anew, but for those whose
upstream's files cannot be had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import manifest_rules as rules
import pytest

from modelyard.catalog import load
from modelyard.objects import Object, ref_of
from modelyard.paths import data_root

FOLDER = Path(__file__).parent / "golden"
TARGETS = sorted(load(data_root()).targets)
OFFERED = [(target, name) for target in TARGETS for name in load(data_root()).offered(target)]


def summary(rendered: Mapping[str, list[Object]]) -> str:
    """Return one line an object and an image, by component."""
    lines: list[str] = []
    for name in sorted(rendered):
        lines += [f"# {name}", *sorted(str(ref_of(obj)) for obj in rendered[name])]
        lines += [f"image {image}" for image in sorted(rules.images(rendered[name]))]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("target", TARGETS)
def test_the_summary_is_the_one_that_was_reviewed(
    target: str, render: Callable[[str], Mapping[str, list[Object]]]
) -> None:
    _compare(FOLDER / f"{target}.txt", summary(render(target)))


@pytest.mark.parametrize(("target", "name"), OFFERED)
def test_the_summary_of_what_is_offered_is_the_one_that_was_reviewed(
    target: str, name: str, offered: Callable[[str, str], list[Object]]
) -> None:
    _compare(_summary_of(target, name), summary({name: offered(target, name)}))


def _compare(file: Path, found: str) -> None:
    if os.environ.get("MODELYARD_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.is_file() else ""
    assert found.splitlines() == kept.splitlines(), f"look at what changed; if it is meant: make golden ({file.name})"


def test_there_is_no_summary_of_a_target_that_is_gone() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.txt")) == TARGETS
    assert sorted((FOLDER / "offered").glob("*")) == sorted(_summary_of(*pair) for pair in OFFERED)


def _summary_of(target: str, offered: str) -> Path:
    return FOLDER / "offered" / f"{target}-{offered}.txt"


def test_the_summary_tells_every_change_of_a_name_or_an_image() -> None:
    def pod(name: str, image: str) -> Mapping[str, list[Object]]:
        spec = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
        return {"x": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}]}

    assert len({summary(pod("a", "r.io/a:v1")), summary(pod("b", "r.io/a:v1")), summary(pod("a", "r.io/a:v2"))}) == 3
