"""Image references inside a text: an argument, a variable, a configuration file in a ConfigMap.

Three things tell an image in a text, whatever its syntax (JSON, YAML, flags, prose):
1. its shape: a registry, a path, and a tag or a digest;
2. a name that component.yaml declares, also as upstreams shorten it (`kserve/agent:v1` of docker.io/kserve/agent);
3. what stands before it: a key, a variable or a flag whose name ends with `image`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from modelyard.images.reference import COMPONENT, DIGEST, REGISTRY, Reference, parse


@dataclass(frozen=True, slots=True)
class Span:
    """A reference and where it stands in the text: [start, end)."""

    start: int
    end: int
    reference: Reference


# Prose may go on after a tag with a full stop; what matched is not given back letter by letter (atomic group).
_TAG_IN_TEXT = r"(?>[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}(?<![.-]))"
_VERSION = rf"(?:(?::{_TAG_IN_TEXT})(?:@{DIGEST})?|@{DIGEST})"
_PATH = rf"(?>(?:/{COMPONENT})+)"
# Not in the middle of a word, a path or a URL; OCI URLs are images (KServe's storageUri, Helm's and skopeo's).
_START = r"(?:(?<=oci://)|(?<=docker://)|(?<![\w./:@-]))"
_END = r"(?![\w/@:])"
_SHAPE = re.compile(rf"{_START}{REGISTRY}{_PATH}{_VERSION}{_END}")
_NAMED = re.compile(
    rf"""(?:image["']?[ \t]*[:=][ \t]*|--[\w-]*image[ \t]+)["']?"""
    rf"""(?P<image>(?:{REGISTRY}/)?{COMPONENT}(?:/{COMPONENT})*{_VERSION}?)(?=["']?[ \t]*(?:[,}}\])\s#]|$))""",
    re.IGNORECASE | re.MULTILINE,
)
# YAML's words, which would pass for images of docker.io/library.
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}
# A taint's effect or a kind after a qualified name (nvidia.com/gpu:NoSchedule, ray.io/v1:RayJob), a label's value.
_NO_TAG = re.compile(r"(?:[A-Z][a-zA-Z]+|true|false)")


def scan(text: str, declared: frozenset[str] = frozenset()) -> list[Span]:
    """Return the images in `text`, in their order; none overlaps another.

    Args:
        text: any text.
        declared: full names (registry and repository) that are known to be images.
    """
    if ":" not in text and "@" not in text and "mage" not in text.lower():
        return []  # most strings
    taken: list[Span] = []
    for start, end in _candidates(text, declared):
        reference = parse(text[start:end])
        if reference is not None and all(end <= span.start or start >= span.end for span in taken):
            taken.append(Span(start, end, reference))
    return sorted(taken, key=lambda span: span.start)


def _candidates(text: str, declared: frozenset[str]) -> Iterable[tuple[int, int]]:
    for found in _SHAPE.finditer(text):
        tag = found[0].rpartition("/")[2].partition(":")[2]
        if not _NO_TAG.fullmatch(tag):
            yield found.span()
    if declared:
        for found in _known(declared).finditer(text):
            yield found.span()
    for found in _NAMED.finditer(text):
        if found["image"].lower() not in _WORDS:
            yield found.span("image")


@lru_cache(maxsize=64)
def _known(declared: frozenset[str]) -> re.Pattern[str]:
    names = {form for name in declared for form in _forms(name)}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"{_START}(?:{'|'.join(map(re.escape, longest_first))}){_VERSION}{_END}")


def _forms(name: str) -> tuple[str, ...]:
    reference = parse(name)
    return (name,) if reference is None else (reference.name, reference.familiar)
