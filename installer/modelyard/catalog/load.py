"""Read the whole catalogue from a clone, or from the wheel's data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from modelyard.catalog import graph
from modelyard.catalog.document import read_model
from modelyard.catalog.inherit import completed, inherited
from modelyard.catalog.models import UNRESOLVED, Component, Lock, Target
from modelyard.catalog.names import nearest, unknown
from modelyard.catalog.overlay import UserOverlay, read_overlay
from modelyard.catalog.subjects import check_subjects, what_concerns
from modelyard.catalog.values import Flat
from modelyard.catalog.values_file import check_sized, target_values
from modelyard.errors import CatalogError


@dataclass(frozen=True, slots=True)
class Catalog:
    """All components, targets and pins; names in them have been checked.

    Args:
        root: the folder with manifests/, overlays/ and upstream.lock.
        components: by name.
        targets: by name; a user's overlay is one of them.
        lock: upstream.lock.
        overlay: the user's overlay, if there is one.
        defaults: the values of each target, by <component>.<name>; a user's overlay has its values in its own folders.
    """

    root: Path
    components: Mapping[str, Component]
    targets: Mapping[str, Target]
    lock: Lock
    overlay: UserOverlay | None = None
    defaults: Mapping[str, Flat] = field(default_factory=dict)

    def component(self, name: str) -> Component:
        """Return a component by name; CatalogError with the nearest name where there is none."""
        if name not in self.components:
            raise unknown("component", name, self.components, where="manifests/")
        return self.components[name]

    def target(self, name: str) -> Target:
        """Return a target by name; CatalogError with the nearest name where there is none."""
        if name not in self.targets:
            raise unknown("target", name, self.targets, where="overlays/")
        return self.targets[name]

    def profile(self, target: str, profile: str) -> tuple[str, ...]:
        """Return a profile's components, with all they require, in the order of the graph."""
        return self.select(self.listed(target, profile))

    def listed(self, target: str, profile: str | None) -> tuple[str, ...]:
        """Return the components that a profile names, or all profiles of the target if it is None."""
        profiles = self.target(target).profiles
        if profile is None:
            return tuple(sorted({name for listed in profiles.values() for name in listed}))
        if profile not in profiles:
            raise unknown("profile", profile, profiles, where=f"the target.yaml of {target}")
        return profiles[profile]

    def everything(self, target: str) -> tuple[str, ...]:
        """Return the components of all of a target's profiles, with all they require, in the order of the graph."""
        return self.select(self.listed(target, None))

    def offered(self, target: str) -> tuple[str, ...]:
        """Return the components that a target offers beside its profiles, each after what it requires."""
        return graph.order(self.target(target).offered, self.requires)

    def available(self, target: str) -> tuple[str, ...]:
        """Return all components that a cluster of this target may have: `everything`, then what is `offered`."""
        return (*self.everything(target), *self.offered(target))

    def base(self, target: str) -> str:
        """Return the target on which `target` rests in the end: itself, if it is on no other."""
        return [each.name for each in self.chain(target)][-1]

    def chain(self, target: str) -> Iterator[Target]:
        """Return `target`, then the target that it is on, and so on down to the last."""
        self.target(target)
        return _chain(target, self.targets)

    def inherited(self, target: str) -> Target:
        """Return `target` with what it inherits from those that it is on; what it has, it does not leave out.

        What is said of components that it does not have is said of other targets alone.
        """
        return what_concerns(inherited(tuple(self.chain(target))), self.available(target))

    def whole(self, target: str) -> Path:
        """Return the folder of the kustomization over all components of `target`."""
        self.target(target)
        if self.overlay is not None and target == self.overlay.target.name:
            return self.overlay.folder
        return self.root / "overlays" / target

    def folder(self, target: str, name: str) -> Path:
        """Return the folder of a component's kustomization for `target`.

        It is the target's own, else that of the target below it, else the component's in manifests/: a target has
        folders for what differs there alone.

        Raises:
            CatalogError: the target does not have the component, or leaves it out; a user's overlay may bring back
                what the target that it is on leaves out.
        """
        component = self.component(name)
        said = any(name in each.leavesOut for each in self.chain(target))
        reason = self.inherited(target).leavesOut.get(name) if said else None
        if self.overlay is not None and target == self.overlay.target.name:
            if name in self.overlay.folders:
                return self.overlay.folders[name]
            shown, files = self.overlay.folder.name, f"target.yaml and kustomization.yaml of {self.overlay.folder}"
        else:
            for each in self.chain(target) if reason is None else ():
                folder = self.root / "overlays" / each.name / name
                if folder.is_dir():
                    return folder
            if reason is None and name in self.available(target):
                return self.root / "manifests" / component.area / name
            shown, files = target, f"target.yaml and kustomization.yaml of overlays/{target}"
        if reason is not None:
            raise CatalogError(f"component {name}", f"is left out of target {shown}: {reason}", "take another target")
        offers = ", ".join(self.offered(target))
        beside = f"; beside its profiles it offers: {offers}" if offers else ""
        raise CatalogError(
            f"component {name}", f"is not in target {shown}{beside}", f"name it in {files}, or take another target"
        )

    def select(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return `names` and all that they require, each after what it requires."""
        for name in names:
            self.component(name)
        requires = self.requires
        return graph.order(graph.closure(names, requires), requires)

    @property
    def sized(self) -> Component | None:
        """Return the component whose values follow from what fixed nodes have left, if there is one."""
        return next((each for each in self.components.values() if each.sized is not None), None)

    @property
    def requires(self) -> dict[str, tuple[str, ...]]:
        """Return the graph: each component's direct requirements."""
        return {name: component.requires for name, component in self.components.items()}

    @property
    def pins(self) -> dict[str, tuple[str, str]]:
        """Return tag and digest of each image, by its full name, whose digest upstream.lock has."""
        return {name: (pin.tag, pin.digest) for name, pin in self.lock.images.items() if pin.digest != UNRESOLVED}

    @property
    def image_names(self) -> frozenset[str]:
        """Return the full names of all images that component.yaml files declare."""
        return frozenset(image.name for component in self.components.values() for image in component.images)

    def version(self, name: str) -> str:
        """Return the version of a component: its upstream's ref, or empty for our own."""
        upstream = self.component(name).upstream
        return self.lock.upstreams[upstream].ref if upstream else ""


def load(root: Path) -> Catalog:
    """Read manifests/, overlays/ and upstream.lock below `root`.

    Raises:
        CatalogError: a file does not fit its model, a folder and its file disagree on a name,
            a name does not exist, or `requires` has a cycle.
    """
    root = root.resolve()  # kustomize takes `..` from where a folder really is
    lock = read_model(root / "upstream.lock", Lock, shown="upstream.lock")
    components = _components(root)
    graph.check({name: component.requires for name, component in components.items()})
    _check_upstreams(components, lock)
    written = _targets(root)
    _check_bases(written)
    check_sized(components.values())
    targets: dict[str, Target] = {}
    defaults: dict[str, Flat] = {}
    for name in written:
        values, defaults[name] = target_values(root, _chain(name, written), components)
        targets[name] = _completed(name, written).model_copy(update={"values": values})
        _check_names(targets[name], components, shown=f"overlays/{name}/target.yaml")
    return Catalog(root=root, components=components, targets=targets, lock=lock, defaults=defaults)


def with_overlay(catalog: Catalog, folder: Path) -> Catalog:
    """Return the catalogue with a user's overlay as one more target.

    Raises:
        CatalogError: the overlay is malformed, takes the name of a target, names something that does not exist,
            or its kustomization.yaml and its profiles disagree.
    """
    overlay = read_overlay(folder, catalog.components)
    target, shown = overlay.target, f"{overlay.folder.name}/target.yaml"
    if target.name in catalog.targets:
        raise CatalogError(shown, f"takes the name of target {target.name}", f"give it another name in {shown}")
    _check_names(target, catalog.components, shown=shown)
    if target.adds:
        raise CatalogError(shown, "field adds: an overlay has what it lists", f"put it into a profile of {shown}")
    if target.offered:
        raise CatalogError(shown, "field offered: an overlay has what it lists", f"put it into a profile of {shown}")
    targets = {**catalog.targets, target.name: target}
    _check_bases(targets)
    below = targets[str(target.base)]
    targets[target.name] = target.model_copy(update={"values": below.values | target.values})
    extended = replace(catalog, targets=targets, overlay=overlay)
    listed, built = set(extended.everything(target.name)), set(overlay.folders)
    for name in sorted(listed ^ built):
        lacking = "kustomization.yaml does not list" if name in listed else "no profile of target.yaml has"
        raise CatalogError(
            f"overlay {overlay.folder.name}",
            f"{lacking} component {name}, so kustomize and modelyard would not give the same",
            f"name {name} in both files, or in neither",
        )
    return extended


def _components(root: Path) -> dict[str, Component]:
    found: dict[str, Component] = {}
    for path in sorted((root / "manifests").glob("*/*/component.yaml")):
        shown = path.relative_to(root).as_posix()
        component = read_model(path, Component, shown=shown)
        area, folder = path.parent.parent.name, path.parent.name
        if (component.area, component.name) != (area, folder):
            raise CatalogError(
                shown,
                f"calls itself {component.area}/{component.name}, its folder is {area}/{folder}",
                f"edit `area` and `name` in {shown}",
            )
        if component.name in found:
            raise CatalogError(shown, f"component {component.name} is there twice", "rename one of them")
        found[component.name] = component
    return found


def _targets(root: Path) -> dict[str, Target]:
    found: dict[str, Target] = {}
    for path in sorted((root / "overlays").glob("*/target.yaml")):
        shown = path.relative_to(root).as_posix()
        target = read_model(path, Target, shown=shown)
        if target.name != path.parent.name:
            raise CatalogError(shown, f"calls itself {target.name}, its folder is {path.parent.name}", f"edit {shown}")
        found[target.name] = target
    return found


def _chain(name: str, targets: Mapping[str, Target]) -> Iterator[Target]:
    below: str | None = name
    while below is not None:
        yield targets[below]
        below = targets[below].base


def _completed(name: str, written: Mapping[str, Target]) -> Target:
    """Return a target with the components that it has because its base does."""
    target = written[name]
    if target.base is None:
        return target
    base = _completed(target.base, written)
    _check_adds(target, base, shown=f"overlays/{name}/target.yaml")
    return completed(target, base)


def _check_upstreams(components: Mapping[str, Component], lock: Lock) -> None:
    for component in components.values():
        if component.upstream is not None and component.upstream not in lock.upstreams:
            raise CatalogError(
                f"component {component.name}",
                f"names upstream {component.upstream}, which upstream.lock does not have"
                + nearest(component.upstream, lock.upstreams),
                f"add upstreams.{component.upstream} to upstream.lock",
            )


def _check_names(target: Target, components: Mapping[str, Component], *, shown: str) -> None:
    _check_profiles(target, components, shown=shown)
    requires = {name: component.requires for name, component in components.items()}
    needed = graph.closure({name for names in target.profiles.values() for name in names}, requires)
    _check_apart("offered", target.offered, needed, components, shown=shown)
    _check_apart("leavesOut", target.leavesOut, needed, components, shown=shown)
    check_subjects(target, components, shown=shown)
    for name in sorted(graph.closure(target.offered, requires) - needed - set(target.offered)):
        raise CatalogError(
            shown,
            f"offered needs component {name}, which no profile has and nothing offers",
            f"add {name} to offered in {shown}",
        )
    for name in sorted(set(target.offered) & set(target.leavesOut)):
        raise CatalogError(shown, f"offered and leavesOut both name component {name}", f"edit one of them in {shown}")


def _check_adds(target: Target, base: Target, *, shown: str) -> None:
    for profile in target.adds:
        if target.profiles or profile not in base.profiles:
            why = "lists its profiles itself" if target.profiles else f"is on {base.name}, which has none"
            raise CatalogError(shown, f"adds names profile {profile}, but the target {why}", f"edit adds in {shown}")


def _check_apart(
    field: str, named: Iterable[str], needed: Collection[str], components: Mapping[str, Component], *, shown: str
) -> None:
    """Check a field whose components are beside the profiles: they exist, and no profile needs them."""
    for name in named:
        if name not in components:
            cause = f"names component {name}, which is not in manifests/" + nearest(name, components)
        elif name in needed:
            cause = f"names component {name}, which a profile names or needs"
        else:
            continue
        raise CatalogError(shown, f"{field} {cause}", f"edit {field} in {shown}")


def _check_profiles(target: Target, components: Mapping[str, Component], *, shown: str) -> None:
    if not target.profiles:
        raise CatalogError(
            shown, "has no `profiles`, and there is nothing to take them from", f"add `profiles` to {shown}"
        )
    for profile, names in target.profiles.items():
        for name in names:
            if name not in components:
                raise CatalogError(
                    shown,
                    f"profile {profile} names component {name}, which is not in manifests/" + nearest(name, components),
                    f"edit profiles.{profile} in {shown}",
                )


def _check_bases(targets: Mapping[str, Target]) -> None:
    for name, target in targets.items():
        path = [name]
        while target.base is not None:
            if target.base not in targets:
                raise unknown("target", target.base, targets, where=f"overlays/, and target {path[-1]} is based on it")
            path.append(target.base)
            if target.base in path[:-1]:
                raise CatalogError(
                    f"target {name}", f"is based on itself: {' -> '.join(path)}", "take one of them out of `base`"
                )
            target = targets[target.base]
