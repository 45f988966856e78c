"""`modelyard local`: the embedded cluster's commands."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.options import Duration, Size, cache_option, output_option, timeout_option
from modelyard.cli.progress import printing
from modelyard.errors import ModelyardError
from modelyard.platform.scratch import require_scratch

if TYPE_CHECKING:
    from modelyard.local.lifecycle.report import ClusterStatus

_DEFAULT_NAME = "modelyard"  # spec.DEFAULT_NAME; not imported, as `--help` is to be quick
_name = click.option(
    "--name",
    default=_DEFAULT_NAME,
    envvar="MODELYARD_NAME",
    show_default=True,
    show_envvar=True,
    help="Name of the cluster.",
)


@click.group(name="local")
def local() -> None:
    """Run a real Kubernetes on this machine.

    It needs no Docker and no registry, and leaves nothing on the host when it ends.
    """


@local.command()
@_name
@click.option("--nodes", type=int, default=None, help="Number of nodes [as before, else 1].")
@click.option("--fake-nodes", type=int, default=None, help="Number of simulated nodes (kwok) [as before, else 0].")
@click.option("--fake-gpus", type=int, default=None, help="GPUs of each simulated node [as before, else 0].")
@click.option("--nics", type=int, default=None, help="NICs of each node beside the pod network's [as before, else 0].")
@click.option("--nic-mbit", type=int, default=None, help="Rate of each NIC in Mbit/s [as before, else 1000].")
@click.option("--port", type=int, default=None, help="Port on 127.0.0.1 [as before, else a free one].")
@timeout_option("2m")
@cache_option
@click.option(
    "--fsync/--no-fsync", default=True, show_default=True, help="--no-fsync: quicker, but a power cut may lose data."
)
@output_option
def up(
    name: str,
    nodes: int | None,
    fake_nodes: int | None,
    fake_gpus: int | None,
    nics: int | None,
    nic_mbit: int | None,
    port: int | None,
    timeout: float,
    cache_dir: Path | None,
    fsync: bool,
    output: str,
) -> None:
    """Bring a cluster up, or back with its data."""
    from modelyard.local import up as bring_up
    from modelyard.local.build.cluster_set import cluster_binaries
    from modelyard.local.build.debian import ensure_host_packages
    from modelyard.local.lifecycle.bring_up import fit_host
    from modelyard.local.state.remembered import Shape, spec_like_before
    from modelyard.paths import cache_dir as default_cache

    spec = spec_like_before(name, Shape(nodes, fake_nodes, fake_gpus, nics, nic_mbit), port=port, fsync=fsync)
    require_scratch()
    started = time.monotonic()
    with printing() as emit:
        ensure_host_packages(emit)
        cache = default_cache(cache_dir)
        fit_host(name, cache)  # before minutes of compiling
        binaries, pause_image = cluster_binaries(cache, emit)
        info = bring_up(spec, binaries, pause_image, emit, timeout=timeout)
    if output == "json":
        document = {"name": info.name, "port": info.port, "kubeconfig": str(info.kubeconfig)}
        click.echo(json.dumps({**document, "supervisor": {"pid": info.supervisor_pid}}))
        return
    state = "was up already" if info.already_up else f"is up after {time.monotonic() - started:.1f} s"
    click.echo(f"cluster {info.name} {state}: https://127.0.0.1:{info.port}")
    click.echo(f"next: modelyard local kubeconfig{_name_option(name)}")


@local.command()
@_name
@click.option("--all", "all_clusters", is_flag=True, help="End every cluster.")
@click.option("--delete", is_flag=True, help="Remove its data too (etcd, images, keys) and its kubeconfig context.")
def down(name: str, all_clusters: bool, delete: bool) -> None:
    """End a cluster; its data stays.

    With --delete its data goes too.
    """
    from modelyard.local.state.layout import half_made, is_cluster, layout, names

    chosen = [name]
    if all_clusters:  # what an interrupted `up` left does not run: there is only something to delete
        recorded = [each for each in names() if is_cluster(layout(each).root)]
        chosen = recorded + (half_made() if delete else [])
    failures: dict[str, ModelyardError] = {}  # by their text: one broken kubeconfig is told once
    for each in chosen:
        try:
            _down_one(each, delete=delete)
        except ModelyardError as error:  # the other clusters are ended all the same
            failures[str(error)] = error
    for text in list(failures)[:-1]:
        click.echo(f"error: {text}", err=True)
    if failures:
        raise list(failures.values())[-1]


def _down_one(name: str, *, delete: bool) -> None:
    from modelyard.local import down as bring_down
    from modelyard.local.lifecycle.merge import forget_kubeconfig, target_file

    result = bring_down(name, delete=delete)
    if not result.cleanly:
        click.echo(f"warning: the supervisor of {name} had to be killed", err=True)
    if delete:
        click.echo(f"cluster {name} is deleted")  # it is, whatever comes of the kubeconfig
        forget_kubeconfig(name, target_file())
        return
    click.echo(f"cluster {name} is down" if result.was_running else f"cluster {name} was down already")
    click.echo(f"next: modelyard local up{_name_option(name)}  (it comes back with its data)")


@local.command()
@_name
@click.option("--all", "all_clusters", is_flag=True, help="Show every cluster.")
@output_option
@click.pass_context
def status(context: click.Context, name: str, all_clusters: bool, output: str) -> None:
    """Show nodes and components; exit code 0 if all is well."""
    from modelyard.local.lifecycle.report import status as read_status
    from modelyard.local.lifecycle.report import status_of_all

    found = status_of_all() if all_clusters else [read_status(name)]
    if output == "json":
        documents = [each.to_json() for each in found]
        click.echo(json.dumps({"clusters": documents} if all_clusters else documents[0], indent=2))
    elif not found:
        click.echo("there is no cluster\nnext: modelyard local up")
    else:
        click.echo("\n\n".join(_status_text(each) for each in found))
    context.exit(0 if found and all(each.ready for each in found) else 1)


@local.command()
@_name
@click.argument("component", default="")
@click.option("--tail", "lines", type=int, default=20, show_default=True, help="Number of last lines.")
@click.option("--previous", is_flag=True, help="The log before the last rotation.")
def logs(name: str, component: str, lines: int, previous: bool) -> None:
    """Show the end of a component's log.

    Without COMPONENT: of the supervisor's, and of every component's that was restarted.
    """
    from modelyard.local.lifecycle.log_reader import choose_logs
    from modelyard.local.state.logs import tail

    chosen = choose_logs(name, component, previous=previous)
    for title, path in chosen:
        if len(chosen) > 1:
            click.echo(f"==> {title} <==")
        for line in tail(path, lines):
            click.echo(line)


@local.command()
@_name
@click.option("--print", "show", is_flag=True, help="Print it instead of merging it.")
@click.option("--kubeconfig", "target", type=click.Path(path_type=Path), default=None, help="File to merge into.")
def kubeconfig(name: str, show: bool, target: Path | None) -> None:
    """Merge its context into your kubeconfig.

    It becomes the current one.
    """
    from modelyard.local.lifecycle.merge import kubeconfig_text, merge_kubeconfig, target_file

    if show:
        click.echo(kubeconfig_text(name), nl=False)
        return
    file = target_file(target)
    context = merge_kubeconfig(name, file)
    click.echo(f"context {context} is current in {file}")
    click.echo("next: kubectl get nodes")


@local.command(name="exec", context_settings={"ignore_unknown_options": True})
@_name
@click.option("--node", default=None, help="Node to run it on [the control plane's namespaces].")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def exec_command(context: click.Context, name: str, node: str | None, command: tuple[str, ...]) -> None:
    """Run a command inside the cluster.

    On a node `ctr` is there. Put -- before a COMMAND that has options.
    """
    from modelyard.local import exec_in

    context.exit(exec_in(name, node, command).returncode % 256)


@local.command(name="load-image")
@_name
@click.argument("tars", nargs=-1, required=True, type=click.Path(path_type=Path))
def load_image(name: str, tars: tuple[Path, ...]) -> None:
    """Load OCI image tars into every node."""
    from modelyard.local import load_image as load

    for tar in tars:
        nodes = load(name, tar)
        click.echo(f"{tar.name} is on {', '.join(nodes)}")


def _status_text(status: ClusterStatus) -> str:
    lines = [f"cluster {status.name}: " + ("ready" if status.ready else f"not ready: {status.reason}")]
    if not status.running:
        return "\n".join([*lines, f"next: modelyard local up{_name_option(status.name)}"])
    lines.append(f"  https://127.0.0.1:{status.port}  supervisor {status.supervisor_pid}")
    for node in status.nodes:
        kind = " (simulated)" if node.simulated else ""
        lines.append(f"  node {node.name}{kind}: " + ("Ready" if node.ready else node.reason))
        own = [f"{nic.name} {'up' if nic.up else nic.reason}" for nic in status.nics if nic.node == node.name]
        lines += [f"    NICs: {', '.join(own)}"] if own else []
    width = max((len(part.name) for part in status.components), default=0)
    for part in status.components:
        text = f"  {part.name:<{width}}  {part.state:<8}  pid {part.pid or '-':<8} {part.rss_bytes >> 20:>5} MiB"
        text += f"  restarts {part.restarts}"
        lines.append(text + (f", last {part.last_exit}" if part.restarts or not part.healthy else ""))
    return "\n".join(lines)


@local.command()
@click.option("--older-than", "max_age", type=Duration(), help="What was not used for so long (30d, 12h).")
@click.option("--max-size", type=Size(), help="The least recently used, until so much is left (20G).")
@click.option("--all", "everything", is_flag=True, help="All that no running cluster uses, and Go's caches.")
@cache_option
def prune(max_age: float | None, max_size: int | None, everything: bool, cache_dir: Path | None) -> None:
    """Free space: remove built binaries and images from the cache.

    What a running cluster uses stays. What is removed is built again when it is needed.
    """
    from modelyard.local.build import prune as pruning
    from modelyard.local.build.store import Store
    from modelyard.local.state.in_use import files_in_use
    from modelyard.paths import cache_dir as default_cache

    if not everything and max_age is None and max_size is None:
        raise click.UsageError("say what may go: --older-than 30d, --max-size 20G, or --all")
    folder = default_cache(cache_dir)
    limits = pruning.Limits(0 if everything else max_age, 0 if everything else max_size)
    store = Store(folder / "store")
    protected = pruning.holding(store.entries(), files_in_use())
    done = pruning.prune(store, limits, now=time.time(), protected=protected)
    go = pruning.prune_go_caches(folder) if everything else 0
    freed = done.freed + (go or 0)
    click.echo(f"{len(done.entries)} entries and {done.scratch} unfinished builds removed, {freed / 1e9:.1f} GB freed")
    if done.in_use or go is None:
        also = " and Go's caches" if go is None else ""
        click.echo(f"{len(done.in_use)} entries{also} are in use by another modelyard command, and stay", err=True)


def _name_option(name: str) -> str:
    return "" if name == _DEFAULT_NAME else f" --name {name}"
