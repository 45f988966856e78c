"""Questions to a Prometheus behind the apiserver's proxy: the platform's, or one of a test's own."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from modelyard.cluster import Session
from modelyard.objects import Object, ObjectRef, mapping, mappings, sequence, text

NAMESPACE = "modelyard-monitoring"
STATEFUL_SET = ObjectRef("apps", "StatefulSet", NAMESPACE, "prometheus")
PLATFORM = f"/api/v1/namespaces/{NAMESPACE}/services/prometheus:9090/proxy"
URL = f"http://prometheus.{NAMESPACE}.svc:9090"


@dataclass(frozen=True, slots=True)
class Sample:
    """One series at one time."""

    labels: Mapping[str, str]
    value: float


class Prometheus:
    """One server.

    Args:
        session: the cluster.
        proxy: the apiserver's path to it.
    """

    def __init__(self, session: Session, proxy: str = PLATFORM) -> None:
        self._session = session
        self._proxy = proxy

    def query(self, expression: str) -> list[Sample]:
        """Return the samples of an expression now, without those that are no number."""
        found = mappings(self._get("query", query=expression), "data", "result")
        samples = [Sample(_strings(each, "metric"), float(str(sequence(each, "value")[1]))) for each in found]
        return [sample for sample in samples if not math.isnan(sample.value)]

    def firing(self) -> list[Mapping[str, str]]:
        """Return the labels of the alerts that fire."""
        return [_strings(each, "labels") for each in self.alerts() if text(each, "state") == "firing"]

    def alerts(self) -> list[Object]:
        """Return the alerts that are pending or firing."""
        return mappings(self._get("alerts"), "data", "alerts")

    def rules(self) -> list[Object]:
        """Return all rules, with their health."""
        groups = mappings(self._get("rules"), "data", "groups")
        return [rule for group in groups for rule in mappings(group, "rules")]

    def targets(self) -> list[Object]:
        """Return the targets that it scrapes, with their health."""
        return mappings(self._get("targets", state="active"), "data", "activeTargets")

    def metrics(self) -> set[str]:
        """Return the names of all metrics that it has."""
        return set(map(str, sequence(self._get("label/__name__/values"), "data")))

    def metrics_of(self, expression: str) -> set[str]:
        """Return the names of the metrics that an expression asks for, as Prometheus itself parses it."""
        return set(_selected(mapping(self._get("parse_query", query=expression), "data")))

    def _get(self, what: str, **query: str) -> Object:
        answer = self._session.transport.send("GET", f"{self._proxy}/api/v1/{what}", query=query)
        if answer.code != 200:
            return {"error": answer.body.decode(errors="replace")}
        found: Object = json.loads(answer.body)
        return found


def _selected(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("type") in ("vectorSelector", "matrixSelector") and text(node, "name"):
            yield text(node, "name")
        for inner in node.values():
            yield from _selected(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _selected(inner)


def _strings(obj: Object, field: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in mapping(obj, field).items()}
