"""What the conformance tests say that they prove, read from their source: no cluster and no import is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """One test's claim.

    Args:
        test: `<area>/<file>::<function>`, without parameters.
        components: what it proves where it passes.
        simulated: what it acts on (nodes, devices) is simulated; the components are not.
    """

    test: str
    components: tuple[str, ...]
    simulated: bool

    @property
    def area(self) -> str:
        """Return the folder of the test."""
        return self.test.partition("/")[0]


def claims(suite: Path) -> tuple[Claim, ...]:
    """Return what every test below `suite` proves, sorted; tests that prove no component by themselves are left out.

    A mark is `@pytest.mark.proves("kueue", simulated=True)`, on a test or, as `pytestmark`, on its module.
    """
    found = []
    for file in sorted(suite.glob("*/test_*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        shared = list(_marks(_module_marks(module)))
        for test in module.body:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                claim = _claim(f"{file.relative_to(suite)}::{test.name}", [*shared, *_marks(test.decorator_list)])
                found += [claim] if claim.components else []
    return tuple(sorted(found))


def by_component(found: tuple[Claim, ...]) -> Mapping[str, tuple[Claim, ...]]:
    """Return the claims by component."""
    names = sorted({name for claim in found for name in claim.components})
    return {name: tuple(claim for claim in found if name in claim.components) for name in names}


def _claim(test: str, marks: list[tuple[tuple[str, ...], bool]]) -> Claim:
    names = {name for components, _ in marks for name in components}
    return Claim(test, tuple(sorted(names)), any(simulated for _, simulated in marks))


def _module_marks(module: ast.Module) -> list[ast.expr]:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == "pytestmark" for each in node.targets
        ):
            return list(node.value.elts) if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return []


def _marks(expressions: list[ast.expr]) -> Iterator[tuple[tuple[str, ...], bool]]:
    for node in expressions:
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "pytest.mark.proves":
            continue
        names = tuple(ast.literal_eval(each) for each in node.args)
        flags = {each.arg: ast.literal_eval(each.value) for each in node.keywords}
        yield names, bool(flags.get("simulated"))
