"""Stub libraries: shared libraries that have the names which others need, and nothing behind them.

For parts of a package that cannot run on the machine (CUDA without a GPU) and would be gigabytes. A stub's function
writes which one was called to standard error and ends the process; it is never silently a no-op.

Written as ELF directly, because a bare machine has no linker. One read-only segment (tables, strings, code) and one
writable one (dynamic section, data). Source: the System V ABI, AMD64 supplement; the Itanium C++ ABI for type
information, which pybind11 reads at import.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from modelyard.local.build.python_elf import MAGIC, Need

EXIT_CODE = 134  # as a shell reports SIGABRT
_PAGE = 0x1000
_MESSAGE = b"this image is for CPUs only, and this part of a GPU library was called: "
_CLASS_TYPE_INFO = "_ZTVN10__cxxabiv117__class_type_infoE"
_VTABLE_SLOTS = 64
_PLAIN_OBJECT = 64  # bytes of a stub object that is neither type information nor a table of functions
_RELATIVE, _ADDRESS = 8, 1  # R_X86_64_RELATIVE, R_X86_64_64
_FUNCTION, _OBJECT = 2, 1
_ENTRY = 12  # bytes of code for each function
_DYNAMIC_SIZE = 16 * 17
_VARIABLE = 64  # bytes


def write_stub(soname: str, symbols: Sequence[Need], variables: Collection[str] = ()) -> bytes:
    """Return the bytes of a shared library.

    Args:
        soname: what it is called.
        symbols: what it defines, each once.
        variables: names of those functions that return a reference to a variable, which others set when they are
            loaded; the stub has such a variable, and nothing reads it.
    """
    return _Stub(soname, sorted(symbols), frozenset(variables)).build()


@dataclass(slots=True)
class _Strings:
    data: bytearray = field(default_factory=lambda: bytearray(1))
    offsets: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        if text not in self.offsets:
            self.offsets[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.offsets[text]


class _Stub:
    """Lays the file out: addresses equal file offsets, so one pass over sizes fixes every address."""

    def __init__(self, soname: str, symbols: Sequence[Need], variables: frozenset[str]) -> None:
        self.soname, self.symbols, self.variables = soname, symbols, variables
        self.strings = _Strings()
        self.versions = sorted({symbol.version for symbol in symbols if symbol.version})
        for text in (soname, _CLASS_TYPE_INFO, "libstdc++.so.6", *self.versions, *(s.name for s in symbols)):
            self.strings.add(text)
        relocations = sum(_relocation_count(symbol) for symbol in symbols)
        count = len(symbols) + 2  # the null symbol and the class type information's table
        sizes = {
            "header": 64 + 4 * 56,
            "hash": 4 * (2 + 1 + count),
            "symbols": 24 * count,
            "strings": len(self.strings.data),
            "versym": 2 * count,
            "verdef": 28 * (1 + len(self.versions)),
            "rela": 24 * relocations,
            "text": len(_reporter(0, 0)) + len(_MESSAGE) + 1 + _ENTRY * len(symbols),
        }
        self.at: dict[str, int] = {}
        position = 0
        for name, size in sizes.items():
            self.at[name] = position = (position + 15) & ~15
            position += size
        self.code_end = position
        self.at["dynamic"] = (position + _PAGE - 1) & ~(_PAGE - 1)
        self.at["data"] = self.at["dynamic"] + _DYNAMIC_SIZE
        self.at["variable"] = self.at["data"]  # one for all: nobody reads it
        self.relocations = relocations

    def build(self) -> bytes:
        data, rela, addresses = self._data()
        dynamic = self._dynamic()
        end = self.at["data"] + len(data)
        parts = {
            "header": self._header(end),
            "hash": self._hash(),
            "symbols": self._symbols(addresses),
            "strings": bytes(self.strings.data),
            "versym": self._versym(),
            "verdef": self._verdef(),
            "rela": rela,
            "text": self._text(),
            "dynamic": dynamic,
            "data": data,
        }
        out = bytearray(end)
        for name, part in parts.items():
            out[self.at[name] : self.at[name] + len(part)] = part
        return bytes(out)

    def _trampoline(self, index: int) -> int:
        return self.at["text"] + len(_reporter(0, 0)) + len(_MESSAGE) + 1 + _ENTRY * index

    def _text(self) -> bytes:
        start = self.at["text"]
        message = start + len(_reporter(0, 0))
        code = bytearray(_reporter(start, message)) + _MESSAGE + b"\n"
        for index, symbol in enumerate(self.symbols):
            here = self._trampoline(index)
            if symbol.name in self.variables:
                code += b"\x48\x8d\x05" + struct.pack("<i", self.at["variable"] - (here + 7)) + b"\xc3"  # lea rax; ret
                code += bytes(_ENTRY - 8)
                continue
            name = self.at["strings"] + self.strings.add(symbol.name)
            code += b"\x48\x8d\x3d" + struct.pack("<i", name - (here + 7))  # lea rdi, [rip + name]
            code += b"\xe9" + struct.pack("<i", start - (here + _ENTRY))  # jmp reporter
        return bytes(code)

    def _data(self) -> tuple[bytes, bytes, list[int]]:
        data, rela, addresses = bytearray(_VARIABLE), bytearray(), []
        for index, symbol in enumerate(self.symbols):
            here = self.at["data"] + len(data)
            if not symbol.is_object:
                addresses.append(self._trampoline(index))
                continue
            addresses.append(here)
            if symbol.name.startswith("_ZTI"):
                name = self.at["strings"] + self.strings.add(symbol.name) + len("_ZTI")
                rela += struct.pack("<QQq", here, (1 << 32) | _ADDRESS, 16)
                rela += struct.pack("<QQq", here + 8, _RELATIVE, name)
                data += bytes(16)
            elif symbol.name.startswith("_ZTV"):
                for slot in range(_VTABLE_SLOTS):
                    rela += struct.pack("<QQq", here + 8 * slot, _RELATIVE, self._trampoline(index))
                data += bytes(8 * _VTABLE_SLOTS)
            else:
                data += bytes(_PLAIN_OBJECT)
        return bytes(data), bytes(rela), addresses

    def _symbols(self, addresses: Sequence[int]) -> bytes:
        table = bytearray(24)
        table += struct.pack("<IBBHQQ", self.strings.add(_CLASS_TYPE_INFO), 0x20 | _OBJECT, 0, 0, 0, 0)  # weak
        for symbol, address in zip(self.symbols, addresses, strict=True):
            kind = _OBJECT if symbol.is_object else _FUNCTION
            size = _object_size(symbol) if symbol.is_object else _ENTRY
            table += struct.pack("<IBBHQQ", self.strings.add(symbol.name), 0x10 | kind, 0, 1, address, size)
        return bytes(table)

    def _hash(self) -> bytes:
        """Return a table of one bucket: a chain over all symbols, which a loader walks in microseconds."""
        count = len(self.symbols) + 2
        return struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)

    def _versym(self) -> bytes:
        indices = {version: 2 + position for position, version in enumerate(self.versions)}
        return struct.pack(
            f"<{2 + len(self.symbols)}H", 0, 0, *(indices.get(symbol.version, 1) for symbol in self.symbols)
        )

    def _verdef(self) -> bytes:
        table = bytearray()
        names = [self.soname, *self.versions]
        for position, name in enumerate(names):
            following = 28 if position + 1 < len(names) else 0
            table += struct.pack("<HHHHIII", 1, int(position == 0), position + 1, 1, _elf_hash(name), 20, following)
            table += struct.pack("<II", self.strings.add(name), 0)
        return bytes(table)

    def _dynamic(self) -> bytes:
        typed = any(symbol.is_object and symbol.name.startswith("_ZTI") for symbol in self.symbols)
        entries = [
            *([(1, self.strings.add("libstdc++.so.6"))] if typed else []),  # DT_NEEDED
            (14, self.strings.add(self.soname)),  # DT_SONAME
            (4, self.at["hash"]),  # DT_HASH
            (5, self.at["strings"]),  # DT_STRTAB
            (6, self.at["symbols"]),  # DT_SYMTAB
            (10, len(self.strings.data)),  # DT_STRSZ
            (11, 24),  # DT_SYMENT
            (0x6FFFFFF0, self.at["versym"]),  # DT_VERSYM
            (0x6FFFFFFC, self.at["verdef"]),  # DT_VERDEF
            (0x6FFFFFFD, 1 + len(self.versions)),  # DT_VERDEFNUM
            *([(7, self.at["rela"]), (8, 24 * self.relocations), (9, 24)] if self.relocations else []),  # DT_RELA*
            (0, 0),
        ]
        return b"".join(struct.pack("<QQ", tag, value) for tag, value in entries)

    def _header(self, end: int) -> bytes:
        writable = self.at["dynamic"]
        header = MAGIC + b"\x01" + bytes(9)
        header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 64, 0, 0)
        segments = [
            (1, 5, 0, self.code_end, _PAGE),  # PT_LOAD, read and execute
            (1, 6, writable, end - writable, _PAGE),  # PT_LOAD, read and write
            (2, 6, writable, _DYNAMIC_SIZE, 8),  # PT_DYNAMIC
            (0x6474E551, 6, 0, 0, 16),  # PT_GNU_STACK: not executable
        ]
        for kind, flags, start, size, align in segments:
            header += struct.pack("<IIQQQQQQ", kind, flags, start, start, start, size, size, align)
        return header


def _reporter(start: int, message: int) -> bytes:
    """Return the code at `start` that writes the message at `message` and the text in rdi, and ends the process."""
    code = b"\x57"  # push rdi
    code += b"\xb8\x01\0\0\0\xbf\x02\0\0\0"  # mov eax, 1 (write); mov edi, 2
    code += b"\x48\x8d\x35" + struct.pack("<i", message - (start + len(code) + 7))  # lea rsi, [rip + message]
    code += b"\xba" + struct.pack("<I", len(_MESSAGE)) + b"\x0f\x05"  # mov edx, length; syscall
    code += b"\x5e\x31\xd2"  # pop rsi; xor edx, edx
    code += b"\x80\x3c\x16\0\x74\x04\xff\xc2\xeb\xf6"  # while byte [rsi + rdx]: inc edx
    code += b"\xb8\x01\0\0\0\xbf\x02\0\0\0\x0f\x05"  # write the name
    newline = message + len(_MESSAGE)
    code += b"\x48\x8d\x35" + struct.pack("<i", newline - (start + len(code) + 7))
    code += b"\xba\x01\0\0\0\xb8\x01\0\0\0\xbf\x02\0\0\0\x0f\x05"  # write the newline
    code += b"\xbf" + struct.pack("<I", EXIT_CODE) + b"\xb8\xe7\0\0\0\x0f\x05"  # exit_group(EXIT_CODE)
    return code


def _relocation_count(symbol: Need) -> int:
    if not symbol.is_object:
        return 0
    return {"_ZTI": 2, "_ZTV": _VTABLE_SLOTS}.get(symbol.name[:4], 0)


def _object_size(symbol: Need) -> int:
    return {"_ZTI": 16, "_ZTV": 8 * _VTABLE_SLOTS}.get(symbol.name[:4], _PLAIN_OBJECT)


def _elf_hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value
