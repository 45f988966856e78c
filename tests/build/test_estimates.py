"""What an install says of its first time: how long building takes, how much it downloads."""

from __future__ import annotations

import pytest

from modelyard.local.build import estimates
from modelyard.local.build.binaries import MODULES
from modelyard.local.build.estimates import estimate
from modelyard.local.build.python_recipe import RECIPES
from modelyard.local.build.queue import Wanted

SHARED = [Wanted("binary", name, "shared") for name in ("kube-apiserver", "kueue", "kubectl", "etcd")]
TORCH = Wanted("image", "torch", "torch")


def test_figures_are_of_modules_and_recipes_that_there_are() -> None:
    assert estimates.MODULES.keys() <= {folder.name for folder in MODULES.iterdir() if (folder / "go.mod").is_file()}
    assert estimates.RECIPES.keys() <= {path.parent.name for path in RECIPES.glob("*/recipe.yaml")}


@pytest.mark.parametrize("kind", ["binary", "image"])
def test_one_that_nobody_has_measured_counts_as_usual_ones_do(kind: str) -> None:
    new = [Wanted(kind, "greeter", "greeter")]
    assert estimate(new, new).seconds > 10


def test_all_of_a_module_costs_its_whole_figure_and_a_part_its_share() -> None:
    seconds, mib = estimates.MODULES["shared"]
    whole, half = estimate(SHARED, SHARED), estimate(SHARED, SHARED[:2])
    assert (whole.seconds, whole.mib) == (seconds, mib)
    assert (half.seconds, half.mib) == (seconds / 2, mib / 2)


def test_an_image_is_made_beside_the_compiles() -> None:
    seconds, mib = estimates.RECIPES["torch"]
    both, one = estimate([*SHARED, TORCH], [*SHARED, TORCH]), estimate(SHARED, SHARED)
    assert both.seconds - one.seconds == seconds / 2
    assert both.mib - one.mib == mib


def test_nothing_missing_costs_nothing() -> None:
    assert estimate(SHARED, []).seconds == 0


@pytest.mark.parametrize(
    ("seconds", "mib", "said"),
    [
        (600, 3072, "takes 10 to 20 minutes on 2 cores and downloads about 3.0 GiB"),
        (5, 300, "takes 1 to 2 minutes on 2 cores and downloads about 300 MiB"),
    ],
)
def test_an_estimate_is_a_range_for_people(seconds: float, mib: float, said: str) -> None:
    assert str(estimates.Estimate(seconds, mib)) == said
