"""Lock the recipes' requirements anew: `python -m modelyard.local.build.python_lock [RECIPE ...]`.

The lock names packages, versions and hashes only: no index and no path of this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from modelyard.errors import BuildError
from modelyard.local.build.python_recipe import RECIPES, load_recipe, lock_file, recipe_names
from modelyard.programs import run

PYTHON_VERSION = "3.11"  # of Debian 12, whose Python the images run
PLATFORM = "x86_64-manylinux_2_28"
_RESOLVE_SECONDS = 1800.0


def lock(name: str) -> None:
    """Resolve a recipe's requirements.in as of its date into requirements.lock.

    Raises:
        BuildError: the requirements cannot be resolved.
    """
    recipe = load_recipe(name)
    omit = [argument for package in recipe.omit for argument in ("--no-emit-package", package)]
    done = run(
        [sys.executable, "-P", "-m", "uv", "pip", "compile", "requirements.in", "--quiet", "--generate-hashes",
         "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--upgrade",
         "--python-version", PYTHON_VERSION, "--python-platform", PLATFORM,
         "--exclude-newer", f"{recipe.as_of:%Y-%m-%d}T00:00:00Z", *omit, "--output-file", lock_file(name)],
        cwd=RECIPES / name,
        seconds=_RESOLVE_SECONDS,
    )  # fmt: skip
    if done.problem:
        raise BuildError(
            f"recipe {name}", done.stderr.strip() or done.problem, f"correct recipes/{name}/requirements.in"
        )


def main(names: Sequence[str]) -> None:
    """Lock the named recipes, or all."""
    for name in names or recipe_names():
        lock(name)


if __name__ == "__main__":
    main(sys.argv[1:])
