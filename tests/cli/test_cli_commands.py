"""The command line: what is imported, exit codes, messages, output forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelyard.cli import COMMANDS
from modelyard.cli import main as group
from modelyard.paths import data_root


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelyard", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def modules_of(*arguments: str, **environment: str) -> set[str]:
    """Return what a command imports."""
    code = (
        "import sys, runpy\nsys.argv = ['modelyard', *sys.argv[1:]]\n"
        "try: runpy.run_module('modelyard', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stderr.splitlines())


HEAVY = {"kubernetes", "pydantic", "celpy", "rich", "yaml", "cryptography"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_every_command_works(name: str) -> None:
    command = group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: modelyard " + name)


def test_help_imports_nothing_heavy() -> None:
    found = modules_of("--help")
    assert "click" in found
    assert found & HEAVY == set()


def test_a_warm_render_imports_nothing_heavy_and_prints_the_same() -> None:
    arguments = ("render", "--target", "local", "--component", "tenancy")
    first = run(*arguments)
    assert first.returncode == 0, first.stderr
    assert "kind: ClusterQueue" in first.stdout
    assert modules_of(*arguments) & HEAVY == set()
    assert run(*arguments).stdout == first.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("render", "--target", "locl"), 3, "did you mean local?"),
        (("render", "--target", "local", "--component", "kueu"), 3, "did you mean kueue?"),
        (("install", "--target", "local", "--profile", "cor"), 3, "did you mean core?"),
        (("render", "--with", "kueu"), 3, "did you mean kueue?"),
        (("render", "--without", "kueue"), 3, "cannot be left out: it is required by "),
        (("render", "--with", "lws", "--without", "lws"), 3, "is asked for by --with and ruled out by --without"),
        (("install", "--without", "kueu"), 3, "did you mean kueue?"),
        (("install", "--with", "lws", "--without", "lws"), 3, "is asked for by --with and ruled out by --without"),
        (("render", "--component", "lws", "--with", "kueue"), 2, "it goes with neither --profile, --with nor"),
        (("install", "--component", "lws", "--profile", "full"), 2, "it goes with neither --profile, --with nor"),
        (("install", "--overlay", "x", "--no-overlay"), 2, "contradict each other"),
        (("install", "--mirror", "reg.test", "--no-mirror"), 2, "contradict each other"),
        (("install", "--target", "kind", "--mirror", ""), 3, "mirror (empty): is not a valid name of a mirror"),
        (("render", "--overlay", "/nonexistent"), 3, "overlay /nonexistent: is not a folder"),
        (("install", "--kubeconfig", "/nonexistent"), 6, "kubeconfig /nonexistent: is not there"),
        (("status", "--kubeconfig", "/nonexistent"), 6, "kubeconfig /nonexistent: is not there"),
        (("status", "--name", "no-such-cluster"), 11, "cluster no-such-cluster: is not there"),
        (("install", "--timeout", "soon"), 2, "is not a duration"),
        (("install", "--target", "kind", "--nodes", "2"), 2, "--nodes: goes with an embedded cluster, not with target"),
        (("install", "--target", "openshift", "--no-smoke", "--name", "x"), 2, "--name, --no-smoke: go with an embed"),
        (("install", "--context", "x", "--fake-nodes", "2", "--fake-gpus", "8"), 2, "--fake-gpus: go with an embedded"),
        (("install", "--kubeconfig", "/nonexistent", "--port", "1"), 2, "--port: goes with an embedded cluster, not w"),
        (("instal",), 2, "No such command"),
    ],
)
def test_an_error_is_one_message_with_what_to_do_and_its_exit_code(
    arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    if code != 2:
        assert "\n  next: " in done.stderr


def test_render_tells_what_came_along_also_when_it_comes_from_the_cache() -> None:
    for _ in range(2):
        done = run("render", "--profile", "core", "--without", "lws")
        assert done.returncode == 0, done.stderr
        assert "lws-system" not in done.stdout
    arguments = ("render", "--profile", "core", "--without", "lws", "--with", "trainer")
    assert run(*arguments).stdout == done.stdout


def test_a_stack_trace_is_shown_when_asked_for() -> None:
    done = run("render", "--target", "locl", MODELYARD_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_a_malformed_component_names_file_line_and_field(tmp_path: Path) -> None:
    file = tmp_path / "manifests/cluster/x/component.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("name: x\narea: cluster\nsumary: x\n")
    (tmp_path / "upstream.lock").write_text("")
    done = run("render", "--target", "local", MODELYARD_ROOT=str(tmp_path), MODELYARD_CACHE_DIR=str(tmp_path / "c"))
    assert done.returncode == 3
    assert "manifests/cluster/x/component.yaml, line" in done.stderr


def test_target_kind_without_docker_says_so_in_one_sentence(tmp_path: Path) -> None:
    done = run("install", "--target", "kind", PATH=str(tmp_path))
    assert done.returncode == 9
    message, remedy = done.stderr.strip().splitlines()
    assert message == (
        "error: target kind: needs Docker and kind, and docker and kind cannot be found; target `local` needs neither"
    )
    assert remedy == "  next: modelyard install --target local"


def test_target_kind_with_a_docker_that_does_not_answer_says_so(tmp_path: Path) -> None:
    for name in ("docker", "kind"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'cannot connect to the daemon' >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    done = run("install", "--target", "kind", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 9
    assert "docker does not answer (cannot connect to the daemon)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--require-digests",), "and digests are required"), (("--without", "kueue"), "cannot be left out")],
)
def test_target_kind_refuses_before_it_makes_a_cluster(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    for name in ("docker", "kind"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $* >>{tmp_path}/asked\n")
        (tmp_path / name).chmod(0o755)
    done = run("install", "--target", "kind", *arguments, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert "kind get clusters" in asked
    assert not any("create" in line for line in asked)


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("local", 11, "cluster modelyard: is not there"),
        ("kind", 6, "context kind-modelyard of the default kubeconfig: cannot be used"),
        ("cloud", 6, "the default kubeconfig: cannot be used"),
    ],
)
def test_a_dry_run_is_against_the_cluster_that_would_be_installed_on(
    tmp_path: Path, target: str, code: int, said: str
) -> None:
    where = {"MODELYARD_STATE_DIR": str(tmp_path), "KUBECONFIG": str(tmp_path / "kubeconfig"), "MODELYARD_NAME": ""}
    (tmp_path / "kubeconfig").write_text("apiVersion: v1\nkind: Config\n")
    if target != "local":  # an embedded cluster that is there is none of theirs
        (tmp_path / "modelyard").mkdir()
        (tmp_path / "modelyard/kubeconfig").write_text("apiVersion: v1\nkind: Config\n")
    done = run("install", "--target", target, "--dry-run", "client", **where)
    assert done.returncode == code, done.stderr
    assert said in done.stderr


def test_doctor_tells_every_check_as_json() -> None:
    done = run("doctor", "-o", "json")
    found = json.loads(done.stdout)
    assert found["ok"] is (done.returncode == 0)
    assert found["ok"] or done.returncode == 9
    assert {"root", "CPUs", "memory"} <= {check["name"] for check in found["checks"]}
    for check in found["checks"]:
        assert check["ok"] or check["remedy"]


def test_a_reader_that_leaves_early_is_no_error_message(tmp_path: Path) -> None:
    command = f"{sys.executable} -m modelyard render --target local --component tenancy | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, cwd=data_root())
    assert done.stdout.startswith("apiVersion")
    assert "Traceback" not in done.stderr
