"""Python images: a Debian root file system as one shared layer, a recipe's locked packages as a second."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from modelyard.events import Emit, StepProgress
from modelyard.local.build import python_packages as packages
from modelyard.local.build.oci import ImageConfig, write_image
from modelyard.local.build.python_layer import LayerWriter
from modelyard.local.build.python_recipe import RECIPES, Recipe, folder_digest, load_recipe, lock_file
from modelyard.local.build.python_rootfs import installed_packages, rootfs_fingerprint, rootfs_layer, unpack
from modelyard.local.build.python_stubs import check_links, complete
from modelyard.local.build.store import Store, digest
from modelyard.local.machine import require_x86
from modelyard.programs import Children

_FORMAT = "1"  # raise when the way in which images are made changes what is in them
_PATH = "/usr/local/bin:/usr/bin:/bin"


def recipe_fingerprint(recipe: str) -> str:
    """Return a hash over all inputs of a recipe's image.

    Raises:
        BuildError: there is no such recipe.
    """
    spec = load_recipe(recipe)
    return digest(_FORMAT, rootfs_fingerprint(spec.debian), folder_digest(recipe))


def build_python_image(recipe: str, out: Path, cache: Path, emit: Emit, children: Children) -> Path:
    """Build a recipe's image as an OCI archive at `out`, and return `out`.

    Args:
        recipe: a folder of recipes/.
        out: the archive to write.
        cache: modelyard's cache folder; the shared layer is kept in its store.
        emit: receives the progress of the step `image:<recipe>`.
        children: runs what takes long; who stops it stops the build.

    Raises:
        BuildError: this machine is none with x86-64, or a package or the root file system cannot be had.
    """
    require_x86(f"image of recipe {recipe}")
    spec = load_recipe(recipe)

    def tell(detail: str) -> None:
        emit(StepProgress(f"image:{recipe}", detail))

    tell("Debian root file system")
    base = rootfs_layer(Store(cache / "store"), children, spec.debian)
    # Downloads outlive an interrupted build, and go with the scratch folder of a finished one.
    downloads = cache / "python" / recipe
    downloads.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=downloads, prefix="build-", ignore_cleanup_errors=True) as scratch:
        rootfs, layer = Path(scratch) / "rootfs", Path(scratch) / "layer.tar"
        unpack(base, rootfs)
        tell("downloading packages")
        site = packages.install(lock_file(recipe), rootfs, downloads / "uv", children)
        scripts = _prepare(spec, site, rootfs)
        tell("compiling Python modules")
        packages.compile_all(rootfs, children)
        tell("writing the image")
        _write_layer(recipe, spec, rootfs, scripts, layer)
        write_image(out, spec.image, [base, layer], _config(spec, installed_packages(rootfs)))
    shutil.rmtree(downloads, ignore_errors=True)
    return out


def _prepare(spec: Recipe, site: Path, rootfs: Path) -> Mapping[str, bytes]:
    gone = packages.drop(site, (*spec.exclude, *packages.UNWANTED))
    stubs: Mapping[str, int] = {}
    if spec.stubs is not None:
        stubs = complete(site / spec.stubs.folder, site, rootfs, spec.stubs.variables)
    check_links(site, (name for name in gone if ".so" in name), stubs)
    return packages.take_scripts(site)


def _write_layer(recipe: str, spec: Recipe, rootfs: Path, scripts: Mapping[str, bytes], layer: Path) -> None:
    present = {"etc", "home", "root", "usr", "usr/local", "usr/local/bin", "usr/local/lib"}
    user = spec.user
    with LayerWriter(layer, present) as writer:
        for name, content in scripts.items():
            writer.data(f"usr/local/bin/{name}", content, mode=0o755)
        writer.link("usr/local/bin/python", "/usr/bin/python3")
        for name, path in sorted(spec.files.items()):
            writer.data(path.lstrip("/"), (RECIPES / recipe / name).read_bytes())
        writer.tree(rootfs / packages.SITE, packages.SITE, [])
        if user.uid != 0:
            writer.data("etc/passwd", _with_account(rootfs / "etc/passwd", spec))
        for folder in dict.fromkeys((user.home, spec.working_dir)):
            writer.folder(folder.strip("/"), uid=user.uid, gid=user.gid)


def _with_account(passwd: Path, spec: Recipe) -> bytes:
    user = spec.user
    return passwd.read_bytes() + f"{user.name}:x:{user.uid}:{user.gid}::{user.home}:/bin/bash\n".encode()


def _config(spec: Recipe, debian: str) -> ImageConfig:
    return ImageConfig(
        entrypoint=spec.entrypoint,
        user=f"{spec.user.uid}:{spec.user.gid}",
        environment={"PATH": _PATH, "HOME": spec.user.home, "LANG": "C.UTF-8", **spec.environment},
        working_dir=spec.working_dir,
        labels={"org.opencontainers.image.title": spec.summary, "modelyard.dev/debian-packages": debian},
    )
