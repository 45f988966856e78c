"""How long the building of what is missing takes, and how much it downloads, for people who wait for it.

Seconds are of 2 quiet cores: of the modules and recipes of the profile `core` as measured by `make bench-cold`, of the
others from installs on busy machines, less what others took. Downloads are the modules' archives, counted in a cache
that was empty before, and packages at 0.45 of their unpacked size. Machines differ by a factor of two: what is told is
a range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelyard.local.build.queue import Wanted

SLOWER = 2.0  # how much longer a slow machine takes

# By Go module folder: seconds to compile all its binaries, MiB of Go modules that this one alone downloads.
MODULES: Mapping[str, tuple[int, int]] = {
    "shared": (530, 427),
    "cni": (5, 2),
    "coscheduling": (250, 89),
    "dra-example-driver": (120, 46),
    "keda": (300, 236),
    "kserve": (190, 252),
    "metrics-server": (120, 42),
    "modelmesh": (120, 30),
    "pause": (1, 0),
    "prometheus": (200, 45),
    "traefik": (240, 110),
    "training-operator": (90, 8),
    "whereabouts": (40, 4),
}
# By recipe: seconds beside a compile, MiB of packages.
RECIPES: Mapping[str, tuple[int, int]] = {
    "mpi": (15, 1),
    "onnx": (39, 160),
    "ray": (42, 130),
    "storage-initializer": (16, 60),
    "torch": (59, 820),
}


# Of one that nobody has measured yet.
_MODULE, _RECIPE = (120, 60), (30, 60)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What building takes: seconds on a quick machine, MiB to download."""

    seconds: float
    mib: float

    def __str__(self) -> str:
        low, high = max(1, round(self.seconds / 60)), max(2, round(self.seconds * SLOWER / 60))
        return f"takes {low} to {high} minutes on 2 cores and downloads about {_size(self.mib)}"


def estimate(asked: Sequence[Wanted], missing: Sequence[Wanted]) -> Estimate:
    """Return what building `missing` takes.

    Args:
        asked: all that was asked for.
        missing: what of it has to be built; a module's share is that of its binaries that are missing.
    """
    all_of, missing_of = Counter(asked_group(each) for each in asked), Counter(asked_group(each) for each in missing)
    shares = {group: count / all_of[group] for group, count in missing_of.items()}
    compiling = [(MODULES.get(group, _MODULE), share) for (kind, group), share in shares.items() if kind == "binary"]
    packing = [(RECIPES.get(group, _RECIPE), share) for (kind, group), share in shares.items() if kind == "image"]
    # Compiles follow each other; Python images are made beside them, and take what they leave.
    seconds = sum(cost * share for (cost, _), share in compiling) + sum(cost for (cost, _), _ in packing) / 2
    return Estimate(seconds, sum(mib * share for (_, mib), share in [*compiling, *packing]))


def asked_group(wanted: Wanted) -> tuple[str, str]:
    """Return what shares its cost: a Go module's folder, or a recipe."""
    return wanted.kind, wanted.group


def _size(mib: float) -> str:
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"
