"""What a shared library needs of others: the dynamic symbols of an ELF file.

Source: the System V ABI, AMD64 supplement, and the GNU symbol versioning extension. Only what is read here: 64-bit,
little-endian, with section headers.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\x7fELF\x02\x01"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_NEED = struct.Struct("<HHIII")
_NEED_ENTRY = struct.Struct("<IHHII")
_SHT_DYNAMIC, _SHT_DYNSYM, _SHT_VERNEED, _SHT_VERSYM = 6, 11, 0x6FFFFFFE, 0x6FFFFFFF
_DT_NEEDED, _DT_SONAME = 1, 14
_STB_WEAK, _STT_OBJECT = 2, 1


@dataclass(frozen=True, slots=True, order=True)
class Need:
    """A symbol that a library takes from another.

    Args:
        name: mangled name.
        is_object: data rather than a function.
        version: symbol version, or empty.
        provider: soname of the library that the version belongs to, or empty.
    """

    name: str
    is_object: bool
    version: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """The dynamic side of a shared library or program: names of libraries, symbols it has, symbols it needs."""

    soname: str
    libraries: tuple[str, ...]
    defined: frozenset[str]
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    kind: int
    data: memoryview
    link: int
    info: int


def is_elf(path: Path) -> bool:
    """Tell whether the file is one that `read_library` can read."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def read_library(path: Path) -> Library:
    """Return the dynamic side of an ELF file; weak needs are left out, since nothing fails without them.

    Raises:
        ValueError: it is no dynamic ELF file of the kind that this reads.
    """
    sections = _sections(path)
    dynamic = _only(sections, _SHT_DYNAMIC, path)
    texts = sections[dynamic.link].data
    entries = list(_DYNAMIC.iter_unpack(dynamic.data))
    defined, needs = _symbols(sections, _only(sections, _SHT_DYNSYM, path))
    sonames = [_text(texts, value) for tag, value in entries if tag == _DT_SONAME]
    return Library(
        soname=sonames[0] if sonames else path.name,
        libraries=tuple(_text(texts, value) for tag, value in entries if tag == _DT_NEEDED),
        defined=frozenset(defined),
        needs=tuple(sorted(needs)),
    )


def _sections(path: Path) -> list[_Section]:
    with path.open("rb") as stream:
        data = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise ValueError(f"{path.name} is no 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    found = []
    for index in range(count):
        _, kind, _, _, start, length, link, info, _, _ = _SECTION.unpack_from(data, offset + index * size)
        found.append(_Section(kind, data[start : start + length], link, info))
    return found


def _only(sections: list[_Section], kind: int, path: Path) -> _Section:
    for section in sections:
        if section.kind == kind:
            return section
    raise ValueError(f"{path.name} has no section of type {kind:#x}: it is not dynamic")


def _symbols(sections: list[_Section], table: _Section) -> tuple[list[str], list[Need]]:
    texts = sections[table.link].data
    versions = _versions(sections)
    indices = next((section.data.cast("H") for section in sections if section.kind == _SHT_VERSYM), None)
    defined, needs = [], []
    for position, (name, info, _, section, _, _) in enumerate(_SYMBOL.iter_unpack(table.data)):
        if not name:
            continue
        if section:
            defined.append(_text(texts, name))
        elif info >> 4 != _STB_WEAK:
            index = indices[position] & 0x7FFF if indices is not None else 0
            version, provider = versions.get(index, ("", ""))
            needs.append(Need(_text(texts, name), info & 15 == _STT_OBJECT, version, provider))
    return defined, needs


def _versions(sections: list[_Section]) -> dict[int, tuple[str, str]]:
    """Return version index -> (version, soname of the library it belongs to)."""
    found = {}
    for section in sections:
        if section.kind == _SHT_VERNEED:
            texts = sections[section.link].data
            for file, entry in _version_entries(section):
                _, _, index, name, _ = entry
                found[index] = (_text(texts, name), _text(texts, file))
    return found


def _version_entries(section: _Section) -> Iterator[tuple[int, tuple[int, int, int, int, int]]]:
    position = 0
    for _ in range(section.info):
        _, count, file, first, following = _NEED.unpack_from(section.data, position)
        entry_position = position + first
        for _ in range(count):
            entry = _NEED_ENTRY.unpack_from(section.data, entry_position)
            yield file, entry
            entry_position += entry[4]
        position += following


def _text(texts: memoryview, offset: int) -> str:
    end = offset
    while texts[end]:
        end += 1
    return bytes(texts[offset:end]).decode()
