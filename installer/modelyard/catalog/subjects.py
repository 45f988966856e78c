"""What a target says of components: they exist, and what is said of those that it does not have is left out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from modelyard.catalog.models import PLATFORM, Component, Target
from modelyard.catalog.names import nearest
from modelyard.errors import CatalogError


def what_concerns(target: Target, components: Collection[str]) -> Target:
    """Return `target` without what it says of components that it does not have, or leaves out what it has.

    Args:
        target: the target, with what it inherits.
        components: all that a cluster of it may have.
    """
    has = {*components, PLATFORM}
    asked = {key: each for key, each in target.prerequisites.items() if not each.components or has & {*each.components}}
    left_out = {name: reason for name, reason in target.leavesOut.items() if name not in has}
    about = tuple(each for each in target.differences if has & {*each.subjects})
    values = {key: value for key, value in target.values.items() if key.partition(".")[0] in has}
    return target.model_copy(
        update={"leavesOut": left_out, "prerequisites": asked, "differences": about, "values": values}
    )


def check_subjects(target: Target, components: Mapping[str, Component], *, shown: str) -> None:
    """Check that what prerequisites and differences are about is there.

    Args:
        target: the target.
        components: all components, by name.
        shown: the file, for people.

    Raises:
        CatalogError: one of them is not.
    """
    named = [(f"prerequisites.{key}.components", each.components) for key, each in target.prerequisites.items()]
    named += [(f"prerequisites.{key}.providedBy", each.providedBy) for key, each in target.prerequisites.items()]
    named += [("differences.about", tuple(s for s in each.subjects if s != PLATFORM)) for each in target.differences]
    for field, names in named:
        for name in names:
            if name not in components:
                raise CatalogError(
                    shown,
                    f"{field} names component {name}, which is not in manifests/" + nearest(name, components),
                    f"edit {field} in {shown}",
                )
