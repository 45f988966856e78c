"""Profiles, `--with` and `--without` on the requires graph.

Cases: nothing asked for; with: in the profile, beside it, drawing others in, unknown; without: of a leaf, of something
required directly, through others, by a component of --with; both of one; a later command on an earlier choice.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import graph
from modelyard.catalog.choice import Choice, compose
from modelyard.errors import CatalogError

REQUIRES = {
    "cert-manager": (),
    "kueue": ("cert-manager",),
    "tenancy": ("kueue",),
    "kuberay": ("cert-manager",),
    "keda": ("prometheus",),
    "prometheus": ("cert-manager",),
}
CORE = ("tenancy", "kuberay")


def test_a_profile_alone_comes_with_all_it_requires_and_nothing_is_told() -> None:
    found = compose(CORE, REQUIRES)
    assert found.names == ("cert-manager", "kuberay", "kueue", "tenancy")
    assert found.pulled_in == {}


def test_with_draws_in_what_it_requires_and_says_for_whom() -> None:
    found = compose(CORE, REQUIRES, added=["keda"])
    assert set(found.names) == {*compose(CORE, REQUIRES).names, "keda", "prometheus"}
    assert found.pulled_in == {"prometheus": ("keda",)}  # cert-manager was there anyway


def test_without_takes_a_component_that_nothing_requires() -> None:
    assert compose(CORE, REQUIRES, left_out=["kuberay"]).names == ("cert-manager", "kueue", "tenancy")


@pytest.mark.parametrize(
    ("added", "left_out", "who", "ways"),
    [
        ((), ("kueue",), "tenancy", "add --without tenancy"),
        (
            (),
            ("cert-manager",),
            "kuberay, kueue",
            "add --without kuberay, add --without kueue, add --without tenancy",
        ),
        (("keda",), ("prometheus",), "keda", "take --with keda away"),
    ],
)
def test_without_of_something_required_names_who_requires_it(
    added: tuple[str, ...], left_out: tuple[str, ...], who: str, ways: str
) -> None:
    with pytest.raises(CatalogError) as caught:
        compose(CORE, REQUIRES, added=added, left_out=left_out)
    assert caught.value.subject == f"component {left_out[0]}"
    assert caught.value.cause == f"cannot be left out: it is required by {who}"
    assert caught.value.remedy.endswith(f": {ways}")


def test_without_of_something_and_of_all_that_requires_it_is_fine() -> None:
    assert compose(CORE, REQUIRES, left_out=["kueue", "tenancy"]).names == ("cert-manager", "kuberay")


@pytest.mark.parametrize("option", ["added", "left_out"])
def test_an_unknown_name_gets_the_nearest_one(option: str) -> None:
    with pytest.raises(CatalogError, match=r"component kedda: is not in manifests/ \(did you mean keda\?\)"):
        compose(CORE, REQUIRES, **{option: ["kedda"]})


def test_with_and_without_of_one_component_are_refused() -> None:
    with pytest.raises(CatalogError, match="component keda: is asked for by --with and ruled out by --without"):
        compose(CORE, REQUIRES, added=["keda"], left_out=["keda"])


def test_a_later_command_adds_to_the_choice_and_takes_back() -> None:
    first = Choice().changed(profile=None, added=["keda"], left_out=["kuberay"])
    assert str(first) == "--profile core --with keda --without kuberay"
    second = first.changed(profile=None, added=["kuberay"], left_out=["keda"])
    assert (second.added, second.left_out) == (("kuberay",), ("keda",))
    assert second.changed(profile=None, added=(), left_out=()) == second


def test_a_profile_begins_anew_and_the_overlay_stays() -> None:
    before = Choice("core", ("keda",), ("kuberay",), "/site")
    assert before.changed(profile="full", added=(), left_out=["tenancy"]) == Choice("full", (), ("tenancy",), "/site")


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    names = [f"c{number}" for number in range(draw(st.integers(1, 8)))]
    return {
        name: tuple(sorted(draw(st.sets(st.sampled_from(names[:position]))))) if position else ()
        for position, name in enumerate(names)
    }


@given(st.data())
def test_what_is_composed_is_closed_and_holds_to_what_was_asked(data: st.DataObject) -> None:
    requires = data.draw(graphs())
    some = st.sets(st.sampled_from(sorted(requires)))
    listed, added, left_out = data.draw(some), data.draw(some), data.draw(some)
    try:
        found = compose(listed, requires, added=added, left_out=left_out)
    except CatalogError:
        impossible = graph.closure((listed - left_out) | added, requires) & left_out
        assert impossible or added & left_out
        return
    assert set(found.names) == graph.closure(found.names, requires)
    assert added <= set(found.names)
    assert not left_out & set(found.names)
    assert set(found.pulled_in) == set(found.names) - graph.closure(listed - left_out, requires) - added
    assert all(who for who in found.pulled_in.values())
