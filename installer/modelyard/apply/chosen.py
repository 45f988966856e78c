"""What was chosen for a cluster: read, kept, and compared with what is installed."""

from __future__ import annotations

from collections.abc import Collection

from modelyard.apply import members
from modelyard.catalog.choice import Choice
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.plan import chosen


def read_choice(session: Session) -> Choice | None:
    """Return what was chosen for this cluster; None where nothing has been.

    Raises:
        RefusalError: what is kept is another cluster's, or damaged: then what was chosen cannot be held to.
    """
    kept = session.get(chosen.REF)
    if kept is None:
        return None
    try:
        return chosen.read_choice(kept, cluster=session.cluster_id)
    except ValueError as error:
        raise RefusalError(
            f"choice of components ({chosen.REF})",
            f"{error}; nothing was changed",
            f"kubectl -n {chosen.REF.namespace} delete configmap {chosen.REF.name}, then install again with the "
            "--profile, --with and --without that you want",
        ) from error


def keep_choice(session: Session, choice: Choice) -> None:
    """Keep a choice in the cluster; where it is kept already, nothing is written."""
    if read_choice(session) != choice:
        members.ensure_namespace(session)
        session.apply(chosen.choice_object(choice, cluster=session.cluster_id))


def forget_choice(session: Session) -> None:
    """Delete what was chosen, if anything was."""
    session.delete(chosen.REF)


def unchosen(session: Session, names: Collection[str]) -> tuple[str, ...]:
    """Return the components that are installed and not among `names`: nothing removes them but an uninstall."""
    return tuple(name for name in members.read_all(session) if name not in names)
