"""One upstream moved to another version: which texts change, and how. Pure but for reading the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from modelyard.catalog import Catalog, Component, Upstream
from modelyard.catalog.models import UNRESOLVED
from modelyard.catalog.names import unknown
from modelyard.errors import CatalogError, SourceError
from modelyard.images import parse
from modelyard.lock.edit import Path as Field
from modelyard.lock.edit import Scalar, drop, put, replace, scalars
from modelyard.lock.uses import chart_uses, remote_uses, uses_of
from modelyard.render.closure import NAMES
from modelyard.render.kustomization import CHARTS
from modelyard.render.remote import resolve

LOCK = "upstream.lock"
Change = Callable[[Scalar], str | None]


@dataclass(frozen=True, slots=True)
class Move:
    """An upstream's step from one version to another.

    Args:
        name: its name in upstream.lock.
        old: its entry.
        new: its entry afterwards.
        tags: new tags of the images that carry its version, by full name.
    """

    name: str
    old: Upstream
    new: Upstream
    tags: Mapping[str, str]


def upstream_named(catalog: Catalog, name: str) -> str:
    """Return the upstream that `name` means: itself, or that of the component of this name."""
    if name in catalog.lock.upstreams:
        return name
    component = catalog.components.get(name)
    if component is not None and component.upstream is not None:
        return component.upstream
    raise unknown("upstream", name, catalog.lock.upstreams, where=LOCK)


def next_ref(name: str, upstream: Upstream, version: str) -> str:
    """Return the tag at which `upstream` has `version` of its module.

    Raises:
        CatalogError: today's tag does not follow from today's version, so the next cannot be told either.
    """
    if upstream.version and upstream.version in upstream.ref and not re.search(r"-0?\.?\d{14}-", version):
        return upstream.ref.replace(upstream.version, version)
    raise CatalogError(
        f"upstream {name}",
        f"its ref {upstream.ref} does not follow from its version {upstream.version}, nor the next from {version}",
        f"edit upstreams.{name} in {LOCK} by hand, then modelyard lock --check",
    )


def new_tags(catalog: Catalog, name: str, new_ref: str) -> dict[str, str]:
    """Return the new tags of the images whose tag is the upstream's version: without its `v` too, or with a variant."""
    old_ref = catalog.lock.upstreams[name].ref
    forms = {old_ref: new_ref, old_ref.removeprefix("v"): new_ref.removeprefix("v")}
    return {
        image.name: forms[version] + image.tag.removeprefix(version)
        for component in _components(catalog, name)
        for image in component.images
        for version in forms
        if image.tag == version or image.tag.startswith(f"{version}-")
    }


def first_pin(catalog: Catalog, move: Move) -> dict[str, str]:
    """Return upstream.lock with the digest of an upstream that has none yet: one digit, 64 times.

    Nothing where a digest is there and is the right one.

    Raises:
        SourceError: another one is there.
    """
    if move.old.tree is None or move.new.tree is None or move.new.tree == move.old.tree:
        return {}
    if len(set(move.old.tree.sha256)) > 1:
        raise SourceError(
            f"upstream {move.name}",
            f"has other files at {move.old.ref} than are locked: their digest is {move.new.tree.sha256}",
            "find out who changed them, the proxy (GOPROXY) or upstream its tag, before you lock them",
        )
    text = (catalog.root / LOCK).read_text(encoding="utf-8")
    return {LOCK: put(text, {("upstreams", move.name, "tree", "sha256"): move.new.tree.sha256}, shown=LOCK)}


def beside(catalog: Catalog, move: Move) -> tuple[str, ...]:
    """Return the other upstreams of the same repository and tag: parts of one release, each with a tree of its own."""
    return tuple(
        name
        for name, upstream in catalog.lock.upstreams.items()
        if name != move.name and (upstream.git, upstream.ref) == (move.old.git, move.old.ref)
    )


def edits(catalog: Catalog, move: Move) -> dict[str, str]:
    """Return the new texts of all files that the move changes, by their path below the catalogue's root."""
    found = {LOCK: _lock_text(catalog, move)}
    for path in _files(catalog, move):
        before = (catalog.root / path).read_text(encoding="utf-8")
        after = _with_images(before, catalog, move)
        if Path(path).name in NAMES:
            after = _with_references(after, catalog, move, path)
            after = replace(after, _tag_change(after, move))
            after = replace(after, _chart_change(after, catalog, move))
        elif Path(path).name == "component.yaml":
            after = replace(after, _component_change(after, move))
        elif Path(path).suffix == ".yaml":
            after = _with_data(after, move)
        if after != before:
            found[path] = after
    return found


