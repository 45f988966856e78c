"""Images in objects: found and rewritten by one walk, so that nothing is found that cannot be rewritten.

No component is known by name. Beside what `scan` sees in any text, an object's own structure tells an image:
a field whose name ends with `image`, an environment variable with IMAGE in its name, a flag `--...image` whose value
is the next argument, and an image that a custom resource spells in parts (repository, image, version).

Left alone: prose (a schema's `description`), Secrets' base64, and names that hold templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from modelyard.images.reference import Reference, is_qualified, parse
from modelyard.images.scan import Span, scan
from modelyard.objects import Object, ObjectRef, ref_of, text


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an image stands: an object, and a path in it; `:N` at its end is a line (from 1) of a text."""

    object: ObjectRef
    path: str

    def __str__(self) -> str:
        return f"{self.object} {self.path}"


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """An image and its place."""

    reference: Reference
    place: Place


Change = Callable[[Found], Reference]
_PLAIN_KEY = re.compile(r"[\w-]*").fullmatch


def find(objects: Iterable[Object], declared: Collection[str] = ()) -> list[Found]:
    """Return every image that `objects` name, in the order of the objects and their fields.

    Args:
        objects: rendered objects.
        declared: full names that component.yaml declares: they are known also where upstream shortens them.
    """
    found: list[Found] = []

    def note(each: Found) -> Reference:
        found.append(each)
        return each.reference

    rewrite(objects, note, declared)
    return found


def rewrite(objects: Iterable[Object], change: Change, declared: Collection[str] = ()) -> list[Object]:
    """Return `objects` with every image as `change` says; an object without a change is the same instance.

    Args:
        objects: rendered objects.
        change: gives the new reference for a found one.
        declared: as for `find`.
    """
    known = frozenset(declared)
    rewritten = []
    for obj in objects:
        result = obj if _names_none(obj, known) else _Walk(ref_of(obj), known, change).value(obj, "")
        assert isinstance(result, Mapping)  # a walk keeps the shape
        rewritten.append(result)
    return rewritten


def _names_none(obj: Object, declared: frozenset[str]) -> bool:
    """Tell, sooner than a walk, that a walk would find nothing: so it is with megabytes of definitions' schemas."""
    waiting: list[object] = [obj]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if isinstance(value.get("repository"), str):
                return False
            for key, inner in value.items():
                if not isinstance(inner, str):
                    waiting.append(inner)
                elif _holds_image(value, key, inner) or (key != "description" and scan(inner, declared)):
                    return False
        elif isinstance(value, list | tuple):
            for inner in value:
                if not isinstance(inner, str):
                    waiting.append(inner)
                elif _is_image_flag(inner) or scan(inner, declared):
                    return False
    return True


@dataclass(frozen=True, slots=True)
class _Walk:
    """One object's walk: each method returns what it was given where nothing changes."""

    owner: ObjectRef
    declared: frozenset[str]
    change: Change

    def value(self, value: object, path: str) -> object:
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, list | tuple):
            return self._sequence(value, path)
        return value

    def _mapping(self, value: Object, path: str) -> Object:
        value = self._in_parts(value, path)
        changed: dict[str, object] = {}
        for key, inner in value.items():
            below = _below(path, key)
            if isinstance(inner, str) and _holds_image(value, key, inner):
                after: object = self._whole(inner, below)
            elif key == "description" and isinstance(inner, str):
                continue
            else:
                after = self.value(inner, below)
            if after is not inner:
                changed[key] = after
        return {**value, **changed} if changed else value

    def _sequence(self, value: list[object] | tuple[object, ...], path: str) -> object:
        after = [
            self._whole(inner, f"{path}[{index}]")
            if isinstance(inner, str) and index and _is_image_flag(value[index - 1]) and parse(inner)
            else self.value(inner, f"{path}[{index}]")
            for index, inner in enumerate(value)
        ]
        return after if any(new is not old for new, old in zip(after, value, strict=True)) else value

    def _whole(self, value: str, path: str) -> str:
        """Take all of `value` for an image if it can be one."""
        reference = parse(value)
        if reference is None:
            return self._text(value, path)
        new = self.change(Found(reference, Place(self.owner, path)))
        return value if new == reference else str(new)

    def _text(self, value: str, path: str) -> str:
        parts, end = [], 0
        for span in scan(value, self.declared):
            new = self.change(Found(span.reference, Place(self.owner, _line(value, span, path))))
            if new != span.reference:
                parts += [value[end : span.start], str(new)]
                end = span.end
        return "".join([*parts, value[end:]]) if parts else value

    def _in_parts(self, value: Object, path: str) -> Object:
        """Take `repository`, `image` and `version` (or `tag`) for one image: the GPU operator's ClusterPolicy."""
        if "repository" not in value:
            return value
        version_key = "version" if "version" in value else "tag"
        folder, version = text(value, "repository"), text(value, version_key)
        if not folder or not version or "//" in folder:
            return value
        last, registry = text(value, "image"), text(value, "registry")
        name = "/".join(part for part in (registry, folder, last) if part)
        if not is_qualified(name):
            return value
        reference = parse(f"{name}@{version}" if version.startswith("sha256:") else f"{name}:{version}")
        if reference is None:
            return value
        new = self.change(Found(reference, Place(self.owner, _below(path, "repository"))))
        if new == reference:
            return value
        return {**value, **_parts(new, bool(registry), bool(last)), version_key: _version(new)}


def _parts(new: Reference, registry: bool, image: bool) -> dict[str, str]:
    """Spell `new` in the same parts as the old one was."""
    folder = new.repository if registry else new.name
    parts = {"registry": new.registry} if registry else {}
    if image:
        folder, _, parts["image"] = folder.rpartition("/")
    return parts | {"repository": folder}


def _version(new: Reference) -> str:
    """Spell tag and digest; the GPU operator takes `sha256:...` for a digest, and anything else after a colon."""
    return "@".join(part for part in (new.tag, new.digest) if part)


def _holds_image(parent: Object, key: str, value: str) -> bool:
    """Tell whether the field `key` holds an image, and not an image of a machine (GCP's and IBM's MachineSets)."""
    if key == "value" and "IMAGE" in text(parent, "name").upper():  # of an environment variable
        return "/" in value or ":" in value
    if not key.lower().endswith("image"):
        return False
    last = value.rpartition("/")[2]
    return is_qualified(value) or ":" in last or (key == "image" and "name" in parent)


def _is_image_flag(argument: object) -> bool:
    return isinstance(argument, str) and argument.startswith("-") and argument.lower().endswith("image")


def _below(path: str, key: str) -> str:
    if _PLAIN_KEY(key) is None:
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def _line(value: str, span: Span, path: str) -> str:
    return f"{path}:{value.count(chr(10), 0, span.start) + 1}" if "\n" in value.strip() else path
