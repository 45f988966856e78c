"""What was chosen for a cluster, kept in the cluster: the next install holds to it, whoever runs it. Pure.

A ConfigMap beside the inventories, and no inventory itself: it carries no ApplySet label.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from modelyard.catalog.choice import Choice
from modelyard.objects import Object, ObjectRef, annotations_of, strings
from modelyard.plan.inventory import CLUSTER, NAMESPACE

REF = ObjectRef("", "ConfigMap", NAMESPACE, "choice")


def choice_object(choice: Choice, *, cluster: str) -> dict[str, object]:
    """Return the ConfigMap that keeps `choice` in the cluster of that id."""
    return {
        "apiVersion": "v1",
        "kind": REF.kind,
        "metadata": {"name": REF.name, "namespace": REF.namespace, "annotations": {CLUSTER: cluster}},
        "data": {"choice": json.dumps(asdict(choice), sort_keys=True)},
    }


def read_choice(kept: Object, *, cluster: str) -> Choice:
    """Return the choice that a ConfigMap keeps.

    Args:
        kept: the ConfigMap as found.
        cluster: this cluster's id.

    Raises:
        ValueError: it was written in another cluster, or is damaged; the text says which.
    """
    there = annotations_of(kept).get(CLUSTER)
    if there != cluster:
        raise ValueError(f"it was written in another cluster ({there or 'none named'}, this is {cluster})")
    try:
        raw = json.loads(strings(kept, "data")["choice"])
        return Choice(
            profile=_text(raw["profile"]),
            added=tuple(_text(name) for name in raw["added"]),
            left_out=tuple(_text(name) for name in raw["left_out"]),
            overlay=_text(raw["overlay"]),
            mirror=_text(raw.get("mirror", "")),  # what was chosen before it was kept has none
            target=_text(raw.get("target", "")),
            values=tuple(sorted((_text(key), _text(value)) for key, value in raw.get("values", ()))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"it is damaged ({error!r})") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
