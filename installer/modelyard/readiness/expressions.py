"""CEL expressions on objects, as Flux evaluates healthCheckExprs.

Source of the order: Flux's Kustomization API, `.spec.healthCheckExprs`: inProgress, then failed, then
current; with none of them true the object is in progress. The object's own fields are the variables.
celpy is imported on first use: most objects need none of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

from modelyard.errors import CatalogError
from modelyard.objects import GroupKind, Object
from modelyard.paths import cache_dir
from modelyard.readiness.status import CURRENT, Readiness, failed, in_progress

if TYPE_CHECKING:
    from celpy import Runner


@dataclass(frozen=True, slots=True)
class Expressions:
    """The three expressions of one kind; an absent one is never true."""

    current: str
    in_progress: str | None = None
    failed: str | None = None


Json = dict[str, object] | list[object] | bool | float | int | str | None
Rules = Mapping[GroupKind, Expressions]


def rules_from(entries: Iterable[Mapping[str, object]]) -> dict[GroupKind, Expressions]:
    """Return rules by kind from `healthCheckExprs` entries as component.yaml has them."""
    found = {}
    for entry in entries:
        group, _, _ = str(entry["apiVersion"]).rpartition("/")
        found[GroupKind(group, str(entry["kind"]))] = Expressions(
            current=str(entry["current"]),
            in_progress=_optional(entry.get("inProgress")),
            failed=_optional(entry.get("failed")),
        )
    return found


def evaluate(obj: Object, expressions: Expressions) -> Readiness:
    """Judge `obj` by its kind's expressions; one that cannot be evaluated yet counts as not true."""
    if expressions.in_progress and _true(expressions.in_progress, obj):
        return in_progress(f"matches inProgress: {expressions.in_progress}")
    if expressions.failed and _true(expressions.failed, obj):
        return failed(f"matches failed: {expressions.failed}")
    if _true(expressions.current, obj):
        return CURRENT
    return in_progress(f"not yet: {expressions.current}")


def _true(source: str, obj: Object) -> bool:
    from celpy.adapter import json_to_cel
    from celpy.evaluation import CELEvalError

    variables = {"metadata": {}, "spec": {}, "status": {}} | dict(obj)
    activation = {name: json_to_cel(cast("Json", value)) for name, value in variables.items()}
    try:
        return bool(_program(source).evaluate(activation))
    except CELEvalError:  # a field that is not there yet
        return False


@lru_cache(maxsize=256)
def _program(source: str) -> Runner:
    from celpy import Environment
    from celpy.celparser import CELParseError

    _keep_parser()
    environment = Environment()
    try:
        return environment.program(environment.compile(source))
    except CELParseError as error:
        raise CatalogError("healthCheckExprs", f"is no CEL: {source!r}: {error}", "edit component.yaml") from error


def _keep_parser() -> None:
    """Let celpy's parser come from a file: making it of its grammar takes a third of a second, in every command.

    Lark, which makes it, compares a digest of the grammar and of its own version, makes it anew where the file is
    another's or cannot be read, and goes on without one where it cannot be written.
    """
    from celpy import celparser
    from lark import Lark

    folder = cache_dir()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    # celpy has no setting for it.
    celparser.Lark = partial(Lark, cache=str(folder / "cel-parser"))  # type: ignore[attr-defined, assignment]


def _optional(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
