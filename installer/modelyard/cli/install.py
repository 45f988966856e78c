"""`modelyard install`."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.clusters import DEFAULT_NAME, this_holder
from modelyard.cli.composing import Asked, Settled, composing_options, settle, tell_not_selected
from modelyard.cli.local_options import LocalOptions, local_options
from modelyard.cli.options import cache_option, cluster_options, mirror_option, recreate_option, timeout_option
from modelyard.cli.progress import printing, span
from modelyard.cli.scratch import require_scratch
from modelyard.cli.workspace import Workspace
from modelyard.errors import CatalogError
from modelyard.events import Emit, Note, discard
from modelyard.paths import data_root

if TYPE_CHECKING:
    from modelyard.apply import Rendered, Report
    from modelyard.catalog import Catalog
    from modelyard.cluster import Session
    from modelyard.images import Mirror
    from modelyard.local.platform import Result
    from modelyard.local.runtime import ClusterSpec
    from modelyard.plan.aim import Aim

EMBEDDED = "local"
KIND = "kind"


@click.command()
@composing_options("as before, else core")
@click.option("--no-overlay", is_flag=True, help="Take back the overlay that the cluster was installed with.")
@cluster_options
@timeout_option("5m")
@click.option(
    "--dry-run",
    type=click.Choice(["client", "server"]),
    help="Change nothing: say what would change (client), and have the apiserver check it (server).",
)
@click.option(
    "--force-target",
    is_flag=True,
    help="Go on where the cluster is not of the target's kind.",
)
@click.option(
    "--adopt",
    "adopted",
    multiple=True,
    metavar="OBJECT|COMPONENT",
    help="Take over what is there already: KIND/NAME, KIND/NAMESPACE/NAME or all of a component; may be repeated.",
)
@recreate_option
@mirror_option
@click.option("--no-mirror", is_flag=True, help="Take back the mirror that the cluster was installed from.")
@click.option(
    "--require-digests",
    is_flag=True,
    help="Refuse, before anything is applied, images without a digest in upstream.lock.",
)
@cache_option
@local_options
def install(
    asked: Asked,
    kubeconfig: Path | None,
    context: str | None,
    timeout: float,
    dry_run: str | None,
    force_target: bool,
    require_digests: bool,
    cache_dir: Path | None,
    local: LocalOptions,
) -> None:
    """Install the platform, or bring it up to date; run it again at any time, it goes on where it was.

    On target `local`, the default, a Kubernetes of its own is started on this machine first. Fields of the
    applied objects that somebody else has changed are taken back (server-side apply with force, field
    manager `modelyard`).

    The cluster keeps what was chosen by --target, --profile, --with, --without and --mirror: the next install
    holds to it, and changes it where it says so; the target changes with --force-target alone. A component that
    is installed and not chosen any longer stays as it is.
    """
    result: Result | None = None
    with printing() as emit:
        require_scratch()
        workspace = Workspace(cache_dir, emit)
        elsewhere = kubeconfig is not None or context is not None
        if elsewhere:
            local.refuse("--context" if context is not None else "--kubeconfig")
            asked = _as_remembered(asked, kubeconfig, context, emit)
        catalog, target = asked.open(workspace.catalog())
        embedded = catalog.base(target) == EMBEDDED and not elsewhere
        if not embedded:
            local.refuse(f"target {target}")
        else:
            if asked.mirror is not None:
                raise _nothing_to_pull(asked.mirror)
            asked = replace(asked, no_mirror=True)  # nor does one that was kept hold here
        aim = _aim(catalog, target, force=force_target)
        pulls = _ImageLoads(workspace, catalog, target, aim, local.cluster if embedded else "", require_digests)
        pulls.refuse_early(asked)
        if dry_run is not None:
            session = _session_of_preview(pulls, kubeconfig, context, local.name)
            _preview(pulls, asked, session, emit, server=dry_run == "server", force=force_target or embedded)
            return
        if embedded:
            from modelyard.local.runtime.remembered import spec_like_before

            spec = spec_like_before(
                local.cluster,
                nodes=local.nodes,
                fake_nodes=local.fake_nodes,
                fake_gpus=local.fake_gpus,
                port=local.port,
            )
            result = _embedded(pulls, asked, spec, timeout, emit, smoke=local.smoke)
        else:
            if catalog.base(target) == KIND and kubeconfig is None and context is None:
                context = _kind_context(pulls, asked, emit)
            report = _existing(pulls, asked, kubeconfig, context, timeout, emit, force=force_target)
    if result is not None:
        _tell_embedded(result, local.smoke)
    else:
        _tell(report, kubeconfig, context)


def _as_remembered(asked: Asked, kubeconfig: Path | None, context: str | None, emit: Emit) -> Asked:
    """Return what is asked for with a target: the one that the cluster was installed for, where none is named."""
    from modelyard.apply import remembered_target
    from modelyard.cluster import connect

    if asked.target is not None or asked.overlay is not None:
        return asked
    target = remembered_target(connect(kubeconfig, context))
    emit(Note(f"target {target}, as before"))
    return replace(asked, target=target)


def _aim(catalog: Catalog, target: str, *, force: bool) -> Aim:
    from modelyard.plan.aim import Aim

    below = catalog.target(target).base if catalog.overlay is not None else None
    return Aim((target, below) if below else (target,), catalog.base(target), force)


@dataclass(frozen=True, slots=True)
class _ImageLoads:
    """What is to be installed, and how its images are pulled.

    Args:
        workspace: where things are.
        catalog: the catalogue, with the overlay in it.
        target: the target's name.
        aim: the target, as the cluster's memory is compared with it.
        embedded: the embedded cluster's name; empty for any other.
        require_digests: refuse images without one.
    """

    workspace: Workspace
    catalog: Catalog
    target: str
    aim: Aim
    embedded: str
    require_digests: bool

    def refuse_early(self, asked: Asked) -> None:
        """Refuse images without digests before a cluster is looked for, where no earlier choice can matter."""
        if asked.components or asked.profile is not None:
            self._refuse_unresolved(settle(asked, self.catalog, self.target, None, discard).names)

    def settle(self, asked: Asked, session: Session | None, emit: Emit) -> Settled:
        """Return what to install, by what was chosen for the cluster before; None for one that is new.

        Raises:
            CatalogError: digests are required, and an image of it has none.
            RefusalError: the cluster was installed for another target, or is no place for this one; or what is there
                instead of a component that is left out lacks something of it.
        """
        from modelyard.apply import read_choice, refuse_other_target
        from modelyard.apply.provided import provided

        def there(names: Sequence[str]) -> Collection[str]:
            if session is None:
                return ()
            return provided(session, self.workspace.renderer().objects(self.catalog, self.target, names))

        if session is not None:
            refuse_other_target(session, self.aim, embedded=self.embedded)
        before = read_choice(session) if session is not None else None
        settled = settle(asked, self.catalog, self.target, before, emit, there)
        self._refuse_unresolved(settled.names)
        return replace(settled, choice=replace(settled.choice, target=self.aim.names[-1]))

    def _refuse_unresolved(self, names: Sequence[str]) -> None:
        if self.require_digests:
            from modelyard.lock.digests import refuse_unresolved
            from modelyard.lock.uses import images_of

            rendered = self.workspace.renderer().objects(self.catalog, self.target, names)
            refuse_unresolved(images_of(self.catalog, rendered))

    def rendered(self, settled: Settled, session: Session) -> tuple[Rendered, ...]:
        """Render components to fit a cluster, with their images pinned and mirrored."""
        from modelyard.images.mirror import mirror_named
        from modelyard.local.sizing import render_to_fit
        from modelyard.render.rewritten import rewriting_for

        mirror = mirror_named(settled.choice.mirror) if settled.choice.mirror else None
        rewriting = rewriting_for(self.catalog, self.target, mirror)
        catalog, target, renderer = self.catalog, self.target, self.workspace.renderer()
        return render_to_fit(
            catalog,
            target,
            settled.names,
            session,
            lambda wanted, values: renderer.objects(catalog, target, wanted, values, rewriting),
        )


def _nothing_to_pull(mirror: Mirror) -> CatalogError:
    return CatalogError(
        f"mirror {mirror}",
        f"target {EMBEDDED} pulls nothing, so there is nothing to mirror: it builds its images under upstream's names",
        "leave --mirror out, or name a cluster that pulls: --target kind, --context NAME",
    )


def _embedded(
    pulls: _ImageLoads,
    asked: Asked,
    spec: ClusterSpec,
    timeout: float,
    emit: Emit,
    *,
    smoke: bool | None,
) -> Result:
    """Build, start, load and apply, all overlapped."""
    from modelyard import apply
    from modelyard.cluster import connect
    from modelyard.local import platform
    from modelyard.local.again import reconnect
    from modelyard.plan.adoption import Adoption

    workspace, catalog, target = pulls.workspace, pulls.catalog, pulls.target
    before = reconnect(spec, workspace.cache_dir, emit, timeout=timeout)
    settled = pulls.settle(asked, before, emit)
    request = platform.Request(
        spec=spec,
        holder=this_holder(),
        before=apply.read_choice(before) if before is not None else None,
        target=target,
        components=settled.names,
        choice=settled.choice,
        adoption=Adoption(asked.adopted),
        recreate=asked.recreate,
        cache=workspace.cache_dir,
        timeout=timeout,
        smoke=smoke,
    )
    cancelled = threading.Event()
    try:
        result = platform.install(
            catalog,
            request,
            render=lambda wanted, values: workspace.renderer().objects(catalog, target, wanted, values),
            emit=emit,
            cancelled=cancelled,
        )
    except BaseException:
        cancelled.set()
        raise
    tell_not_selected(connect(result.cluster.kubeconfig), settled, emit)
    return result


def _existing(
    pulls: _ImageLoads,
    asked: Asked,
    kubeconfig: Path | None,
    context: str | None,
    timeout: float,
    emit: Emit,
    *,
    force: bool,
) -> Report:
    """Install on a cluster that is there, if it is of the target's kind or `force` is set."""
    from modelyard import apply
    from modelyard.cluster import connect
    from modelyard.plan.adoption import Adoption

    session = connect(kubeconfig, context)  # before rendering: a kubeconfig that points nowhere is soon said
    cancelled = threading.Event()
    with apply.at_work(session, this_holder(), emit=emit, timeout=timeout, cancelled=cancelled) as turn:
        settled, items = _fitting(pulls, asked, session, emit, force=force)
        compared = apply.compare_all(session, items, Adoption(asked.adopted), asked.recreate)
        if turn.take():  # another was at work since that was read
            settled, items = _fitting(pulls, asked, session, emit, force=force)
            compared = apply.compare_all(session, items, Adoption(asked.adopted), asked.recreate)
        apply.keep_choice(session, settled.choice)
        report = apply.install(session, items, emit=emit, timeout=timeout, cancelled=cancelled, compared=compared)
        tell_not_selected(session, settled, emit)
    return report


