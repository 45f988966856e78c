"""docs/explanation/dependencies.md gives a reason for everything that is depended on."""

from __future__ import annotations

import re
import tomllib

import pytest
from docs_pages import ROOT

from modelyard.local.build.debian import HOST_PACKAGES, RUNTIME_PACKAGES

PAGE = (ROOT / "docs/explanation/dependencies.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(path.parent.name for path in (ROOT / "installer/modelyard/local/modules").glob("*/go.mod"))


def _named_in_a_table(name: str) -> bool:
    return re.search(rf"^\|.*(?<![\w-]){re.escape(name)}(?![\w-]).*\|$", PAGE, re.M) is not None


@pytest.mark.parametrize(
    "requirement", [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]], ids=str
)
def test_python_package_has_its_reason(requirement: str) -> None:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    assert _named_in_a_table(name[0])


@pytest.mark.parametrize("package", [*HOST_PACKAGES, *RUNTIME_PACKAGES])
def test_debian_package_has_its_reason(package: str) -> None:
    assert _named_in_a_table(package)


@pytest.mark.parametrize("module", MODULES)
def test_go_module_group_has_its_reason(module: str) -> None:
    assert _named_in_a_table(f"`{module}`")


def test_every_tool_of_the_shared_module_comes_from_a_module_that_has_its_reason() -> None:
    text = (ROOT / "installer/modelyard/local/modules/shared/go.mod").read_text(encoding="utf-8")
    tools = re.search(r"^tool \((.*?)^\)", text, re.M | re.S)
    assert tools is not None
    listed = re.findall(r"[\w.-]+\.[a-z]+(?:/[\w.-]+)+", PAGE)
    for tool in tools[1].split():
        assert any(tool == module or tool.startswith(f"{module}/") for module in listed), tool
