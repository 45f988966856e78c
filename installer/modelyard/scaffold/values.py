"""`python -m modelyard.scaffold.values`: write the values of values.yaml where kustomize reads them.

A kustomization reads files of its own folder alone, so each that uses values has them in a values.env beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from modelyard.catalog import Catalog, load
from modelyard.catalog.values import by_component
from modelyard.catalog.values_file import ENV_FILE, FILE
from modelyard.catalog.yaml_file import load_one, read_text
from modelyard.errors import CatalogError
from modelyard.objects import mappings, sequence
from modelyard.paths import data_root


def values_files(catalog: Catalog) -> dict[Path, str]:
    """Return each values.env of overlays/, and what it must hold.

    Raises:
        CatalogError: a target has values that no kustomization of its own reads.
    """
    using = {(target, folder.name): folder for target, folder in _using(catalog)}
    for target in catalog.defaults:
        _check_read(catalog, target, using)
    return {
        folder / ENV_FILE: _content(by_component(catalog.defaults[target]).get(name, {}))
        for (target, name), folder in using.items()
    }


def main() -> None:
    """Write every values.env; print the names of those that changed."""
    try:
        catalog = load(data_root())
        files = values_files(catalog)
    except CatalogError as error:
        sys.exit(str(error))
    for file, text in files.items():
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(file.relative_to(catalog.root))


def _check_read(catalog: Catalog, target: str, using: Collection[tuple[str, str]]) -> None:
    """Refuse values that are the target's, where kustomize would read those of a target below it."""
    for name, values in by_component(catalog.defaults[target]).items():
        if name not in catalog.available(target):
            continue
        reader = next((each.name for each in catalog.chain(target) if (each.name, name) in using), None)
        if reader is None or by_component(catalog.defaults[reader]).get(name, {}) != values:
            where = f"reads those of overlays/{reader}/{name}" if reader else "reads none"
            raise CatalogError(
                f"overlays/{target}/{FILE}",
                f"sets values of component {name}, and kustomize {where}",
                f"add overlays/{target}/{name} with a {ENV_FILE} (docs/how-to/add-a-target.md), then make values",
            )


def _using(catalog: Catalog) -> Iterator[tuple[str, Path]]:
    """Yield the folders of overlays/ whose kustomization reads a values.env, with their target."""
    for file in sorted(catalog.root.glob("overlays/*/*/kustomization.yaml")):
        shown = file.relative_to(catalog.root).as_posix()
        content = load_one(read_text(file, shown), shown)
        generators = mappings(content, "configMapGenerator") if isinstance(content, dict) else ()
        if any(ENV_FILE in sequence(each, "envs") for each in generators):
            yield file.parent.parent.name, file.parent


def _content(values: dict[str, str]) -> str:
    lines = "".join(f"{name}={value}\n" for name, value in values.items())
    return f"# From ../{FILE}, by `make values`.\n{lines}"


if __name__ == "__main__":
    main()
