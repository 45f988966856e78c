"""Stub libraries: a loader takes them, have the names that others need, and a call ends the process and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from modelyard.errors import BuildError
from modelyard.local.build.python_elf import Library, Need, is_elf, read_library
from modelyard.local.build.python_stub import EXIT_CODE, write_stub
from modelyard.local.build.python_stubs import assign, check_links, missing_libraries

SYMBOLS = [
    Need("gpu_call", is_object=False),
    Need("versioned_call", is_object=False, version="libgpu.so.9", provider="libgpu.so.9"),
    Need("hook", is_object=False),
    Need("_ZTIN3gpu6DeviceE", is_object=True),
    Need("_ZTVN3gpu6DeviceE", is_object=True),
    Need("plain_data", is_object=True),
]


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    path = tmp_path / "libgpu.so.9"
    path.write_bytes(write_stub("libgpu.so.9", SYMBOLS, ["hook"]))
    return path


def run(stub: Path, program: str) -> subprocess.CompletedProcess[str]:
    head = f"import ctypes\nlib = ctypes.CDLL({str(stub)!r}, mode=ctypes.RTLD_GLOBAL)\n"
    return subprocess.run([sys.executable, "-c", head + program], capture_output=True, text=True, check=False)


def test_a_loader_takes_it_and_finds_every_symbol(stub: Path) -> None:
    names = [symbol.name for symbol in SYMBOLS]
    done = run(stub, f"print([hasattr(lib, name) for name in {names!r}], hasattr(lib, 'other'))")
    assert done.stdout == f"{[True] * len(SYMBOLS)} False\n", done.stderr


@pytest.mark.parametrize("name", ["gpu_call", "versioned_call"])
def test_a_call_names_the_function_and_ends_the_process(stub: Path, name: str) -> None:
    done = run(stub, f"lib.{name}()\nprint('went on')")
    assert done.returncode == EXIT_CODE
    assert done.stderr.rstrip().endswith(f"was called: {name}")
    assert done.stdout == ""


def test_a_slot_of_a_table_of_functions_names_the_table(stub: Path) -> None:
    table = "(ctypes.c_void_p * 64).in_dll(lib, '_ZTVN3gpu6DeviceE')"
    done = run(stub, f"ctypes.CFUNCTYPE(None)({table}[5])()")
    assert done.returncode == EXIT_CODE
    assert done.stderr.rstrip().endswith("_ZTVN3gpu6DeviceE")


def test_type_information_has_its_name_and_its_class(stub: Path) -> None:
    program = "info = (ctypes.c_void_p * 2).in_dll(lib, '_ZTIN3gpu6DeviceE')\n"
    program += "print(ctypes.string_at(info[1]).decode(), bool(info[0]))"
    assert run(stub, program).stdout == "N3gpu6DeviceE True\n"


def test_a_function_that_returns_a_variable_gives_one_that_can_be_set(stub: Path) -> None:
    program = "lib.hook.restype = ctypes.POINTER(ctypes.c_uint64)\n"
    program += "lib.hook().contents.value = 7\nprint(lib.hook().contents.value)"
    assert run(stub, program).stdout == "7\n"


def test_an_empty_stub_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "libempty.so.0"
    path.write_bytes(write_stub("libempty.so.0", []))
    assert run(path, "print('loaded')").stdout == "loaded\n"


def test_the_reader_reads_what_the_interpreter_links() -> None:
    import _ctypes

    path = Path(_ctypes.__file__)
    if not is_elf(path):  # built into the interpreter
        path = Path(sys.executable).resolve()
    library = read_library(path)
    assert any(name.startswith("libc.so") for name in library.libraries)
    assert any(need.provider.startswith("libc.so") and need.version.startswith("GLIBC_") for need in library.needs)
    assert not library.defined.intersection(need.name for need in library.needs)


def user(libraries: tuple[str, ...], *needs: Need) -> Library:
    return Library("libuser.so", libraries, frozenset({"own"}), needs)


def test_a_versioned_symbol_goes_to_the_library_of_its_version() -> None:
    need = Need("cudnnGetVersion", False, "libcudnn.so.9", "libcudnn.so.9")
    found = assign([user(("libgpu.so", "libcudnn.so.9"), need)], [], ["libgpu.so", "libcudnn.so.9"])
    assert found == {"libgpu.so": (), "libcudnn.so.9": (need,)}


def test_what_nobody_defines_goes_to_the_first_missing_library() -> None:
    other = Library("libother.so", (), frozenset({"elsewhere"}), ())
    needs = (
        Need("gpu", False),
        Need("elsewhere", False),
        Need("own", False),
        Need("puts", False, "GLIBC_2", "libc.so.6"),
    )
    found = assign([user(("libc.so.6", "libgpu.so"), *needs)], [other], ["libgpu.so"])
    assert found == {"libgpu.so": (Need("gpu", False),)}


def test_missing_libraries_are_those_that_are_linked_and_absent() -> None:
    assert missing_libraries([user(("libc.so.6", "b.so", "a.so"))], ["libc.so.6"]) == ("b.so", "a.so")


def test_a_library_that_links_one_that_was_left_out_is_refused(tmp_path: Path) -> None:
    import _ctypes

    source = Path(_ctypes.__file__) if is_elf(Path(_ctypes.__file__)) else Path(sys.executable).resolve()
    (tmp_path / "user.so").write_bytes(source.read_bytes())
    linked = read_library(source).libraries[0]
    check_links(tmp_path, ["libnobody.so"])
    with pytest.raises(BuildError, match=linked):
        check_links(tmp_path, [linked])
