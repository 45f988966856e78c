"""Delete what a component no longer has; keep what holds somebody else's objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelyard.apply.held import held_by
from modelyard.apply.run import Run
from modelyard.catalog.removal import RemovalRules
from modelyard.events import Note
from modelyard.objects import Object, ObjectRef, text
from modelyard.plan.prune import in_use


def prune(
    run: Run, component: str, gone: Sequence[ObjectRef], live: Mapping[ObjectRef, Object], rules: RemovalRules
) -> set[ObjectRef]:
    """Delete the members that are no longer desired; return those that were kept.

    Args:
        run: the run.
        component: whose.
        gone: what plan.prune.prune_set allows to delete, in that order.
        live: all members, each list of them complete.
        rules: what is nobody's data among what would go with them.
    """
    kept: set[ObjectRef] = set()
    for ref in gone:
        run.check()
        held = held_by(run.session, live[ref], mine=set(live), rules=rules)
        if held:
            run.emit(Note(f"{component}: kept {ref}, no longer part of it: {in_use({ref: held})}"))
            kept.add(ref)
        else:
            run.session.delete(ref, uid=text(live[ref], "metadata", "uid"))
    return kept
