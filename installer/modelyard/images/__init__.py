"""Container images in rendered objects: found wherever they hide, listed, rewritten. Pure."""

from __future__ import annotations

from modelyard.images.find import Found, Place, find, rewrite
from modelyard.images.listing import Declared, UsedImage, used
from modelyard.images.mirror import Mirror, mirror_named
from modelyard.images.pin import Pins, Rewriting
from modelyard.images.reference import Reference, parse

__all__ = [
    "Declared",
    "Found",
    "Mirror",
    "Pins",
    "Place",
    "Reference",
    "Rewriting",
    "UsedImage",
    "find",
    "mirror_named",
    "parse",
    "rewrite",
    "used",
]
