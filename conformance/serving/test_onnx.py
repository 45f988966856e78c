"""A model that was trained here, exported to ONNX and served by KServe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.support import serving, training
from conformance.support.kinds import POD
from conformance.support.pods import container, pod_spec
from conformance.support.queues import Queue, Queues
from conformance.support.removal import Removal
from conformance.support.training import Event, named
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session
from modelyard.objects import Object, dig, mappings, number, text

pytestmark = pytest.mark.proves("kserve")

NAME = "regression"
TOLERANCE = 1e-4
PATIENCE_SECONDS = 240


@pytest.fixture(scope="module")
def workspace(session: Session, removal: Removal) -> Iterator[Workspace]:
    """One namespace for this file: what the first test trains, the second goes on from."""
    workspace = open_workspace(session, area="serving")
    yield workspace
    removal.remove(workspace.ref)


@pytest.fixture(scope="module")
def queue(workspace: Workspace, removal: Removal) -> Iterator[Queue]:
    """A queue with room for the training and two servers."""
    queues = Queues(workspace)
    yield queues.queue(cpu="1")
    queues.remove(removal)


@pytest.fixture(scope="module")
def exported(workspace: Workspace, removal: Removal, queue: Queue) -> Iterator[Event]:
    """Train and export a first version; give the exporter's own answers, and keep the volume."""
    volumes = Volumes(workspace)
    volumes.claim(training.NAME)
    training.start(workspace, queue.labels, STEPS="10", MODEL="v1")
    yield _export(workspace)
    volumes.remove(removal)


@pytest.fixture(scope="module")
def served(workspace: Workspace, queue: Queue, exported: Event) -> Event:
    """Serve the first version."""
    workspace.apply(serving.service(NAME, queue.labels, f"pvc://{training.NAME}/v1"))
    serving.wait_until_ready(workspace, NAME)
    return exported


def test_both_protocols_answer_with_the_exporters_values(workspace: Workspace, served: Event) -> None:
    """Seen to fail with answers that differ from the model's by 0.001, and with KServe's manager scaled to 0."""
    inputs, expected = _table(served, "inputs"), _flat(_table(served, "outputs"))

    v1 = serving.ask(workspace, NAME, f"v1/models/{NAME}:predict", {"instances": inputs})
    assert _flat(dig(v1, "predictions")) == pytest.approx(expected, abs=TOLERANCE)

    # One row alone: the export must not have fixed the batch size. No id: the protocol lets it be left out.
    for rows in (inputs, inputs[:1]):
        tensor = {"name": "x", "shape": [len(rows), len(rows[0])], "datatype": "FP32", "data": _flat(rows)}
        v2 = serving.ask(workspace, NAME, f"v2/models/{NAME}/infer", {"inputs": [tensor]})
        [output] = mappings(v2, "outputs")
        assert output["shape"] == [len(rows), 1]
        assert _flat(output["data"]) == pytest.approx(expected[: len(rows)], abs=TOLERANCE)
        assert text(v2, "id")


def test_a_new_version_rolls_out_without_a_failed_request(workspace: Workspace, queue: Queue, served: Event) -> None:
    """A client in the cluster asks all the while, over a new connection each time.

    Seen to fail with the runtime's preStop removed: requests reach a server that has gone.
    """
    training.restart(workspace, queue.labels, STEPS="20", MODEL="v2")
    second = _export(workspace)
    assert number({"n": _start(workspace)["from_step"]}, "n") == 10, "the second version is not trained from the first"
    _start_client(workspace, served, second)
    wait_for("the first version answers", lambda: "READY" in workspace.logs("client"))

    workspace.apply(serving.service(NAME, queue.labels, f"pvc://{training.NAME}/v2"))

    wait_for("the client ends", lambda: workspace.get(POD, "client"), _ended, seconds=PATIENCE_SECONDS + 60)
    log = workspace.logs("client")
    report = json.loads(next(line for line in log.splitlines() if line.startswith("RESULT ")).removeprefix("RESULT "))
    assert report["failures"] == []
    assert report["answers"]["first"] > 0
    assert report["answers"]["second"] >= 200, report


def _export(workspace: Workspace) -> Event:
    training.finished(workspace)
    [found] = named(training.events(workspace, 0), "exported")
    return found


def _start(workspace: Workspace) -> Event:
    [found] = named(training.events(workspace, 0), "start")
    return found


def _start_client(workspace: Workspace, first: Event, second: Event) -> None:
    program = Path(__file__).with_name("client.py").read_text()
    row = _table(first, "inputs")[0]
    assert row == _table(second, "inputs")[0]
    answers = [str(_flat(_table(version, "outputs"))[0]) for version in (first, second)]
    assert abs(float(answers[0]) - float(answers[1])) > 10 * TOLERANCE, "the versions cannot be told apart"
    url = f"http://{NAME}-predictor.{workspace.name}.svc/v1/models/{NAME}:predict"
    arguments = [url, json.dumps({"instances": [row]}), *answers, str(PATIENCE_SECONDS)]
    workspace.create(_client(["python3", "-c", program, *arguments]))


def _client(command: list[str]) -> Object:
    spec = pod_spec(container(command))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "client"}, "spec": spec}


def _ended(pod: Object) -> bool:
    return text(pod, "status", "phase") in ("Succeeded", "Failed")


def _table(event: Event, field: str) -> list[list[float]]:
    found = event[field]
    assert isinstance(found, list)
    return found


def _flat(values: object) -> list[float]:
    if isinstance(values, list):
        return [number for value in values for number in _flat(value)]
    assert isinstance(values, int | float), values
    return [float(values)]
