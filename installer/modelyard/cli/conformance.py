"""`modelyard conformance`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from modelyard.cli.options import cluster_options, name_option
from modelyard.errors import ConformanceError, ModelyardError

# pytest's own exit codes: https://docs.pytest.org/en/stable/reference/exit-codes.html
_PASSED, _FAILED, _INTERRUPTED, _NOTHING = 0, 1, 2, 5


@click.command()
@click.option("--area", "areas", multiple=True, help="Only this area; may be repeated.  [default: all]")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write a JUnit report to this file.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML report to this file.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Tests at once; >1: pytest-xdist."
)
@click.option("--patience", type=float, help="Wait for nothing longer than so many seconds, whatever a test allows.")
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Add to this proof record which components the passed tests prove. In a clone only.",
)
@click.option("-k", "--select", help="Only tests whose names match, as pytest's -k.")
@cluster_options
@name_option
@click.pass_context
def conformance(
    ctx: click.Context,
    areas: tuple[str, ...],
    junit: Path | None,
    html: Path | None,
    jobs: int,
    patience: float | None,
    record: Path | None,
    select: str | None,
    kubeconfig: Path | None,
    context: str | None,
    name: str | None,
) -> None:
    """Prove the platform: real jobs on a real cluster, and their results.

    Exit codes: 0 all passed, 1 a test failed, 2 the suite could not run.
    """
    from modelyard.paths import data_root

    suite = data_root() / "conformance"
    arguments = [
        *_chosen(suite, areas),
        *_cluster(kubeconfig, context, name),
        *(["-k", select] if select else []),
        *_record(record, select),
        *(["--patience", str(patience)] if patience is not None else []),
        *(["--junitxml", str(junit.absolute())] if junit else []),
        *_plugins(html, jobs),
    ]
    ctx.exit(_verdict(_run(suite, arguments)))


def _record(record: Path | None, select: str | None) -> list[str]:
    """Return the option that records; some cases of a test alone are no proof."""
    if record is not None and select:
        raise click.UsageError("--record takes whole areas: leave -k out")
    return ["--record", str(record.absolute())] if record else []


def areas_of(suite: Path) -> list[str]:
    """Return the areas: the folders of the suite that hold tests."""
    return sorted(folder.name for folder in suite.iterdir() if any(folder.glob("test_*.py")))


def _chosen(suite: Path, areas: Sequence[str]) -> list[str]:
    known = areas_of(suite) if suite.is_dir() else []
    if not known:
        raise ConformanceError(
            f"suite {suite}", "holds no tests", "install modelyard's wheel anew, or set MODELYARD_ROOT"
        )
    for area in areas:
        if area not in known:
            raise _unknown(area, known)
    return [str(suite / area) for area in areas or known]


def _unknown(area: str, known: Sequence[str]) -> ConformanceError:
    from modelyard.catalog.names import nearest

    return ConformanceError(
        f"area {area}",
        f"is not in the suite{nearest(area, known)}; there is: {', '.join(known)}",
        "use one of the areas above",
    )


def _cluster(kubeconfig: Path | None, context: str | None, name: str | None) -> list[str]:
    """Return the options that name the cluster, once something answers there."""
    from modelyard.cli.clusters import embedded_kubeconfig
    from modelyard.cluster import connect

    try:
        if kubeconfig is None and context is None:
            kubeconfig = embedded_kubeconfig(name)
        connect(kubeconfig, context)
    except ModelyardError as error:
        raise ConformanceError(error.subject, error.cause, error.remedy) from error
    return [
        *(["--kubeconfig", str(kubeconfig.absolute())] if kubeconfig else []),
        *(["--context", context] if context else []),
    ]


def _plugins(html: Path | None, jobs: int) -> list[str]:
    """Return the options of plugins: they are named here, as none is loaded by itself."""
    chosen = []
    if html:
        chosen += ["-p", "pytest_metadata.plugin", "-p", "pytest_html.plugin"]
        chosen += ["--html", str(html.absolute()), "--self-contained-html"]
    if jobs > 1:
        if find_spec("xdist") is None:
            raise ConformanceError("--jobs", "needs pytest-xdist", "pip install pytest-xdist, or leave --jobs out")
        chosen += ["-p", "xdist.plugin", "-n", str(jobs), "--dist", "worksteal"]
    return chosen


def _run(suite: Path, arguments: Sequence[str]) -> int:
    """Run pytest in a process of its own, so that the caller's plugins and settings do not matter."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PYTHONSAFEPATH"] = "1"  # as -P, for the workers too: the folder one stands in holds no modules
    command = [sys.executable, "-P", "-m", "pytest", "-c", str(suite / "pytest.ini"), "--rootdir", str(suite)]
    shown = ["--no-header", "-v", "--tb=short", "--durations=0", "--durations-min=1"]
    # In a group of its own, as Ctrl-C must reach it exactly once: a second one would break off its cleaning up.
    child = subprocess.Popen([*command, *shown, *arguments], env=environment, stdin=subprocess.DEVNULL, process_group=0)
    try:
        return child.wait()
    except KeyboardInterrupt:
        os.killpg(child.pid, signal.SIGINT)
        child.wait()
        raise


def _verdict(code: int) -> int:
    if code in (_PASSED, _FAILED):
        return code
    cause = {
        _NOTHING: "ran no test",
        _INTERRUPTED: "stopped before its end",
    }.get(code, f"did not run: pytest ended with {code}")
    raise ConformanceError("the conformance suite", cause, "fix what is listed above; `modelyard conformance --help`")
