"""What runs side by side and fails together: the one that says why is told."""

from __future__ import annotations

import pytest

from modelyard.apply.in_order import in_order
from modelyard.apply.run import Run, stopped
from modelyard.cluster import connect
from modelyard.errors import ClusterUnreachableError, ModelyardError, RequestStoppedError
from modelyard.events import discard
from modelyard.local import ClusterInfo

FAILURES = {
    "a": stopped(),
    "b": RequestStoppedError("cluster x", "the request was stopped"),
    "c": ClusterUnreachableError("cluster x", "does not answer"),
}


@pytest.fixture
def run(cluster: ClusterInfo) -> Run:
    return Run(connect(cluster.kubeconfig), discard, timeout=1.0)


@pytest.mark.parametrize("names", ["abc", "cab", "bc", "ac"])
def test_what_was_stopped_does_not_hide_what_stopped_it(run: Run, names: str) -> None:
    def fail(name: str) -> None:
        raise FAILURES[name]

    with pytest.raises(ModelyardError, match="does not answer"):
        in_order(run, dict.fromkeys(names, ()), fail)


def test_only_the_first_stops_a_run(run: Run) -> None:
    assert run.stop()
    assert not run.stop()
    assert run.cancelled.is_set()
    assert run.session.transport.cancelled.is_set()
