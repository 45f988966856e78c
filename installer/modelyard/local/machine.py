"""Which processors the embedded cluster knows, by the names that the kernel, Go and images have for them."""

from __future__ import annotations

import platform

from modelyard.errors import BuildError

_GO = {"x86_64": "amd64", "aarch64": "arm64"}


def architecture(machine: str | None = None) -> str:
    """Return this machine's architecture as Go and images name it ("amd64").

    Args:
        machine: the kernel's name; None for this machine's.

    Raises:
        BuildError: no name for it is known here.
    """
    name = machine or platform.machine()
    if name not in _GO:
        raise BuildError(f"architecture {name}", "is not known here", f"use a machine with {' or '.join(_GO)}")
    return _GO[name]


def require_x86(what: str, machine: str | None = None) -> None:
    """Refuse what is made of machine code for x86-64 on another machine.

    Raises:
        BuildError: this machine is another one.
    """
    if (name := machine or platform.machine()) != "x86_64":
        raise BuildError(
            what,
            f"its packages are locked for x86-64, and its stubs are code for x86-64; this machine is {name}",
            "use a machine with x86-64, or leave the components out that need the image (--without)",
        )
