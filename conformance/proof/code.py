"""A digest of a test and of all definitions of the suite that it reaches.

Counted by definition (function, class, constant), not by file: what a test does not use does not unprove it. Names are
followed through imports from the suite, and as fixtures; comments, docstrings and the layout of lines do not count.
Files of examples/ whose folder a string names count too.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "conformance"
Definition = tuple[Path, str]


class Code:
    """The suite's source, each file read once.

    Args:
        suite: the folder of the package `conformance`; examples/ lies beside it.
    """

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._modules: dict[Path, _Module] = {}

    def digest(self, test: str) -> str:
        """Return the digest of `<file>::<function>`.

        Raises:
            KeyError: there is no such test.
        """
        file, _, function = test.partition("::")
        start = (self._suite / file, function)
        if function not in self._module(start[0]).definitions:
            raise KeyError(test)
        seen: set[Definition] = set()
        todo = [start, *((start[0], name) for name in ("pytestmark",))]
        todo += [(conftest, name) for conftest in self._conftests(start[0]) for name in self._automatic(conftest)]
        while todo:
            each = todo.pop()
            if each not in seen and each[1] in self._module(each[0]).definitions:
                seen.add(each)
                todo += self._named_by(each)
        return self._digest_of(seen)

    def _digest_of(self, definitions: set[Definition]) -> str:
        parts = {
            f"{file.relative_to(self._suite)}::{name}": self._module(file).dump(name) for file, name in definitions
        }
        for file in self._examples(definitions):
            parts[str(file.relative_to(self._suite.parent))] = hashlib.sha256(file.read_bytes()).hexdigest()
        lines = "\n".join(f"{name} {content}" for name, content in sorted(parts.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    def _named_by(self, definition: Definition) -> Iterator[Definition]:
        file, name = definition
        module = self._module(file)
        for used in module.names(name):
            yield file, used
            if used in module.imports:
                yield from self._imported(*module.imports[used])
            for conftest in self._conftests(file):  # as a fixture
                yield conftest, used
        for source, attribute in module.attributes(name):
            yield from self._imported(f"{module.imports[source][0]}.{module.imports[source][1]}", attribute)

    def _imported(self, module: str, name: str) -> Iterator[Definition]:
        path = self._suite.joinpath(*module.split(".")[1:])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                yield file, name

    def _automatic(self, conftest: Path) -> Iterator[str]:
        """Yield the hooks and fixtures that act without being named."""
        for name, node in self._module(conftest).definitions.items():
            if name.startswith("pytest_runtest") or "autouse=True" in "".join(map(ast.unparse, _decorators(node))):
                yield name

    def _conftests(self, file: Path) -> list[Path]:
        return [each for each in (file.parent / "conftest.py", self._suite / "conftest.py") if each.is_file()]

    def _examples(self, definitions: set[Definition]) -> list[Path]:
        examples = self._suite.parent / "examples"
        strings = {value for file, name in definitions for value in self._module(file).strings(name)}
        folders = [examples / value for value in strings if _is_name(value) and (examples / value).is_dir()]
        return sorted(path for folder in folders for path in folder.rglob("*") if _counts(path))

    def _module(self, file: Path) -> _Module:
        if file not in self._modules:
            self._modules[file] = _Module(ast.parse(file.read_text(encoding="utf-8")))
        return self._modules[file]


class _Module:
    """One file's definitions and imports, by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.definitions: dict[str, ast.stmt] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        for node in tree.body:
            for name in _defined(node):
                self.definitions[name] = node
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (str(node.module), alias.name)
        self._dumps: dict[str, str] = {}

    def dump(self, name: str) -> str:
        """Return a definition's digest, without comments, docstrings and line numbers."""
        if name not in self._dumps:
            self._dumps[name] = hashlib.sha256(_dump(self.definitions[name]).encode()).hexdigest()
        return self._dumps[name]

    def names(self, name: str) -> set[str]:
        """Return the names that a definition uses: variables, and parameters, which may be fixtures."""
        nodes = list(ast.walk(self.definitions[name]))
        fixtures = {each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        return (
            {each.id for each in nodes if isinstance(each, ast.Name)}
            | {each.arg for each in nodes if isinstance(each, ast.arg)}
            | {value for value in fixtures if value in self.definitions}
        )

    def attributes(self, name: str) -> set[tuple[str, str]]:
        """Return `module.name` where `module` is one of the suite's."""
        return {
            (each.value.id, each.attr)
            for each in ast.walk(self.definitions[name])
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in self.imports
        }

    def strings(self, name: str) -> set[str]:
        """Return a definition's strings."""
        return {
            each.value
            for each in ast.walk(self.definitions[name])
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, ast.FunctionDef) else []


def _dump(value: object) -> str:
    """Return a syntax tree as text: the same with every version of Python, which `ast.dump` is not."""
    if isinstance(value, ast.AST):
        fields = {name: found for name, found in ast.iter_fields(value) if found not in (None, [])}
        if isinstance(value, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(value):
            fields["body"] = value.body[1:]
        return f"{type(value).__name__}({','.join(f'{name}={_dump(found)}' for name, found in sorted(fields.items()))})"
    return f"[{','.join(map(_dump, value))}]" if isinstance(value, list) else repr(value)


def _is_name(value: str) -> bool:
    return bool(value) and all(part.replace("-", "").replace("_", "").isalnum() for part in value.split("/"))


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".md"
