"""`python -m modelyard.scaffold.values`: write the values of values.yaml where kustomize reads them.

A kustomization reads files of its own folder alone, so each that uses values has them in a values.env beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from modelyard.catalog import Catalog, load
from modelyard.catalog.values import by_component
from modelyard.catalog.values_file import ENV_FILE, FILE
from modelyard.catalog.yaml_file import load_one, read_text
from modelyard.objects import mappings, sequence
from modelyard.paths import data_root


def values_files(catalog: Catalog) -> dict[Path, str]:
    """Return each values.env of overlays/, and what it must hold."""
    return {
        folder / ENV_FILE: _content(by_component(catalog.defaults[target]).get(folder.name, {}))
        for target, folder in _using(catalog)
    }


def main() -> None:
    """Write every values.env; print the names of those that changed."""
    catalog = load(data_root())
    for file, text in values_files(catalog).items():
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(file.relative_to(catalog.root))


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
