"""renovate.json finds every pin of upstream.lock: Renovate itself is not run here, its expressions are.

Renovate compiles them with RE2, which has no lookaround and no backreferences, so none may be used.
"""

from __future__ import annotations

import json
import re
import shlex

import pytest

from modelyard.catalog import Catalog, load
from modelyard.cli.lock import lock
from modelyard.paths import data_root

CONFIG = json.loads((data_root() / "renovate.json").read_text(encoding="utf-8"))
TEXT = (data_root() / "upstream.lock").read_text(encoding="utf-8")
GIT_ONLY = """\
upstreams:
  first:
    git: https://github.com/a/first
    ref: v1.0.0
    tree:
      dir: config
      sha256: x
  second:
    git: https://github.com/a/second
    ref: v2.0.0
    commit: 0123456789012345678901234567890123456789
  third:
    git: https://github.com/a/third
    ref: v3.0.0
    module: a.dev/third
    version: v3.0.0
images: {}
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def matches(datasource: str, text: str) -> list[dict[str, str | None]]:
    return [
        found.groupdict()
        for manager in CONFIG["customManagers"]
        if manager["datasourceTemplate"] == datasource
        for pattern in manager["matchStrings"]
        for found in re.finditer(pattern.replace("(?<", "(?P<"), text)
    ]


def test_every_upstream_is_found_once(catalog: Catalog) -> None:
    found = {match["depName"]: (match["packageName"], match["currentValue"]) for match in matches("go", TEXT)}
    by_git = {match["depName"]: match["currentValue"] for match in matches("github-tags", TEXT)}
    upstreams = catalog.lock.upstreams
    assert found == {name: (up.module, up.version) for name, up in upstreams.items() if up.module}
    assert by_git == {name: up.ref for name, up in upstreams.items() if not up.module}
    commits = {match["depName"]: match["currentDigest"] for match in matches("go", TEXT)}
    assert commits == {name: up.commit for name, up in upstreams.items() if up.module}


def test_upstreams_had_by_git_only_are_found(catalog: Catalog) -> None:
    assert [
        (match["depName"], match["packageName"], match["currentValue"]) for match in matches("github-tags", GIT_ONLY)
    ] == [
        ("first", "a/first", "v1.0.0"),
        ("second", "a/second", "v2.0.0"),
    ]
    assert [match["depName"] for match in matches("go", GIT_ONLY)] == ["third"]


def test_every_image_is_found_once(catalog: Catalog) -> None:
    found = [(match["depName"], match["currentValue"], match["currentDigest"]) for match in matches("docker", TEXT)]
    pins = catalog.lock.images
    assert found == [
        (name, pin.tag, catalog.pins[name][1] if name in catalog.pins else None) for name, pin in pins.items()
    ]


def test_digest_of_an_image_is_found() -> None:
    sha = "sha256:" + "a" * 64
    [match] = matches("docker", f"images:\n  quay.io/x/a: {{tag: v1, digest: {sha}}}\n")
    assert match["currentDigest"] == sha


def test_expressions_keep_to_re2() -> None:
    for manager in CONFIG["customManagers"]:
        assert manager["managerFilePatterns"] == ["/^upstream\\.lock$/"]
        for pattern in manager["matchStrings"]:
            assert not re.search(r"\(\?(?:[=!>]|<[=!])|\\[1-9]|\(\?P=", pattern)


def test_command_after_an_update_is_one_that_modelyard_has() -> None:
    [tasks] = [rule["postUpgradeTasks"] for rule in CONFIG["packageRules"] if "postUpgradeTasks" in rule]
    [command] = [each for each in tasks["commands"] if each.startswith("modelyard ")]
    words = shlex.split(command.replace("{{{depName}}}", "jobset").replace("{{{newValue}}}", "v1"))
    assert words[:2] == ["modelyard", "lock"]
    context = lock.make_context("lock", words[2:])
    assert (context.params["update"], context.params["upstream"], context.params["to"]) == (True, "jobset", "v1")
