"""The check that what is used is what is locked, and that what is locked is used.

| fault | where it is said |
| --- | --- |
| a remote reference of no locked upstream, at another ref, or outside of the locked folder | the kustomization |
| an image that is not locked, or locked with another tag, or has none | the object and its field, or component.yaml |
| an upstream or an image that nothing uses | upstream.lock |
| a tree whose digest is another | upstream.lock |
| a Go module that `local` builds from at another version | go.mod |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from modelyard.catalog import Catalog, GoBuild
from modelyard.errors import CatalogError, RenderError, SourceError
from modelyard.images import UsedImage
from modelyard.lock.edit import scalars
from modelyard.lock.uses import RemoteUse, chart_uses, go_mod
from modelyard.objects import Object
from modelyard.render.remote import resolve
from modelyard.sources import Store
from modelyard.sources.store import UnavailableError

LOCK = "upstream.lock"
BROKEN = "it cannot be rendered"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What does not hold.

    Args:
        file: the file to look into, with its line where it has one.
        entry: what in it, or in upstream.lock.
        cause: what is wrong.
        tree: it is about an upstream's files, not about the catalogue.
    """

    file: str
    entry: str
    cause: str
    tree: bool = False

    def __str__(self) -> str:
        return f"{self.file}: {self.entry}: {self.cause}"


@dataclass(slots=True)
class Checked:
    """What was looked at, what is wrong, and what could not be looked at without a network."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    references: int = 0
    images: int = 0
    trees: int = 0

    def conclude(self) -> None:
        """Raise where there are faults.

        Raises:
            SourceError: only upstreams' files differ.
            CatalogError: anything else differs.
        """
        if not self.faults:
            return
        first, more = self.faults[0], len(self.faults) - 1
        kind = SourceError if all(fault.tree for fault in self.faults) else CatalogError
        rest = f" (and {more} more, listed above)" if more else ""
        raise kind(f"{first.file}, {first.entry}", f"{first.cause}{rest}", f"make it and {LOCK} say the same")


def check_references(catalog: Catalog, uses: Sequence[RemoteUse], text: str) -> Iterator[Fault]:
    """Yield what is wrong between remote references and upstreams.

    Args:
        catalog: the catalogue.
        uses: all remote references.
        text: of upstream.lock.
    """
    used = {component.upstream for component in catalog.components.values()}
    try:
        used |= {upstream for _, upstream in chart_uses(catalog.root, catalog.lock.upstreams)}
    except CatalogError as error:
        yield Fault(error.subject, "helmCharts", error.cause)
    for use in uses:
        try:
            used.add(resolve(use.entry, catalog.lock.upstreams, shown=use.file).upstream)
        except CatalogError as error:
            yield Fault(f"{use.file}, line {use.line}", use.entry, error.cause)
    for name in sorted(set(catalog.lock.upstreams) - used):
        yield Fault(_lock_line(text, "upstreams", name), f"upstreams.{name}", "nothing uses it")


def check_images(catalog: Catalog, images: Iterable[UsedImage], text: str, *, complete: bool) -> Iterator[Fault]:
    """Yield what is wrong between the images of all targets and the lock.

    Args:
        catalog: the catalogue.
        images: of all targets' rendered objects.
        text: of upstream.lock.
        complete: none of the components is broken. What cannot be had here counts with the images that its
            component.yaml declares, so an image that is in neither is used by none.
    """
    locked = catalog.lock.images
    seen = set()
    for image in images:
        name, tag = image.reference.name, image.reference.tag
        seen.add(name)
        for file in [f"component {image.component}, {place}" for place in image.places]:
            yield from _tag_faults(catalog, name, tag, file)
    for component in catalog.components.values():
        file = f"manifests/{component.area}/{component.name}/component.yaml"
        for each in component.images:
            seen.add(each.name)
            yield from _tag_faults(catalog, each.name, each.tag, file)
    if complete:
        for name in sorted(set(locked) - seen):
            yield Fault(_lock_line(text, "images", name), f"images.{name}", "nothing uses it")


def _tag_faults(catalog: Catalog, name: str, tag: str, file: str) -> Iterator[Fault]:
    pin = catalog.lock.images.get(name)
    if pin is None:
        yield Fault(file, f"image {name}:{tag}", f"{LOCK} does not have images.{name}")
    elif not tag:
        yield Fault(file, f"image {name}", "has no tag")
    elif pin.tag != tag:
        yield Fault(file, f"image {name}:{tag}", f"{LOCK} has images.{name} at {pin.tag}")


def check_builds(catalog: Catalog, requirements: Mapping[str, Mapping[str, str]]) -> Iterator[Fault]:
    """Yield the upstreams that `local` builds at another version than the locked one."""
    for component in catalog.components.values():
        upstream = catalog.lock.upstreams.get(component.upstream or "")
        modules = {image.build.module for image in component.images if isinstance(image.build, GoBuild)}
        for folder in sorted(modules & set(requirements)):
            version = requirements[folder].get(upstream.module or "") if upstream else None
            if upstream and version and version != upstream.version:
                yield Fault(
                    go_mod(folder),
                    f"{upstream.module} {version}",
                    f"{LOCK} has upstreams.{component.upstream} at {upstream.version}; `local` would build the other",
                )


def check_trees(catalog: Catalog, store: Store, text: str, checked: Checked) -> None:
    """Verify the digest of every upstream's tree that is on this machine; note the others as unchecked."""
    for name, upstream in sorted(catalog.lock.upstreams.items()):
        if upstream.tree is None:
            continue
        try:
            store.tree(name, upstream)
            checked.trees += 1
        except UnavailableError:
            checked.unchecked.append(f"digest of upstream {name}: its files are not on this machine")
        except SourceError as error:
            checked.faults.append(
                Fault(_lock_line(text, "upstreams", name), f"upstreams.{name}", error.cause, tree=True)
            )


def render_all(
    catalog: Catalog, render: Callable[[str, str], Sequence[Object]], checked: Checked
) -> Iterator[tuple[str, dict[str, Sequence[Object]]]]:
    """Yield each target's components with their objects; note what cannot be rendered here as unchecked.

    Args:
        catalog: the catalogue.
        render: target and component -> objects.
        checked: takes the notes.
    """
    said = {fault.cause for fault in checked.faults}  # by check_references, which sees the same
    for target in sorted(catalog.targets):
        outputs: dict[str, Sequence[Object]] = {}
        for name in catalog.available(target):
            try:
                outputs[name] = render(target, name)
            except UnavailableError:
                checked.unchecked.append(f"images of {name} on {target}: its upstream's files are not on this machine")
            except RenderError as error:
                checked.faults.append(Fault(f"overlays/{target}/{name}", "kustomization", error.cause))
                checked.unchecked.append(f"images of {name} on {target}: {BROKEN}")
            except CatalogError as error:
                if error.cause not in said:
                    checked.faults.append(Fault(f"overlays/{target}/{name}", error.subject, error.cause))
                checked.unchecked.append(f"images of {name} on {target}: {BROKEN}")
            except SourceError:  # check_trees sees the reason itself
                checked.unchecked.append(f"images of {name} on {target}: {BROKEN}")
        yield target, outputs


def _lock_line(text: str, section: str, name: str) -> str:
    for scalar in scalars(text):
        if scalar.path[:2] == (section, name):
            # the entry's first value; a block entry's key stands on the line before it
            line = text.count("\n", 0, scalar.start) + 1
            return f"{LOCK}, line {line if text.splitlines()[line - 1].strip().startswith(name) else line - 1}"
    return LOCK
