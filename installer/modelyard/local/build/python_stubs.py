"""Complete a folder of libraries: a stub for each library that they link and that is not there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from modelyard.errors import BuildError
from modelyard.local.build.python_elf import Library, Need, is_elf, read_library
from modelyard.local.build.python_stub import write_stub

_SYSTEM = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64")


def complete(folder: Path, packages: Path, rootfs: Path, variables: Collection[str] = ()) -> dict[str, int]:
    """Write stubs into `folder`; return how many symbols each has, by the stub's name.

    Args:
        folder: the libraries to complete.
        packages: where the Python packages are; libraries found anywhere under it are there.
        rootfs: the image's root, with its system libraries and its Python.
        variables: functions that return a reference to a variable (`write_stub`).
    """
    libraries = [read_library(path) for path in _elf_files(folder)]
    present = {path.name: path for path in _present(packages, rootfs)}
    linked = {name for library in libraries for name in library.libraries}
    # Python itself: what a Python module takes of it has no version either.
    programs = [rootfs / "usr/bin/python3", *(present[name] for name in sorted(linked & present.keys()))]
    others = [read_library(path.resolve()) for path in programs]
    symbols = assign(libraries, others, missing_libraries(libraries, present))
    for name, needs in symbols.items():
        (folder / name).unlink(missing_ok=True)  # a link into a package cache must not be written through
        (folder / name).write_bytes(write_stub(name, needs, variables))
    return {name: len(needs) for name, needs in symbols.items()}


def check_links(packages: Path, gone: Iterable[str], stubs: Collection[str] = ()) -> None:
    """See that no library links one that was left out.

    Args:
        packages: where the Python packages are.
        gone: file names of the libraries that were left out.
        stubs: file names of the stubs; they link nothing (and have no section table that would say so).

    Raises:
        BuildError: one does; the image would fail at some import.
    """
    files = sorted(p for p in packages.rglob("*.so*") if p.is_file() and not p.is_symlink() and is_elf(p))
    absent = set(gone) - {path.name for path in files}
    for path in files if absent else []:
        if path.name in stubs:
            continue
        if lost := absent.intersection(read_library(path).libraries):
            raise BuildError(
                f"library {path.relative_to(packages)}",
                f"it needs {', '.join(sorted(lost))}, which the recipe leaves out",
                "narrow `exclude` in recipe.yaml, or name the folder under `stubs`",
            )


def missing_libraries(libraries: Iterable[Library], present: Iterable[str]) -> tuple[str, ...]:
    """Return the names that `libraries` link and that are not `present`, in the order in which they are linked."""
    known = set(present)
    return tuple(dict.fromkeys(name for library in libraries for name in library.libraries if name not in known))


def assign(
    libraries: Iterable[Library], others: Iterable[Library], missing: Iterable[str]
) -> Mapping[str, tuple[Need, ...]]:
    """Return which symbols each missing library must have.

    A symbol with a version names its library. One without can come from any: what nobody defines goes to the
    first missing library that its user links.
    """
    users = list(libraries)
    defined = frozenset().union(*(library.defined for library in [*users, *others]))
    stubs: dict[str, dict[str, Need]] = {name: {} for name in missing}
    for library in users:
        fallback = next((name for name in library.libraries if name in stubs), None)
        for need in library.needs:
            home = need.provider or (fallback if need.name not in defined else None)
            if home in stubs:
                stubs[home].setdefault(need.name, need)
    return {name: tuple(needs.values()) for name, needs in stubs.items()}


def _elf_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*.so*") if p.is_file() and not p.is_symlink() and is_elf(p))


def _present(packages: Path, rootfs: Path) -> Iterable[Path]:
    for folder in _SYSTEM:
        yield from sorted((rootfs / folder).glob("*.so*"))
    yield from sorted(packages.rglob("*.so*"))
