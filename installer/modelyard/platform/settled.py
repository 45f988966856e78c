"""What an install is about: what is asked for now, and what was chosen for the cluster before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modelyard.events import Emit, Note
from modelyard.platform.asked import Asked

if TYPE_CHECKING:
    from modelyard.catalog import Catalog
    from modelyard.catalog.choice import Choice
    from modelyard.cluster import Session

Provided = Callable[[Sequence[str]], Collection[str]]


@dataclass(frozen=True, slots=True)
class Settled:
    """What an install is about.

    Args:
        names: the components to install now, each after what it requires.
        choice: what the cluster is to keep.
        chosen: all that this choice comes to, and what is installed now.
        before: what the cluster remembered when this was settled; None for a cluster that was new.
    """

    names: tuple[str, ...]
    choice: Choice
    chosen: frozenset[str]
    before: Choice | None = None


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
        CatalogError: it does not come together (catalog.choice.compose), or the target does not have it, or a value
            of before does not fit any longer.
        RefusalError: the cluster was installed with an overlay, and none is named now.
    """
    from modelyard.catalog.choice import Choice, compose, left_out_and_required

    remembered = before
    if before is not None:  # what a newer modelyard no longer has is left out anyway
        before = replace(before, left_out=tuple(name for name in before.left_out if name in catalog.components))
    choice = (before or Choice()).changed(profile=asked.profile, added=asked.added, left_out=asked.left_out)
    choice = replace(choice, overlay=_overlay(asked, before), mirror=_mirror(asked, before))
    choice = replace(choice, values=_values(asked, catalog, target, before, emit))
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
    return Settled(names, choice, frozenset({*composition.names, *names}), remembered)


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


def _values(
    asked: Asked, catalog: Catalog, target: str, before: Choice | None, emit: Emit
) -> tuple[tuple[str, str], ...]:
    """Return what the site sets: by the file that is named now, else as before, by today's types."""
    from modelyard.catalog.values import ValueFaultError, by_component, read_sections
    from modelyard.errors import CatalogError

    if asked.values is not None:
        return tuple(sorted(asked.site_values(catalog, target).items()))
    if before is None or asked.no_values:
        return ()
    known = catalog.inherited(target).values
    for key, _ in before.values:
        if key not in known:
            emit(Note(f"value {key} of before is no value of target {target} any longer: it is left out"))
    kept = tuple((key, value) for key, value in before.values if key in known)
    try:
        read_sections(by_component(dict(kept)), known)
    except ValueFaultError as fault:
        raise CatalogError(
            f"value {'.'.join(fault.path)} of before",
            fault.cause,
            "name a file of values that fit by --values, or --no-values for the target's own",
        ) from fault
    return kept


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
