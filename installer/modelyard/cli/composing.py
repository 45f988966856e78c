"""Which components a command is about: the options that say so, and what a cluster was installed with before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modelyard.cli.options import component_option, target_option
from modelyard.events import Emit, Note

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.catalog.choice import Choice, Composition
    from modelyard.cluster import Session
    from modelyard.images import Mirror
    from modelyard.plan.recreate import Named

DEFAULT_TARGET = "local"
Provided = Callable[[Sequence[str]], Collection[str]]


def composing_options(profile: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds --target, --overlay, --profile, --with, --without and --component.

    The command takes all of them, and its own --mirror, --no-mirror, --no-overlay, --adopt and --recreate if it has
    them, as one argument: `asked`.

    Args:
        profile: what --profile is where it is not given, for people.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def composed(**options: Any) -> None:
            given = {field.name: options.pop(field.name) for field in fields(Asked) if field.name in options}
            command(asked=Asked(**given), **options)

        for option in (
            component_option,
            click.option(
                "--without", "left_out", multiple=True, help="Leave this component out; may be repeated.", metavar="C"
            ),
            click.option("--with", "added", multiple=True, help="This component too; may be repeated.", metavar="C"),
            click.option("--profile", help=f"Which components, as target.yaml lists them.  [default: {profile}]"),
            click.option(
                "--overlay", type=click.Path(path_type=Path), help="Your own overlay, a folder with a target.yaml."
            ),
            target_option,
        ):
            composed = option(composed)
        return composed

    return add


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command line says about components, and where their images come from."""

    target: str | None
    overlay: Path | None
    profile: str | None
    added: tuple[str, ...]
    left_out: tuple[str, ...]
    components: tuple[str, ...]
    no_overlay: bool = False
    mirror: Mirror | None = None
    no_mirror: bool = False
    adopted: tuple[str, ...] = ()
    recreate: tuple[Named, ...] = ()

    def __post_init__(self) -> None:
        if self.components and (self.profile or self.added or self.left_out):
            raise click.UsageError(
                "--component is about these components alone; it goes with neither --profile, --with nor --without."
            )
        if self.overlay is not None and self.no_overlay:
            raise click.UsageError("--overlay and --no-overlay contradict each other.")
        if self.mirror is not None and self.no_mirror:
            raise click.UsageError("--mirror and --no-mirror contradict each other.")

    def open(self, catalog: Catalog) -> tuple[Catalog, str]:
        """Return the catalogue with the overlay in it, and the target's name; all names that were given exist.

        Raises:
            CatalogError: one of them does not, or the overlay is malformed or on another target.
        """
        from modelyard.catalog import with_overlay
        from modelyard.catalog.choice import check_names
        from modelyard.errors import CatalogError

        target = self.target or DEFAULT_TARGET
        if self.overlay is not None:
            catalog = with_overlay(catalog, self.overlay)
            assert catalog.overlay is not None
            own = catalog.overlay.target
            if self.target not in (None, own.name, own.base):
                raise CatalogError(
                    f"overlay {self.overlay}",
                    f"is on target {own.base}, not on {self.target}",
                    f"leave --target away, or change `base` in {self.overlay / 'target.yaml'}",
                )
            target = own.name
        catalog.target(target)
        for name in self.components:
            catalog.component(name)
        check_names(catalog.components, added=self.added, left_out=self.left_out)
        if self.profile is not None:
            catalog.listed(target, self.profile)
        return catalog, target

    def compose(self, catalog: Catalog, target: str) -> Composition:
        """Return the components that the options alone come to; without --profile, of all profiles."""
        from modelyard.catalog.choice import Composition, compose

        if self.components:
            return Composition(self.components, {})
        listed = catalog.listed(target, self.profile)
        return compose(listed, catalog.requires, added=self.added, left_out=self.left_out)


@dataclass(frozen=True, slots=True)
class Settled:
    """What an install is about.

    Args:
        names: the components to install now, each after what it requires.
        choice: what the cluster is to keep.
        chosen: all that this choice comes to, and what is installed now.
    """

    names: tuple[str, ...]
    choice: Choice
    chosen: frozenset[str]


def settle(
    asked: Asked,
    catalog: Catalog,
    target: str,
    before: Choice | None,
    emit: Emit,
    provided: Provided = lambda names: frozenset(),
) -> Settled:
    """Return what to install, from what is asked for now and what was chosen before.

    Args:
        asked: the options.
        catalog: the catalogue, with the overlay in it.
        target: the target.
        before: what the cluster was installed with; None for a cluster that is new.
        emit: is told what came along, and what holds from before.
        provided: which of some components, left out and required, the cluster has from somebody else.

    Raises:
        CatalogError: it does not come together (catalog.choice.compose), or the target does not have it.
        RefusalError: the cluster was installed with an overlay, and none is named now.
    """
    from modelyard.catalog.choice import Choice, compose, left_out_and_required

    if before is not None:  # what a newer modelyard no longer has is left out anyway
        before = replace(before, left_out=tuple(name for name in before.left_out if name in catalog.components))
    choice = (before or Choice()).changed(profile=asked.profile, added=asked.added, left_out=asked.left_out)
    choice = replace(choice, overlay=_overlay(asked, before), mirror=_mirror(asked, before))
    listed = catalog.listed(target, choice.profile)
    choices = {"added": choice.added, "left_out": choice.left_out}
    required = left_out_and_required(listed, catalog.requires, **choices)
    elsewhere = provided(sorted(required)) if required else frozenset()
    for name in sorted(elsewhere):
        emit(Note(f"{name} is left out: the components that require it use the one that is there"))
    composition = compose(listed, catalog.requires, **choices, provided=elsewhere)
    names = composition.names
    if asked.components:
        names = tuple(
            name for name in catalog.select(asked.components) if name not in elsewhere or name in asked.components
        )
    for name in names:
        catalog.folder(target, name)
    if not asked.components:
        if before is not None and replace(before, target="") != Choice() and choice == before:
            emit(Note(f"as chosen before: {before}"))
        tell_pulled_in(composition.pulled_in, emit)
    return Settled(names, choice, frozenset({*composition.names, *names}))


def _overlay(asked: Asked, before: Choice | None) -> str:
    """Return the overlay that the cluster is to have; refuse to drop one in silence."""
    from modelyard.errors import RefusalError

    if asked.overlay is not None:
        return str(asked.overlay.resolve())
    if before is not None and before.overlay and not asked.no_overlay:
        raise RefusalError(
            f"overlay {before.overlay}",
            "is what this cluster was installed with, and is not named now; all that it changes would be taken back",
            f"add --overlay {before.overlay}, or --no-overlay to take it back",
        )
    return ""


def _mirror(asked: Asked, before: Choice | None) -> str:
    """Return the mirror that the cluster is to have: without one that is named, images stay where they come from."""
    if asked.mirror is not None:
        return str(asked.mirror)
    return before.mirror if before is not None and not asked.no_mirror else ""


def tell_pulled_in(pulled_in: Mapping[str, tuple[str, ...]], emit: Emit) -> None:
    """Tell which components come only because others require them."""
    for name, who in pulled_in.items():
        emit(Note(f"{name} comes too: it is required by {', '.join(who)}"))


def tell_not_selected(session: Session, settled: Settled, emit: Emit) -> None:
    """Tell which components are installed, and not chosen any longer: they stay as they are."""
    from modelyard.apply import unchosen

    for name in unchosen(session, settled.chosen):
        emit(
            Note(
                f"{name} is installed and not chosen: it stays as it is; `modelyard uninstall --component {name}` "
                f"removes it, `modelyard install --with {name}` keeps it up to date"
            )
        )
