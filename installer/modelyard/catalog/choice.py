"""Which components a cluster gets: a profile, what is chosen beside it, and what is left out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from modelyard.catalog import graph
from modelyard.catalog.graph import Requires
from modelyard.catalog.names import unknown
from modelyard.errors import CatalogError

DEFAULT_PROFILE = "core"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a user chose for one cluster; the cluster keeps it, so that the next install holds to it.

    Args:
        profile: a profile of the target.
        added: components beside it (`--with`).
        left_out: components of it that are not wanted (`--without`).
        overlay: the folder of the user's own overlay; empty for none.
        mirror: the registry that the images come from (`--mirror`); empty for their own.
        values: what the site sets (`--values`), as <component>.<name> and value, sorted.
        target: the catalogue's target that it was installed for, an overlay's base; empty where it was not kept yet.
    """

    profile: str = DEFAULT_PROFILE
    added: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    overlay: str = ""
    mirror: str = ""
    target: str = ""
    values: tuple[tuple[str, str], ...] = ()

    def changed(self, *, profile: str | None, added: Collection[str], left_out: Collection[str]) -> Choice:
        """Return this choice as a command changes it.

        Args:
            profile: `--profile`; it begins anew: what was added or left out before is forgotten.
            added: `--with`; takes back an earlier `--without` of the same component.
            left_out: `--without`; takes back an earlier `--with` of the same component.
        """
        if profile is not None:
            return replace(self, profile=profile, added=_sorted(added), left_out=_sorted(left_out))
        return replace(
            self,
            added=_sorted({*self.added, *added} - set(left_out)),
            left_out=_sorted({*self.left_out, *left_out} - set(added)),
        )

    def __str__(self) -> str:
        parts = [f"--profile {self.profile}"]
        parts += [f"--with {name}" for name in self.added]
        parts += [f"--without {name}" for name in self.left_out]
        parts += [f"--mirror {self.mirror}"] if self.mirror else []
        parts += [f"{key}={value}" for key, value in self.values]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Composition:
    """The components that a choice comes to.

    Args:
        names: all of them, each after what it requires.
        pulled_in: those that came only because a component of `--with` requires them, with who does.
    """

    names: tuple[str, ...]
    pulled_in: Mapping[str, tuple[str, ...]]


def compose(
    listed: Iterable[str],
    requires: Requires,
    *,
    added: Collection[str] = (),
    left_out: Collection[str] = (),
    provided: Collection[str] = (),
) -> Composition:
    """Return the components of a profile with some added and some left out.

    Args:
        listed: the profile's components.
        requires: each component's direct requirements.
        added: components beside the profile; they draw in what they require.
        left_out: components of it that are not wanted.
        provided: those of `left_out` that the cluster has from somebody else: whoever requires them has them there.

    Raises:
        CatalogError: a name does not exist, is both added and left out, or is left out though a chosen
            component requires it; the message names who does.
    """
    check_names(requires, added=added, left_out=left_out)
    kept = set(listed) - set(left_out)
    requires = {name: [each for each in needed if each not in provided] for name, needed in requires.items()}
    chosen = graph.closure(kept | set(added), requires)
    for name in sorted(left_out):
        if name in chosen:
            raise _required(name, chosen, requires, added)
    without_pulled_in = graph.closure(kept, requires) | set(added)
    names = graph.order(chosen, requires)
    pulled_in = {name: _who_requires(name, chosen, requires) for name in names if name not in without_pulled_in}
    return Composition(names, pulled_in)


def left_out_and_required(
    listed: Iterable[str], requires: Requires, *, added: Collection[str] = (), left_out: Collection[str] = ()
) -> frozenset[str]:
    """Return the components of `left_out` that a component which would be installed requires, directly or not."""
    chosen = (set(listed) - set(left_out) | set(added)) & requires.keys()  # names that are not there are told later
    return frozenset(graph.closure(chosen, requires) & set(left_out))


def check_names(known: Collection[str], *, added: Collection[str], left_out: Collection[str]) -> None:
    """Check what can be told of `--with` and `--without` before anything else is known.

    Raises:
        CatalogError: a name is not among the `known`, or is both added and left out.
    """
    for name in sorted({*added, *left_out}):
        if name not in known:
            raise unknown("component", name, known, where="manifests/")
    for name in sorted(set(added) & set(left_out)):
        raise CatalogError(
            f"component {name}", "is asked for by --with and ruled out by --without", "take one of the two options away"
        )


def _required(name: str, chosen: Collection[str], requires: Requires, added: Collection[str]) -> CatalogError:
    dependents = [each for each in sorted(chosen) if each != name and name in graph.closure([each], requires)]
    ways = [f"take --with {each} away" if each in added else f"add --without {each}" for each in dependents]
    return CatalogError(
        f"component {name}",
        f"cannot be left out: it is required by {', '.join(_who_requires(name, chosen, requires))}",
        f"keep {name}, or leave out what needs it too: {', '.join(ways)}",
    )


def _who_requires(name: str, chosen: Collection[str], requires: Requires) -> tuple[str, ...]:
    return tuple(each for each in sorted(chosen) if name in requires[each])


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
