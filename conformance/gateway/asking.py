"""The client program in a pod, and what it has seen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from conformance.gateway.routes import entrance, host_of
from conformance.support import adders
from conformance.support.pods import container, pod_spec
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace

PORT = 8000
POD = "client"
SAMPLE = 1000


@dataclass(frozen=True, slots=True)
class Report:
    """What the client has seen so far.

    Args:
        answered: right answers.
        failures: the first failures, of `failed` in all.
        failed: requests without a right answer.
        routes: answers among the first 1,000 of each route: route -> "plain" or "marked" -> version -> number.
    """

    answered: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()
    routes: dict[str, dict[str, dict[str, int]]] | None = None

    def of(self, route: str) -> dict[str, dict[str, int]]:
        """Return the counts of a route."""
        return (self.routes or {}).get(route, {"plain": {}, "marked": {}})

    def measured(self, route: str) -> int:
        """Return how many answers of a route are counted."""
        return sum(number for each in self.of(route).values() for number in each.values())


def start(workspace: Workspace, model: str, *, rate: float) -> None:
    """Start the client and wait for its first answer.

    Args:
        workspace: where; it has a route of that model's name.
        model: the model's name.
        rate: requests a second.
    """
    settings = {
        "url": f"http://{entrance(workspace.session)}/v1/models/{model}:predict",
        "host": host_of(workspace, model),
        "body": {"instances": [[adders.ASKED]]},
        "versions": {str(answer): version for version, answer in adders.ANSWERS.items()},
        "sample": SAMPLE,
        "rate": rate,
    }
    program = Path(__file__).with_name("client.py").read_text()
    runs = container(["python3", "-c", program, json.dumps(settings)], image=adders.server_image(), cpu="100m")
    workspace.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD}, "spec": pod_spec(runs)})
    wait_for("the client has its first answer", lambda: report(workspace).answered)


def report(workspace: Workspace, path: str = "report") -> Report:
    """Return what the client has seen; nothing while it is not there yet."""
    code, body = workspace.ask(POD, PORT, path)
    if code != 200:
        return Report()
    return Report(**{**json.loads(body), "failures": tuple(json.loads(body)["failures"])})


def change_rate(workspace: Workspace, rate: float) -> None:
    """Let the client ask as often as that a second."""
    assert report(workspace, f"rate/{rate}").answered, "the client does not answer"