def _fitting(
    pulls: _ImageLoads, asked: Asked, session: Session, emit: Emit, *, force: bool
) -> tuple[Settled, tuple[Rendered, ...]]:
    """Return what to install on a cluster that is there, once it is of the target's kind or `force` is set."""
    from modelyard import apply

    if not force:
        apply.refuse_other_platforms(session, pulls.catalog.inherited(pulls.target))
    settled = pulls.settle(asked, session, emit)
    if not force:
        apply.refuse_missing_prerequisites(session, pulls.catalog.inherited(pulls.target), settled.names)
    return settled, pulls.rendered(settled, session)


def _kind_context(pulls: _ImageLoads, asked: Asked, emit: Emit) -> str:
    """Return the context of the kind cluster, made unless it is there; what is refused is so before it is made."""
    from modelyard.cli import kind

    if not kind.is_there():
        pulls.settle(asked, None, discard)
        kind.create(emit)
    return kind.CONTEXT


def _session_of_preview(pulls: _ImageLoads, kubeconfig: Path | None, context: str | None, name: str | None) -> Session:
    """Open a session with the cluster that the install would act on; it makes none."""
    from modelyard.cli.clusters import embedded_kubeconfig
    from modelyard.cli.kind import CONTEXT
    from modelyard.cluster import connect

    if kubeconfig is None and context is None:
        base = pulls.catalog.base(pulls.target)
        if base == EMBEDDED:
            kubeconfig = embedded_kubeconfig(name or DEFAULT_NAME)
        elif base == KIND:
            context = CONTEXT
    return connect(kubeconfig, context)


