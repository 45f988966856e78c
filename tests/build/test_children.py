"""Programs that are run for a build: each has a deadline, and says that it was that."""

from __future__ import annotations

import pytest

from modelyard.errors import LocalClusterError
from modelyard.local.build.processes import Children
from modelyard.local.node import enter


@pytest.mark.parametrize("follow", [False, True])
def test_program_that_takes_too_long_is_ended_and_says_so(follow: bool) -> None:
    told: list[str] = []
    done = Children().run(["sleep", "60"], seconds=0.1, tell=told.append if follow else None)
    assert done.returncode == -9
    assert done.stderr == "sleep was ended: it took more than 0.1 s\n"


def test_what_it_said_before_stays_the_first_lines() -> None:
    done = Children().run(["bash", "-c", "echo why >&2; exec sleep 60"], seconds=0.5)
    assert done.stderr.splitlines()[0] == "why"
    assert "took more than" in done.stderr.splitlines()[-1]


def test_program_in_time_says_nothing_of_it() -> None:
    done = Children().run(["bash", "-c", "echo why >&2; exit 3"], seconds=60)
    assert (done.returncode, done.stderr) == (3, "why\n")


def test_command_inside_a_cluster_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enter, "enter_prefix", lambda name, node: ["env"])  # this machine stands for the node
    with pytest.raises(LocalClusterError, match=r"sleep on node-1 of cluster dev: it did not end in 0.1 s"):
        enter.exec_in("dev", "node-1", ["sleep", "60"], seconds=0.1)
