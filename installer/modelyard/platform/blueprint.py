"""What a platform is made from: the catalogue, the target, and what both come to on one cluster."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from modelyard import apply
from modelyard.apply.provided import provided
from modelyard.catalog import Catalog
from modelyard.catalog.values import by_component
from modelyard.cluster import Session
from modelyard.events import Emit, discard
from modelyard.images.mirror import mirror_named
from modelyard.lock.digests import refuse_unresolved
from modelyard.lock.uses import images_of
from modelyard.plan.aim import Aim
from modelyard.platform.asked import Asked
from modelyard.platform.fitting import render_to_fit
from modelyard.platform.settled import Settled, settle
from modelyard.platform.workspace import Workspace
from modelyard.render.rewritten import rewriting_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """A catalogue and a target.

    Args:
        workspace: where things are.
        catalog: the catalogue, with the overlay in it.
        target: the target's name.
        aim: the target, as the cluster's memory is compared with it.
        require_digests: refuse images without one.
    """

    workspace: Workspace
    catalog: Catalog
    target: str
    aim: Aim
    require_digests: bool

    def refuse_early(self, asked: Asked) -> None:
        """Refuse images without digests before a cluster is looked for, where no earlier choice can matter."""
        if asked.components or asked.profile is not None:
            self._refuse_unresolved(settle(asked, self.catalog, self.target, None, discard).names)

    def settle(self, asked: Asked, session: Session | None, emit: Emit, *, embedded: str) -> Settled:
        """Return what to install, by what was chosen for the cluster before.

        Args:
            asked: what is asked for now.
            session: the cluster; None for one that is new.
            emit: is told what came along, and what holds from before.
            embedded: the cluster's name, where it is an embedded one.

        Raises:
            CatalogError: digests are required, and an image of it has none.
            RefusalError: the cluster was installed for another target, or is no place for this one; or what is there
                instead of a component that is left out lacks something of it.
        """

        def there(names: Sequence[str]) -> Collection[str]:
            if session is None:
                return ()
            return provided(session, self.workspace.renderer().objects(self.catalog, self.target, names))

        if session is not None:
            apply.refuse_other_target(session, self.aim, embedded=embedded)
        before = apply.read_choice(session) if session is not None else None
        settled = settle(asked, self.catalog, self.target, before, emit, there)
        self._refuse_unresolved(settled.names)
        return replace(settled, choice=replace(settled.choice, target=self.aim.names[-1]))

    def rendered(self, settled: Settled, session: Session) -> tuple[apply.Rendered, ...]:
        """Render components to fit a cluster, with their images pinned and mirrored."""
        mirror = mirror_named(settled.choice.mirror) if settled.choice.mirror else None
        rewriting = rewriting_for(self.catalog, self.target, mirror)
        renderer = self.workspace.renderer()
        return render_to_fit(
            self.catalog,
            self.target,
            settled.names,
            session,
            lambda wanted, values: renderer.objects(self.catalog, self.target, wanted, values, rewriting),
            by_component(dict(settled.choice.values)),
        )

    def _refuse_unresolved(self, names: Sequence[str]) -> None:
        if self.require_digests:
            rendered = self.workspace.renderer().objects(self.catalog, self.target, names)
            refuse_unresolved(images_of(self.catalog, rendered))