def _preview(pulls: _ImageLoads, asked: Asked, session: Session, emit: Emit, *, server: bool, force: bool) -> None:
    from modelyard import apply
    from modelyard.cli.preview import show
    from modelyard.plan.adoption import Adoption

    settled, items = _fitting(pulls, asked, session, emit, force=force)
    compared = apply.compare_all(session, items, Adoption(asked.adopted), asked.recreate)
    show(apply.preview(session, items, server=server, compared=compared))
    tell_not_selected(session, settled, emit)


def _tell(report: Report, kubeconfig: Path | None, context: str | None) -> None:
    where = (f" --kubeconfig {kubeconfig}" if kubeconfig else "") + (f" --context {context}" if context else "")
    click.echo(f"{len(report.outcomes)} components ready ({span(report.seconds)})")
    click.echo(f"next: modelyard status{where}")


def _tell_embedded(result: Result, smoke: bool | None) -> None:
    from modelyard.local.supply import SMOKE_COMPONENTS

    name = result.cluster.name
    option = "" if name == DEFAULT_NAME else f" --name {name}"
    click.echo(f"{len(result.report.outcomes)} components ready ({span(result.report.seconds)})")
    if result.smoke is not None:
        click.echo(str(result.smoke))
    elif smoke is None and {outcome.component for outcome in result.report.outcomes}.issuperset(SMOKE_COMPONENTS):
        click.echo("the smoke job passed before on this platform; --smoke runs it again")
    click.echo("next:")
    if shutil.which("modelyard") is None:
        click.echo(f"  source {sys.prefix}/bin/activate")
    click.echo(f"  modelyard status{option}")
    click.echo(f"  modelyard local kubeconfig{option}")
    click.echo(f"  kubectl --context modelyard-{name} apply -f {_examples()}/smoke")


def _examples() -> Path:
    """Return the examples' folder, as short as it can be written from here."""
    folder = data_root() / "examples"
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
