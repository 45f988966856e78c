"""Hold an install to the target that its cluster was installed for."""

from __future__ import annotations

from dataclasses import replace

from modelyard.apply import members
from modelyard.apply.chosen import read_choice
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.plan import aim
from modelyard.plan.aim import Aim, Memory
from modelyard.plan.embedded import REF as MARK
from modelyard.plan.embedded import embedded_name


def recall(session: Session) -> Memory:
    """Return what the cluster says of its target; nothing is written.

    Raises:
        RefusalError: what it remembers is another cluster's, or damaged.
    """
    mark = session.get(MARK)
    choice = read_choice(session)
    known = choice is not None and choice.target
    inventories = () if known else tuple(members.read_all(session).values())
    name = embedded_name(mark, cluster=session.cluster_id)
    return Memory(aim.remembered(choice, inventories), name)


def remembered_target(session: Session) -> str:
    """Return the target of an install that names none.

    Raises:
        RefusalError: the cluster remembers none, or several.
    """
    memory = recall(session)
    if target := aim.unasked(memory):
        return target
    cause = (
        f"has components of several targets: {', '.join(memory.targets)}"
        if memory.targets
        else "remembers no target, and none was named"
    )
    raise RefusalError(
        f"cluster {session.server}",
        f"{cause}; nothing was changed",
        "say what it is: --target TARGET (docs/reference/targets.md)",
    )


def refuse_other_target(session: Session, wanted: Aim, *, embedded: str = "") -> None:
    """Refuse a target that the cluster was not installed for, and `local` off embedded clusters.

    Args:
        session: the cluster.
        wanted: the target; `--force-target` does not bring `local`'s images to a cluster that is not an embedded one.
        embedded: the cluster's name where it is known to be an embedded one: it may not be marked yet.

    Raises:
        RefusalError: it is another one.
    """
    memory = recall(session)
    if embedded:
        memory = replace(memory, embedded=embedded)
    reason = aim.wrong_machine(wanted.base, memory)
    if reason and not memory.embedded:
        raise _not_embedded(session, reason)
    if wanted.force:
        return
    if before := aim.another(wanted.names, memory):
        raise RefusalError(
            f"cluster {session.server}",
            f"was installed for target {before}, and this install is for {wanted}; nothing was changed",
            f"leave --target out to stay with {before}; to change the cluster to {wanted} all the same: --force-target",
        )
    if reason:
        raise RefusalError(
            f"cluster {session.server}",
            f"{reason}; nothing was changed",
            f"modelyard install --name {memory.embedded}, or another cluster; to go on all the same: --force-target",
        )


def _not_embedded(session: Session, reason: str) -> RefusalError:
    return RefusalError(
        f"cluster {session.server}",
        f"{reason}; nothing was changed",
        "name the cluster's own target: --target TARGET (--force-target does not help here); an embedded cluster of "
        "this machine that an earlier modelyard made is marked by: modelyard local up --name NAME",
    )
