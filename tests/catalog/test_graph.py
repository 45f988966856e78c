"""The requires graph: order, closure, cycles, missing names."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog.graph import check, closure, order
from modelyard.errors import CatalogError

NAMES = [f"c{number}" for number in range(8)]


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Each name may require names before it in a shuffled list: no cycle can arise."""
    shuffled = draw(st.permutations(NAMES))
    return {
        name: tuple(draw(st.lists(st.sampled_from(shuffled[:place]), unique=True))) if place else ()
        for place, name in enumerate(shuffled)
    }


@given(acyclic(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_everything_comes_after_what_it_requires(graph: dict[str, tuple[str, ...]], asked: list[str]) -> None:
    check(graph)
    names = closure(asked, graph)
    result = order(names, graph)
    assert sorted(result) == sorted(names) == sorted(set(result))
    for name in result:
        assert all(result.index(needed) < result.index(name) for needed in graph[name])


@given(acyclic(), st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_question(
    graph: dict[str, tuple[str, ...]], random: Random
) -> None:
    shuffled = list(NAMES)
    random.shuffle(shuffled)
    assert order(shuffled, {name: graph[name] for name in shuffled}) == order(NAMES, graph)


@given(st.integers(min_value=1, max_value=6))
def test_a_cycle_is_shown_as_its_path(length: int) -> None:
    ring = {f"c{number}": (f"c{(number + 1) % length}",) for number in range(length)}
    with pytest.raises(CatalogError) as caught:
        check(ring | {"outside": ("c0",)})
    path = " -> ".join([f"c{number}" for number in range(length)] + ["c0"])
    assert caught.value.cause == f"requires itself: {path}"


def test_a_missing_name_is_shown_with_who_asks_for_it_and_the_nearest() -> None:
    with pytest.raises(CatalogError) as caught:
        check({"kueue": ("cert-manger",), "cert-manager": ()})
    assert "kueue -> cert-manger" in caught.value.cause
    assert "did you mean cert-manager?" in caught.value.cause
