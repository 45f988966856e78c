"""Recipes of Python images: folders of recipes/, each with recipe.yaml, requirements.in and requirements.lock."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from modelyard.errors import BuildError
from modelyard.local.build.store import digest

RECIPES = Path(__file__).resolve().parent.parent / "recipes"
ROOTFS_FILE = RECIPES / "rootfs.yaml"

AbsolutePath = Annotated[str, Field(pattern=r"^/")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_M = TypeVar("_M", bound=_Model)


class Account(_Model):
    """Whom the image's processes run as."""

    name: str = Field(description="name in /etc/passwd", min_length=1)
    uid: int = Field(description="numeric user id", ge=0)
    gid: int = Field(description="numeric group id", ge=0)
    home: AbsolutePath = Field(description="home directory; the account owns it")


class Stubs(_Model):
    """Which libraries are completed with stubs for what they link and the image lacks."""

    folder: str = Field(description="folder of the libraries, among the packages", pattern=r"^[^/]")
    variables: tuple[str, ...] = Field(
        default=(), description="missing functions that are called on loading and return a reference to a variable"
    )


class Recipe(_Model):
    """recipes/<name>/recipe.yaml: everything about an image but its locked requirements."""

    image: str = Field(description="full name and tag, as containerd names it", pattern=r"^[^/]+/.+:[^:/]+$")
    summary: str = Field(description="what the image is for, in one line", min_length=1)
    as_of: datetime.date = Field(description="the lock takes no package that is younger")
    user: Account = Field(description="whom its processes run as")
    working_dir: AbsolutePath = Field(default="/", description="where they start; the account owns it")
    entrypoint: tuple[str, ...] = Field(default=(), description="argv; none where every manifest gives a command")
    environment: dict[str, str] = Field(default={}, description="variables")
    debian: tuple[str, ...] = Field(
        default=(), description="Debian packages beside rootfs.yaml's: the image gets a root file system of its own"
    )
    files: dict[str, AbsolutePath] = Field(default={}, description="file of this folder -> path in the image")
    omit: tuple[str, ...] = Field(default=(), description="packages that a requirement names and the lock leaves out")
    exclude: tuple[str, ...] = Field(default=(), description="patterns of files that are left out of the packages")
    stubs: Stubs | None = Field(default=None, description="what to complete with stub libraries")


class Rootfs(_Model):
    """recipes/rootfs.yaml: the Debian layer under every image."""

    suite: str = Field(description="Debian release", min_length=1)
    variant: str = Field(description="mmdebstrap's variant", min_length=1)
    packages: tuple[str, ...] = Field(description="packages beside the variant's", min_length=1)
    forbid: tuple[str, ...] = Field(default=(), description="packages that apt must not choose")
    leave_out: tuple[AbsolutePath, ...] = Field(default=(), description="paths that dpkg does not unpack")


def load_recipe(name: str) -> Recipe:
    """Return the recipe called `name`.

    Raises:
        BuildError: there is none, or its recipe.yaml is malformed.
    """
    path = RECIPES / name / "recipe.yaml"
    if not path.is_file():
        known = ", ".join(recipe_names())
        raise BuildError(f"recipe {name}", "there is no such folder with a recipe.yaml", f"choose one of {known}")
    return _parse(Recipe, path)


def load_rootfs() -> Rootfs:
    """Return the specification of the shared root file system."""
    return _parse(Rootfs, ROOTFS_FILE)


def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes, sorted."""
    return tuple(sorted(path.parent.name for path in RECIPES.glob("*/recipe.yaml")))


def lock_file(name: str) -> Path:
    """Return the path of a recipe's locked requirements."""
    return RECIPES / name / "requirements.lock"


def folder_digest(name: str) -> str:
    """Return a hash over the recipe's files, requirements.in apart: the lock says what is installed."""
    files = sorted(p for p in (RECIPES / name).iterdir() if p.is_file() and p.name != "requirements.in")
    return digest(*(part for path in files for part in (path.name, path.read_bytes())))


def _parse(model: type[_M], path: Path) -> _M:
    try:
        return model.model_validate(yaml.safe_load(path.read_text()))
    except yaml.YAMLError as error:
        raise BuildError(f"{path.parent.name}/{path.name}", str(error), "correct the file") from error
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise BuildError(f"{path.parent.name}/{path.name}", found, "correct the file") from error
