"""The fields that the plan takes for quantities are those that a real apiserver documents as quantities."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from modelyard.cluster import Session
from modelyard.objects import GroupKind
from modelyard.plan import kinds
from modelyard.plan.quantities import BUILT_IN, ITEM, Path

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def documented(session: Session) -> dict[GroupKind, set[Path]]:
    """Return the fields of Kubernetes' own kinds that are quantities, statuses left out."""
    found: dict[GroupKind, set[Path]] = {}
    own = [each for each in session.discovery.all() if not kinds.is_custom(each.kind) and "create" in each.verbs]
    for group, version in sorted({(each.kind.group, each.version) for each in own}):
        schemas = schemas_of(session, f"apis/{group}/{version}" if group else f"api/{version}")
        for schema in schemas.values():
            for gvk in schema.get("x-kubernetes-group-version-kind", []):
                kind = GroupKind(gvk["group"], gvk["kind"])
                if gvk["version"] == version and any(each.kind == kind for each in own):
                    found[kind] = set(quantities(schema, schemas, ()))
    return {kind: paths for kind, paths in found.items() if paths}


def schemas_of(session: Session, group_version: str) -> dict[str, Any]:
    answer = session.transport.send("GET", f"/openapi/v3/{group_version}")
    assert answer.code == 200, answer.body[:300]
    schemas: dict[str, Any] = json.loads(answer.body)["components"]["schemas"]
    return schemas


def quantities(
    schema: dict[str, Any], schemas: dict[str, Any], path: Path, inside: tuple[str, ...] = ()
) -> Iterator[Path]:
    for ref in [schema.get("$ref", ""), *(each.get("$ref", "") for each in schema.get("allOf", []))]:
        name = ref.rpartition("/")[2]
        if name == QUANTITY:
            yield path
        elif name and name not in inside:
            yield from quantities(schemas[name], schemas, path, (*inside, name))
    for key, value in schema.get("properties", {}).items():
        if key != "status":
            yield from quantities(value, schemas, (*path, key), inside)
    for below in ("items", "additionalProperties"):
        if isinstance(schema.get(below), dict):
            yield from quantities(schema[below], schemas, (*path, ITEM), inside)


def test_quantities_are_where_the_apiserver_says(session: Session) -> None:
    found = documented(session)
    assert {kind: paths ^ BUILT_IN.get(kind, set()) for kind, paths in found.items()} == {kind: set() for kind in found}
    assert found.keys() == BUILT_IN.keys()
