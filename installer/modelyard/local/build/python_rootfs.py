"""The Debian root file systems under the Python images: made once by mmdebstrap, kept by content.

Most images share one. A recipe that names Debian packages of its own has another, with those beside the shared one's.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

from modelyard.errors import BuildError
from modelyard.local.build.failing import require
from modelyard.local.build.python_recipe import ROOTFS_FILE, Rootfs, load_rootfs
from modelyard.local.build.store import Store, digest
from modelyard.programs import Children, run

_UNPACK_SECONDS = 900.0
_FORMAT = "2"  # raise when the way in which the layer is made changes what is in it
# Made anew on each machine, or of no use in a container; an image's own /dev is the container runtime's.
_EMPTIED = ("dev", "var/cache", "var/log", "var/lib/apt", "etc/apt")
_LEFT_OUT = ("etc/machine-id", "etc/resolv.conf", "etc/hostname")
_SECRETS = ("etc/ssh/ssh_host_",)  # openssh-server makes keys when it is installed: an image must not carry one
_DROPPED = (*(f"{folder}/" for folder in _EMPTIED), *_SECRETS)
# Under SOURCE_DATE_EPOCH Python's modules are compiled with a hash of their source that each import checks again;
# nothing changes them in a layer. compileall ends with 1 where a file is no valid Python (the library has such tests).
_COMPILE = (
    'chroot "$1" python3 -m compileall -q -q -f --invalidation-mode unchecked-hash /usr/lib/python3* || test $? = 1'
)


def rootfs_fingerprint(more: Sequence[str] = ()) -> str:
    """Return a hash over all that decides the root file system, but what Debian has published since.

    Args:
        more: Debian packages beside those of rootfs.yaml.
    """
    return digest(_FORMAT, ROOTFS_FILE.read_bytes(), *more)


def rootfs_layer(store: Store, children: Children, more: Sequence[str] = ()) -> Path:
    """Return the layer's tar, uncompressed; made if the store has none.

    Args:
        store: where it is kept.
        children: runs mmdebstrap.
        more: Debian packages beside those of rootfs.yaml.

    Raises:
        BuildError: mmdebstrap refused.
    """
    return store.get("rootfs", rootfs_fingerprint(more), lambda target: _make(load_rootfs(), more, target, children))


def unpack(layer: Path, folder: Path) -> None:
    """Unpack the layer into a folder that does not exist yet.

    Raises:
        BuildError: tar refused.
    """
    folder.mkdir()
    how = ("--no-same-owner", "--delay-directory-restore")
    done = run(["tar", "--extract", "--file", layer, "--directory", folder, *how], seconds=_UNPACK_SECONDS)
    require(done, "Debian root file system")


def installed_packages(folder: Path) -> str:
    """Return the Debian packages of an unpacked layer with their versions, sorted, as "name=version" in one line."""
    paragraphs = (folder / "var/lib/dpkg/status").read_text().strip().split("\n\n")
    facts = [dict(line.split(": ", 1) for line in text.splitlines() if ": " in line) for text in paragraphs]
    return " ".join(sorted(f"{fact['Package']}={fact['Version']}" for fact in facts))


def _make(spec: Rootfs, more: Sequence[str], target: Path, children: Children) -> None:
    raw = target.with_suffix(".raw")
    pins = "".join(f"Package: {name}\\nPin: release *\\nPin-Priority: -1\\n\\n" for name in spec.forbid)
    leave_out = [argument for path in spec.leave_out for argument in ("--dpkgopt", f"path-exclude={path}")]
    done = children.run(
        ["mmdebstrap", "--quiet", f"--variant={spec.variant}", f"--include={','.join((*spec.packages, *more))}",
         "--format=tar", "--aptopt", 'APT::Install-Recommends "false"', "--aptopt", 'Acquire::Retries "3"',
         "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
         "--dpkgopt", "force-unsafe-io",  # nothing of it has to outlive a power cut
         f"--setup-hook=printf '{pins}' > \"$1/etc/apt/preferences.d/forbidden\"",
         f"--customize-hook={_COMPILE}",
         *leave_out, spec.suite, raw],
        env=os.environ | {"SOURCE_DATE_EPOCH": "0", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    if done.problem:
        reasons = [line for line in done.stderr.strip().splitlines() if line.startswith(("E:", "dpkg: error"))]
        raise BuildError(
            f"Debian root file system {spec.suite}",
            reasons[0] if reasons else done.stderr.strip()[-500:] or done.problem,
            "apt-get update, then run the same command again",
        )
    _normalise(raw, target)
    raw.unlink()


def _normalise(raw: Path, target: Path) -> None:
    """Copy the archive without what differs from machine to machine: times, and the files that no image needs."""
    with tarfile.open(raw) as source, tarfile.open(target, "w") as layer:
        entries = {entry.name.removeprefix("./"): entry for entry in source}
        for name in sorted(entries):
            entry = entries[name]
            if not name or name.startswith(_DROPPED) or name in _LEFT_OUT:
                continue
            stream = source.extractfile(entry) if entry.isreg() else None
            entry.name, entry.mtime, entry.uname, entry.gname, entry.pax_headers = name, 0, "", "", {}
            if entry.islnk():
                entry.linkname = entry.linkname.removeprefix("./")
            layer.addfile(entry, stream)