def components_of(catalog: Catalog, move: Move, changed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the components that the move may change: the upstream's, and those whose files it edits."""
    names = {component.name for component in _components(catalog, move.name)}
    names |= {Path(path).parts[2] for path in changed if len(Path(path).parts) > 2}
    return tuple(sorted(names & set(catalog.components)))


def _components(catalog: Catalog, upstream: str) -> list[Component]:
    return [component for component in catalog.components.values() if component.upstream == upstream]


def _lock_text(catalog: Catalog, move: Move) -> str:
    text = (catalog.root / LOCK).read_text(encoding="utf-8")
    entry: Field = ("upstreams", move.name)
    values: dict[Field, str] = {(*entry, "ref"): move.new.ref}
    if move.new.version:
        values[*entry, "version"] = move.new.version
    if move.new.tree:
        values[*entry, "tree", "sha256"] = move.new.tree.sha256
    if move.new.commit and move.old.commit:
        values[*entry, "commit"] = move.new.commit
    for name, tag in move.tags.items():
        if name in catalog.lock.images:
            values["images", name, "tag"] = tag
            values["images", name, "digest"] = UNRESOLVED
    if not move.new.commit:
        text = drop(text, (*entry, "commit"))
    return put(text, values, shown=LOCK)


def _files(catalog: Catalog, move: Move) -> list[str]:
    """Return the files that may name the version: the components' own, and all kustomizations that use it."""
    found = {use.file for use in remote_uses(catalog.root) if _is_of(use.entry, use.file, catalog, move)}
    found |= {file for file, upstream in chart_uses(catalog.root, catalog.lock.upstreams) if upstream == move.name}
    for component in _components(catalog, move.name):
        folders = [catalog.root / "manifests" / component.area / component.name]
        folders += (catalog.root / "overlays").glob(f"*/{component.name}")
        for folder in folders:
            found |= {path.relative_to(catalog.root).as_posix() for path in folder.rglob("*") if path.is_file()}
    return sorted(found)


def _is_of(entry: str, shown: str, catalog: Catalog, move: Move) -> bool:
    return resolve(entry, catalog.lock.upstreams, shown=shown).upstream == move.name


def _with_references(text: str, catalog: Catalog, move: Move, shown: str) -> str:
    """Move the remote references: `?ref=TAG`, `/releases/download/TAG/`, and a raw file's `/TAG/`."""
    tag = re.compile(rf"(?<=[=/]){re.escape(move.old.ref)}(?=$|[/&])")
    entries = {use.entry for use in uses_of(text, shown)}
    for entry in sorted(each for each in entries if _is_of(each, shown, catalog, move)):
        text = text.replace(entry, tag.sub(move.new.ref, entry))
    return text


def _with_images(text: str, catalog: Catalog, move: Move) -> str:
    """Move the images that a text names in full: in ConfigMaps, custom resources, arguments."""
    for name, new in move.tags.items():
        reference = parse(name)
        old = _old_tag(catalog, move, name)
        for form in {name, reference.familiar} if reference else {name}:
            pattern = rf"(?<![\w./-]){re.escape(form)}:{re.escape(old)}(?![\w.-])"
            text = re.sub(pattern, f"{form}:{new}", text)
    return text


def _with_data(text: str, move: Move) -> str:
    """Move the version that a ConfigMap tells by itself: a value of its data that is nothing else."""
    return re.sub(rf"(?m)^(  [\w.-]+: ){re.escape(move.old.ref)}$", rf"\g<1>{move.new.ref}", text)


def _old_tag(catalog: Catalog, move: Move, name: str) -> str:
    tags = {image.tag for each in _components(catalog, move.name) for image in each.images if image.name == name}
    return min(tags)


def _tag_change(text: str, move: Move) -> Change:
    """Return the change of `newTag` in a kustomization's `images`."""
    names: dict[str | int, str] = {}
    for scalar in scalars(text):  # newName comes after name, and wins
        if len(scalar.path) == 3 and scalar.path[0] == "images" and scalar.path[2] in ("name", "newName"):
            reference = parse(scalar.value)
            names[scalar.path[1]] = reference.name if reference else scalar.value

    def change(scalar: Scalar) -> str | None:
        if len(scalar.path) == 3 and scalar.path[0] == "images" and scalar.path[2] == "newTag":
            return move.tags.get(names.get(scalar.path[1], ""))
        return None

    return change


def _chart_change(text: str, catalog: Catalog, move: Move) -> Change:
    """Return the change of the version of upstream's published chart, and of its values that are nothing else."""
    chart = catalog.lock.upstreams[move.name].chart
    forms = {move.old.ref: move.new.ref, move.old.ref.removeprefix("v"): move.new.ref.removeprefix("v")}
    names = {
        scalar.path[1]
        for scalar in scalars(text)
        if scalar.path[0] == CHARTS and scalar.path[2:] == ("name",) and chart and scalar.value == chart.name
    }

    def change(scalar: Scalar) -> str | None:
        ours = scalar.path[0] == CHARTS and scalar.path[1] in names
        return forms.get(scalar.value) if ours else None

    return change


def _component_change(text: str, move: Move) -> Change:
    """Return the change of the tags, and of the versions that `local` links into binaries, in a component.yaml."""
    names = {
        scalar.path[1]: scalar.value
        for scalar in scalars(text)
        if len(scalar.path) == 3 and scalar.path[0] == "images" and scalar.path[2] == "name"
    }

    def change(scalar: Scalar) -> str | None:
        if scalar.path[:1] != ("images",) or len(scalar.path) < 3:
            return None
        if scalar.path[2:] == ("tag",):
            return move.tags.get(names.get(scalar.path[1], ""))
        if "ldflags" in scalar.path and scalar.value in (move.old.ref, move.old.version):
            return move.new.ref if scalar.value == move.old.ref else move.new.version
        return None

    return change
