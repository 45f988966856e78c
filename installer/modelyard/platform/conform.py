"""Prove the platform by its conformance suite, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from modelyard.errors import ConformanceError, ModelyardError, OptionError
from modelyard.paths import data_root
from modelyard.platform.where import Where

# pytest's own exit codes: https://docs.pytest.org/en/stable/reference/exit-codes.html
_PASSED, _FAILED, _INTERRUPTED, _NOTHING = 0, 1, 2, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to prove, where, and what to write about it.

    Args:
        where: the cluster.
        areas: these alone; none: all.
        select: only tests whose names match, as pytest's -k.
        jobs: tests at once.
        patience: wait for nothing longer than so many seconds.
        junit: file for a JUnit report.
        html: file for an HTML report.
        record: proof record to add to.
    """

    where: Where
    areas: tuple[str, ...] = ()
    select: str | None = None
    jobs: int = 1
    patience: float | None = None
    junit: Path | None = None
    html: Path | None = None
    record: Path | None = None


def conform(request: Request) -> int:
    """Run the suite; return 0 where all passed, 1 where a test failed.

    Raises:
        ConformanceError: the suite could not run.
        OptionError: options contradict each other.
    """
    suite = data_root() / "conformance"
    arguments = [
        *_chosen(suite, request.areas),
        *_cluster(request.where),
        *(["-k", request.select] if request.select else []),
        *_record(request),
        *(["--patience", str(request.patience)] if request.patience is not None else []),
        *(["--junitxml", str(request.junit.absolute())] if request.junit else []),
        *_plugins(request.html, request.jobs),
    ]
    return _verdict(_run(suite, arguments))


def _record(request: Request) -> list[str]:
    """Return the option that records; some cases of a test alone are no proof."""
    if request.record is not None and request.select:
        raise OptionError("--record", "takes whole areas: leave -k out")
    return ["--record", str(request.record.absolute())] if request.record else []


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


def _cluster(where: Where) -> list[str]:
    """Return the options that name the cluster, once something answers there."""
    try:
        where.open()
        found = where.found()
    except ModelyardError as error:
        raise ConformanceError(error.subject, error.cause, error.remedy) from error
    return [
        *(["--kubeconfig", str(found.kubeconfig.absolute())] if found.kubeconfig else []),
        *(["--context", found.context] if found.context else []),
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
