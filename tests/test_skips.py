"""A skip without a reason fails `make test-full`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REPORT = """<testsuites><testsuite name="x">
<testcase classname="network.test_nics" name="test_a[1]"><skipped type="pytest.skip" message="no NICs here"/></testcase>
<testcase classname="queue.test_b" name="test_b"/>
</testsuite></testsuites>"""
FILE = Path(__file__).resolve().parent / "skips.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("skips", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.xml"
    file.write_text(REPORT)
    return file


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ("- {test: 'network.*', says: no NICs, why: x}\n", 0),
        ("- {test: 'network.*', says: other, why: x}\n", 1),
        ("- {test: 'queue.*', says: no NICs, why: x}\n", 1),
        ("[]\n", 1),
    ],
)
def test_a_skip_needs_an_entry_of_its_test_and_what_it_says(
    tool: ModuleType, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: str, code: int
) -> None:
    (tmp_path / "allowed.yaml").write_text(entries)
    monkeypatch.setattr(tool, "ALLOWED", tmp_path / "allowed.yaml")
    assert tool.main([str(report)]) == code


@pytest.mark.parametrize("entry", ["- {test: 'x', says: y}\n", "- {test: x, says: y, why: ' '}\n"])
def test_an_entry_without_a_reason_is_refused(tool: ModuleType, tmp_path: Path, entry: str) -> None:
    (tmp_path / "allowed.yaml").write_text(entry)
    with pytest.raises(SystemExit, match="must have"):
        tool.allowed_in(tmp_path / "allowed.yaml")


def test_a_report_that_is_not_there_is_no_success(tool: ModuleType, tmp_path: Path) -> None:
    assert tool.main([str(tmp_path / "none.xml")]) == 1
    assert tool.main([]) == 1


def test_the_list_of_this_repository_has_its_reasons(tool: ModuleType) -> None:
    assert tool.allowed_in(tool.ALLOWED)
