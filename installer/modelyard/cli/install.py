"""`modelyard install`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modelyard.cli.command import this_command
from modelyard.cli.composing import composing_options
from modelyard.cli.local_options import local_options
from modelyard.cli.options import cache_option, cluster_options, mirror_option, recreate_option, timeout_option
from modelyard.cli.preview import show
from modelyard.cli.progress import printing, span
from modelyard.paths import data_root
from modelyard.platform.asked import Asked
from modelyard.platform.where import DEFAULT_NAME, Where

if TYPE_CHECKING:
    from modelyard.platform.clusters.protocol import EmbeddedOptions
    from modelyard.platform.install import Installed


@click.command()
@composing_options("as before, else core")
@click.option("--no-values", is_flag=True, help="Take back the values that the cluster was installed with.")
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
    embedded: EmbeddedOptions,
) -> None:
    """Install the platform, or bring it up to date; run it again at any time, it goes on where it was.

    On target `local`, the default, a Kubernetes of its own is started on this machine first. Fields of the
    applied objects that somebody else has changed are taken back (server-side apply with force, field
    manager `modelyard`).

    The cluster keeps what was chosen by --target, --profile, --with, --without and --mirror: the next install
    holds to it, and changes it where it says so; the target changes with --force-target alone. A component that
    is installed and not chosen any longer stays as it is.
    """
    from modelyard.platform import install as platform_install

    request = platform_install.Request(
        asked=asked,
        where=Where(kubeconfig=kubeconfig, context=context),
        embedded=embedded,
        timeout=timeout,
        force_target=force_target,
        require_digests=require_digests,
        cache_dir=cache_dir,
        command=this_command(),
    )
    with printing() as emit:
        if dry_run is not None:
            show(platform_install.preview(request, emit, server=dry_run == "server"))
            return
        installed = platform_install.install(request, emit)
    if installed.embedded:
        _tell_embedded(installed, embedded.smoke)
    else:
        _tell(installed, kubeconfig, context)


def _tell(installed: Installed, kubeconfig: Path | None, context: str | None) -> None:
    where = (f" --kubeconfig {kubeconfig}" if kubeconfig else "") + (f" --context {context}" if context else "")
    _tell_ready(installed)
    click.echo(f"next: modelyard status{where}")


def _tell_ready(installed: Installed) -> None:
    click.echo(f"{len(installed.report.outcomes)} components ready ({span(installed.report.seconds)})")


def _tell_embedded(installed: Installed, smoke: bool | None) -> None:
    name = installed.embedded
    option = "" if name == DEFAULT_NAME else f" --name {name}"
    _tell_ready(installed)
    if installed.smoke is not None:
        click.echo(str(installed.smoke))
    elif smoke is None and installed.can_smoke:
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
