"""What a kustomization names: folders, files, remote references, and what would run a program. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from modelyard.objects import annotations_of, dig, mappings, sequence, text

# Fields of kustomize v5 (api/types/kustomization.go) by what their entries may be.
TREES = ("resources", "components", "bases")
_FILES = ("crds", "configurations")
_PATCH_FILES = ("patchesStrategicMerge",)
_WITH_PATH = ("patches", "patchesJson6902", "replacements")
PLUGINS = ("generators", "transformers", "validators")
_GENERATED = ("configMapGenerator", "secretGenerator")
CHARTS = "helmCharts"
_OTHER_CHARTS = ("helmChartInflationGenerator", "helmGlobals")
# KRM functions are containers or programs; both spellings are known to kustomize.
_FUNCTIONS = ("config.kubernetes.io/function", "config.k8s.io/function")

# kustomize reads fields as Go's encoding/json does: `Resources` passes for `resources`, and would pass unseen here.
_LOOKED_AT = {*TREES, *_FILES, *_PATCH_FILES, *_WITH_PATH, *PLUGINS, *_GENERATED, CHARTS, *_OTHER_CHARTS, "openapi"}
_LOOKED_AT |= {"path", "files", "envs", "env", "target", "patch", "options"}

Field = tuple[str | int, ...]


class Kind(StrEnum):
    """What an entry is."""

    TREE = "tree"  # a folder, a file or a remote reference
    YAML = "yaml"  # a file that must be YAML
    DATA = "data"  # a file with any content
    PLUGIN = "plugin"  # a file with the configuration of a plugin


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a kustomization names.

    Args:
        field: where it stands.
        value: what stands there, without a `key=` before it.
        kind: what it may be.
    """

    field: Field
    value: str
    kind: Kind


def entries(content: Mapping[str, object]) -> Iterator[Entry]:
    """Yield all that a kustomization names; what stands in the kustomization itself is left out."""
    for key, kind in [
        *((key, Kind.TREE) for key in TREES),
        *((key, Kind.YAML) for key in (*_FILES, *_PATCH_FILES)),
        *((key, Kind.PLUGIN) for key in PLUGINS),
    ]:
        for position, value in enumerate(sequence(content, key)):
            if isinstance(value, str) and "\n" not in value:
                yield Entry((key, position), value, kind)
    for key in _WITH_PATH:
        for position, item in enumerate(sequence(content, key)):
            if path := text(item, "path"):
                yield Entry((key, position, "path"), path, Kind.YAML)
    if path := text(content, "openapi", "path"):
        yield Entry(("openapi", "path"), path, Kind.YAML)
    yield from _generated(content)


def _generated(content: Mapping[str, object]) -> Iterator[Entry]:
    for key in _GENERATED:
        for number, generator in enumerate(sequence(content, key)):
            for position, value in enumerate(sequence(generator, "files")):
                name, equals, path = str(value).partition("=")
                yield Entry((key, number, "files", position), path if equals else name, Kind.DATA)
            for position, value in enumerate(sequence(generator, "envs")):
                yield Entry((key, number, "envs", position), str(value), Kind.DATA)
            if value := text(generator, "env"):
                yield Entry((key, number, "env"), value, Kind.DATA)


def is_thin(content: Mapping[str, object]) -> bool:
    """Tell whether a kustomization does nothing but name one resource, which may be a base."""
    return set(content) - {"apiVersion", "kind"} == {"resources"} and len(sequence(content, "resources")) == 1


def disguised(content: Mapping[str, object]) -> Iterator[tuple[Field, str]]:
    """Yield the fields that are looked at here and written in other letters, with how they are written rightly."""
    exact = {name.lower(): name for name in _LOOKED_AT}
    inner: list[tuple[Field, object]] = [((), content), (("openapi",), dig(content, "openapi"))]
    for key in (*_WITH_PATH, *_GENERATED):
        inner += [((key, position), item) for position, item in enumerate(sequence(content, key))]
    for field, value in inner:
        for name in value if isinstance(value, Mapping) else ():
            right = exact.get(str(name).lower(), str(name))
            if right != str(name):
                yield (*field, str(name)), right


def other_charts(content: Mapping[str, object]) -> Field | None:
    """Return the field other than `helmCharts` that would run helm, if there is one."""
    return next(((key,) for key in _OTHER_CHARTS if key in content), None)


def inline_plugins(content: Mapping[str, object]) -> Iterator[tuple[Field, str]]:
    """Yield the configurations of plugins that stand in the kustomization itself."""
    for key in PLUGINS:
        for position, value in enumerate(sequence(content, key)):
            if isinstance(value, str) and "\n" in value:
                yield (key, position), value


def runs(plugin: object) -> str:
    """Return what the configuration of a plugin would run; empty if it is one of kustomize's own."""
    for annotation in _FUNCTIONS:
        if annotation in annotations_of(plugin):
            return f"a KRM function ({annotation})"
    kind = text(plugin, "kind")
    if text(plugin, "apiVersion") != "builtin":
        return f"the plugin {text(plugin, 'apiVersion')}/{kind}"
    return "helm" if kind == "HelmChartInflationGenerator" else ""


def targeted_patches(content: Mapping[str, object]) -> Iterator[tuple[Field, Mapping[str, object]]]:
    """Yield the patches that choose their objects by `target`: kustomize says nothing where one fits none."""
    for key in ("patches", "patchesJson6902"):
        for position, item in enumerate(mappings(content, key)):
            if isinstance(dig(item, "target"), Mapping):
                yield (key, position), item
