"""The host's own packages: what is missing is installed, and only that. apt and dpkg are stood in for by scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelyard.errors import HostError
from modelyard.events import Event, StepDone, StepFailed
from modelyard.local.build.debian import HOST_PACKAGES, ensure_host_packages


class Machine:
    """A PATH with a dpkg-query that knows some packages, and an apt-get that notes its calls."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls = folder / "calls"

    def has(self, *packages: str) -> None:
        lines = "\n".join(f"{name} installed" for name in packages)
        self._program("dpkg-query", f"cat <<'END'\n{lines}\nEND\nexit 1")

    def refuses_until_updated(self) -> None:
        known = self._folder / "lists"
        self._program(
            "apt-get",
            f"""while [ "$1" = -o ]; do shift 2; done
echo "$@" >> {self._calls}
[ "$1" != update ] || touch {known}
[ -e {known} ] || {{ echo "E: Unable to locate package" >&2; exit 100; }}""",
        )

    def refuses(self) -> None:
        self._program("apt-get", "echo 'E: no space left' >&2; exit 100")

    def calls(self) -> list[str]:
        return self._calls.read_text().splitlines() if self._calls.exists() else []

    def _program(self, name: str, body: str) -> None:
        path = self._folder / name
        path.write_text(f"#!/usr/bin/bash\n{body}\n")
        path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return Machine(tmp_path)


def test_what_is_missing_is_installed_and_the_lists_are_fetched_where_they_are_old(machine: Machine) -> None:
    machine.has(*(name for name in HOST_PACKAGES if name not in ("conntrack", "socat")))
    machine.refuses_until_updated()
    events: list[Event] = []
    ensure_host_packages(events.append)
    install = "install --yes --quiet --no-install-recommends conntrack socat"
    assert machine.calls() == [install, "update --quiet", install]
    [done] = [event for event in events if isinstance(event, StepDone)]
    assert done.detail == "conntrack, socat"


def test_nothing_is_asked_of_apt_where_all_is_there(machine: Machine) -> None:
    machine.has(*HOST_PACKAGES)
    machine.refuses()
    events: list[Event] = []
    ensure_host_packages(events.append)
    assert events == []


def test_refusal_of_apt_is_told_with_its_reason(machine: Machine) -> None:
    machine.has()
    machine.refuses()
    events: list[Event] = []
    with pytest.raises(HostError, match=r"E: no space left\n  next: apt-get install conntrack") as error:
        ensure_host_packages(events.append)
    assert error.value.exit_code == 9
    assert any(isinstance(event, StepFailed) for event in events)


def test_without_root_nothing_is_tried(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has()
    machine.refuses()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    ensure_host_packages(pytest.fail)  # the checks of the machine say what it lacks
