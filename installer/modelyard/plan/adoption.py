"""What lives already and is somebody else's: refused in one table, or adopted where that was asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from modelyard.errors import CatalogError, RefusalError
from modelyard.objects import Object, ObjectRef, mapping, mappings, ref_of, text
from modelyard.plan.differences import differences, summary
from modelyard.plan.owners import OWN_MANAGER, bringers

_HEAD = ("OBJECT", "OWNER", "WOULD CHANGE")


@dataclass(frozen=True, slots=True)
class Stranger:
    """An object that would be installed, and lives already as somebody else's.

    Args:
        component: who would have it.
        owner: whose it is, for people.
        desired: as it would be applied.
        live: as it is.
    """

    component: str
    owner: str
    desired: Object
    live: Object

    @property
    def ref(self) -> ObjectRef:
        """Return which object it is."""
        return ref_of(self.desired)


@dataclass(frozen=True, slots=True)
class Adoption:
    """What `--adopt` names.

    Args:
        named: components, and objects as KIND/NAME or KIND/NAMESPACE/NAME.
    """

    named: tuple[str, ...] = ()

    def covers(self, component: str, ref: ObjectRef) -> bool:
        """Tell whether `ref` of `component` may be taken over."""
        return component in self.named or shown(ref).lower() in {each.lower() for each in self.named}

    def check(self, desired: Mapping[str, Sequence[Object]]) -> None:
        """Check that each name is one of what is to be installed.

        Args:
            desired: the objects by component.

        Raises:
            CatalogError: one is not.
        """
        objects = {shown(ref_of(obj)).lower() for each in desired.values() for obj in each}
        for name in self.named:
            if name not in desired and name.lower() not in objects:
                raise CatalogError(
                    f"--adopt {name}",
                    "names nothing that is to be installed",
                    "name one of the components, or an object as the table has it: KIND/NAMESPACE/NAME, or KIND/NAME "
                    "where it has no namespace",
                )


def shown(ref: ObjectRef) -> str:
    """Return `ref` as `--adopt` takes it."""
    return "/".join(part for part in (ref.kind, ref.namespace, ref.name) if part)


def refusal(cluster: str, strangers: Sequence[Stranger], so_far: str) -> RefusalError:
    """Return the error that lists all of `strangers`.

    Args:
        cluster: where.
        strangers: at least one.
        so_far: what has been written already.
    """
    components = sorted({each.component for each in strangers})
    without = " ".join(f"--without {name}" for name in components)
    adopt = " ".join(f"--adopt {name}" for name in components)
    one = shown(min(strangers, key=_order).ref)
    return RefusalError(
        f"cluster {cluster}",
        f"somebody else has {len(strangers)} of the objects that would be installed; {so_far}\n" + table(strangers),
        f"leave out what is there already: {without}; or take over what its owner has let go of: {adopt}, or single "
        f"objects: --adopt {one}; what is adopted is changed as the table says, and is deleted when its component is "
        "uninstalled",
    )


def table(strangers: Iterable[Stranger]) -> str:
    """Return one line an object: which, whose, and what would change; below the component that would have it."""
    rows: list[tuple[str, str, str]] = []
    titles: dict[int, str] = {}
    for each in sorted(strangers, key=_order):
        if each.component not in titles.values():
            titles[len(rows)] = each.component
        rows.append((shown(each.ref), each.owner, summary(differences(each.desired, each.live))))
    widths = [max(len(row[column]) for row in [_HEAD, *rows]) for column in range(2)]
    lines = [_line(_HEAD, widths)]
    for number, row in enumerate(rows):
        if number in titles:
            lines.append(f"  {titles[number]}:")
        lines.append(_line(row, widths))
    return "\n".join(lines)


def handed_over(live: Object, api_version: str) -> list[Object] | None:
    """Return the managedFields of `live` once its owner's fields are ours; None where there is nothing to hand over.

    An apply takes away only fields that the same manager applied before. Without this, what the former owner had and
    we do not (a container of another name, an argument) would stay.
    Source: k8s.io/client-go/util/csaupgrade, which does it for kubectl's own move to server-side apply.

    Args:
        live: the object.
        api_version: the version that it will be applied in.
    """
    brought, entries = bringers(live), mappings(live, "metadata", "managedFields")
    mine = [each for each in entries if text(each, "manager") in brought and not text(each, "subresource")]
    if not mine:
        return None
    versions = [text(each, "apiVersion") for each in mine]
    version = api_version if api_version in versions else versions[0]
    fields: Object = {}
    for each in mine:
        if text(each, "apiVersion") == version:
            fields = _union(fields, mapping(each, "fieldsV1"))
    own = {
        "manager": OWN_MANAGER,
        "operation": "Apply",
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": _ours_to_take_away(fields),
    }
    return [*(each for each in entries if each not in mine), own]


def _ours_to_take_away(fields: Object) -> Object:
    """Return `fields` without those whose loss would break more than the object: its status, its finalizers."""
    metadata = {key: value for key, value in mapping(fields, "f:metadata").items() if key != "f:finalizers"}
    rest = {key: value for key, value in fields.items() if key not in ("f:status", "f:metadata")}
    return {**rest, "f:metadata": metadata} if metadata else rest


def _union(one: Object, other: Object) -> Object:
    both = dict(one)
    for key, value in other.items():
        known = both.get(key)
        both[key] = _union(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return both


def _order(stranger: Stranger) -> tuple[str, ObjectRef]:
    return stranger.component, stranger.ref


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "    " + "  ".join(part.ljust(width) for part, width in zip(row, [*widths, 0], strict=True)).rstrip()
