"""What an install is about, from its options and from what the cluster was installed with before.

| before | asked for | comes to |
| --- | --- | --- |
| nothing | nothing | profile core |
| a choice | nothing | the same, and it is told |
| a choice | --with, --without | the choice, changed |
| a choice | --profile | that profile, anew |
| a choice | --component | that alone now; the choice stays |
| an overlay | no overlay | refused, unless --no-overlay |
| anything | --without what others require | refused, unless the cluster has it from somebody else |
| a mirror | nothing, --profile, --component | the same mirror, unless --no-mirror |
| values | nothing, --profile, --component | the same values, by today's types, unless --no-values |
| values | --values | those of the file alone |
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from modelyard.catalog import Catalog, load
from modelyard.catalog.choice import Choice
from modelyard.errors import CatalogError, RefusalError
from modelyard.events import Event, Note
from modelyard.images.mirror import mirror_named
from modelyard.platform.asked import Asked, ValuesFile, read_values_file
from modelyard.platform.settled import Settled, settle


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    requires = {"a": "", "b": "a", "c": "b", "lone": "", "extra": "helper", "helper": "a"}
    for name, needed in requires.items():
        for folder in (f"manifests/cluster/{name}", f"overlays/local/{name}"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / f"manifests/cluster/{name}/component.yaml").write_text(
            f"name: {name}\narea: cluster\nsummary: x\nlicence: MIT\nrequires: [{needed}]\n"
        )
    (tmp_path / "overlays/local/target.yaml").write_text(
        "name: local\nsummary: x\nprofiles: {core: [c, lone], full: [c, lone, extra]}\n"
    )
    (tmp_path / "upstream.lock").write_text("")
    return load(tmp_path)


class Told(list[str]):
    def __call__(self, event: Event) -> None:
        assert isinstance(event, Note)
        self.append(event.text)


def asked(**options: Any) -> Asked:
    empty: dict[str, Any] = {"target": None, "overlay": None, "profile": None, "added": (), "left_out": ()}
    return Asked(**{**empty, "components": (), **options})


def comes_to(catalog: Catalog, before: Choice | None, told: Told | None = None, **options: Any) -> Settled:
    return settle(asked(**options), catalog, "local", before, told if told is not None else Told())


def test_a_new_cluster_gets_the_profile_core(catalog: Catalog) -> None:
    found = comes_to(catalog, None)
    assert found.names == ("a", "b", "c", "lone")
    assert found.choice == Choice("core")


def test_what_a_target_offers_comes_by_name_alone(catalog: Catalog) -> None:
    (catalog.root / "overlays/local/target.yaml").write_text(
        "name: local\nsummary: x\nprofiles: {core: [a]}\noffered: {extra: for the brave, helper: for extra}\n"
    )
    catalog = load(catalog.root)
    assert comes_to(catalog, None).names == ("a",)
    assert comes_to(catalog, None, added=("extra",)).names == ("a", "helper", "extra")
    shutil.rmtree(catalog.root / "overlays/local/lone")
    with pytest.raises(CatalogError, match="is not in target local; beside its profiles it offers: helper, ex"):
        comes_to(catalog, None, added=("lone",))


def test_what_was_chosen_before_holds_and_is_told(catalog: Catalog) -> None:
    before, told = Choice("core", ("extra",), ("lone",)), Told()
    found = comes_to(catalog, before, told)
    assert set(found.names) == {"a", "b", "c", "extra", "helper"}
    assert found.choice == before
    assert told == [
        "as chosen before: --profile core --with extra --without lone",
        "helper comes too: it is required by extra",
    ]


def test_a_plain_choice_is_not_told(catalog: Catalog) -> None:
    told = Told()
    comes_to(catalog, Choice(), told)
    assert told == []


def test_options_change_what_was_chosen_before(catalog: Catalog) -> None:
    before = Choice("core", ("extra",), ("lone",))
    assert comes_to(catalog, before, added=("lone",)).choice == Choice("core", ("extra", "lone"), ())
    assert comes_to(catalog, before, left_out=("extra",)).choice == Choice("core", (), ("extra", "lone"))
    assert comes_to(catalog, before, profile="full").choice == Choice("full")


def test_a_single_component_leaves_the_choice_as_it_is(catalog: Catalog) -> None:
    before = Choice("core", (), ("lone",))
    found = comes_to(catalog, before, components=("extra",))
    assert found.names == ("a", "helper", "extra")
    assert found.choice == before
    assert found.chosen == {"a", "b", "c", "helper", "extra"}  # what is told as not chosen leaves these out


def test_without_something_that_the_choice_of_before_requires_is_refused(catalog: Catalog) -> None:
    with pytest.raises(CatalogError, match="component helper: cannot be left out: it is required by extra"):
        comes_to(catalog, Choice("core", ("extra",)), left_out=("helper",))


def test_a_component_of_before_that_is_no_more_is_told(catalog: Catalog) -> None:
    with pytest.raises(CatalogError, match=r"component gone: is not in manifests/"):
        comes_to(catalog, Choice("core", ("gone",)))
    assert comes_to(catalog, Choice("core", ("gone",)), profile="core").choice == Choice("core")
    assert comes_to(catalog, Choice("core", (), ("gone",))).choice == Choice("core")  # it is left out anyway


def test_a_component_that_the_target_does_not_have_is_told_before_anything_is_built(catalog: Catalog) -> None:
    (catalog.root / "overlays/local/extra").rmdir()
    (catalog.root / "overlays/local/target.yaml").write_text("name: local\nsummary: x\nprofiles: {core: [c, lone]}\n")
    with pytest.raises(CatalogError, match="component extra: is not in target local"):
        comes_to(load(catalog.root), None, added=("extra",))


def test_an_overlay_is_not_dropped_in_silence(catalog: Catalog, tmp_path: Path) -> None:
    before = Choice(overlay="/site")
    for options in ({}, {"components": ("a",)}, {"profile": "full"}):
        with pytest.raises(RefusalError, match="overlay /site: is what this cluster was installed with") as caught:
            comes_to(catalog, before, **options)
        assert caught.value.remedy == "add --overlay /site, or --no-overlay to take it back"
    assert comes_to(catalog, before, no_overlay=True).choice == Choice()
    assert comes_to(catalog, before, overlay=tmp_path).choice == Choice(overlay=str(tmp_path))


def test_a_mirror_holds_until_it_is_taken_back_or_changed(catalog: Catalog) -> None:
    chosen = comes_to(catalog, None, mirror=mirror_named("reg.test/p")).choice
    assert chosen == Choice(mirror="reg.test/p")
    for options in ({}, {"profile": "full"}, {"components": ("a",)}, {"added": ("extra",)}):
        assert comes_to(catalog, chosen, **options).choice.mirror == "reg.test/p"
    assert comes_to(catalog, chosen, mirror=mirror_named("other.test:5000")).choice.mirror == "other.test:5000"
    assert comes_to(catalog, chosen, no_mirror=True).choice == Choice()


def test_a_mirror_of_before_is_told(catalog: Catalog) -> None:
    told = Told()
    comes_to(catalog, Choice(mirror="reg.test/p"), told)
    assert told == ["as chosen before: --profile core --mirror reg.test/p"]


def test_what_others_require_may_be_left_out_where_the_cluster_has_it(catalog: Catalog) -> None:
    asked_for: list[list[str]] = []

    def there(names: Any) -> set[str]:
        asked_for.append(list(names))
        return {"a"}

    told = Told()
    settled = settle(asked(left_out=("a", "lone")), catalog, "local", None, told, there)
    assert settled.names == ("b", "c")
    assert settled.choice == Choice(left_out=("a", "lone"))
    assert asked_for == [["a"]]
    assert told == ["a is left out: the components that require it use the one that is there"]
    again = settle(asked(components=("b",)), catalog, "local", settled.choice, told, there)
    assert again.names == ("b",)


def test_what_others_require_may_not_be_left_out_where_the_cluster_does_not_have_it(catalog: Catalog) -> None:
    with pytest.raises(CatalogError, match="component a: cannot be left out: it is required by b"):
        settle(asked(left_out=("a",)), catalog, "local", None, Told(), lambda names: set())


def test_the_cluster_is_not_asked_where_nothing_that_is_left_out_is_required(catalog: Catalog) -> None:
    settle(asked(left_out=("lone",)), catalog, "local", None, Told(), lambda names: pytest.fail("asked"))


@pytest.fixture
def with_values(catalog: Catalog) -> Catalog:
    about = catalog.root / "manifests/cluster/a/component.yaml"
    declared = "values: {cpu: {about: CPUs, type: quantity}, pool: {about: a pool}}\n"
    about.write_text(about.read_text() + declared)
    (catalog.root / "overlays/local/values.yaml").write_text("a: {cpu: 1, pool: x}\n")
    return load(catalog.root)


def test_values_of_before_hold_until_a_file_takes_their_place_or_they_are_taken_back(with_values: Catalog) -> None:
    before = Choice(values=(("a.cpu", "8"),))
    assert comes_to(with_values, before).choice.values == (("a.cpu", "8"),)
    assert comes_to(with_values, before, profile="full").choice.values == (("a.cpu", "8"),)
    assert comes_to(with_values, before, components=("lone",)).choice.values == (("a.cpu", "8"),)
    file = ValuesFile("v.yaml", "a: {pool: big}\n")
    assert comes_to(with_values, before, values=file).choice.values == (("a.pool", "big"),)
    assert comes_to(with_values, before, no_values=True).choice.values == ()


def test_value_of_before_that_is_none_any_longer_is_left_out_and_told(with_values: Catalog) -> None:
    told = Told()
    found = comes_to(with_values, Choice(values=(("a.cpu", "8"), ("a.gone", "x"))), told)
    assert found.choice.values == (("a.cpu", "8"),)
    assert any("value a.gone of before is no value of target local any longer" in text for text in told)


def test_value_of_before_that_no_longer_fits_is_refused_with_the_way_on(with_values: Catalog) -> None:
    with pytest.raises(CatalogError, match=r"value a.cpu of before: 'unset' is not a quantity(?s:.*)--no-values"):
        comes_to(with_values, Choice(values=(("a.cpu", "unset"),)))


def test_file_of_values_may_be_a_pipe(with_values: Catalog, tmp_path: Path) -> None:
    """`--values <(sops --decrypt values.yaml)`: it can be read once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a: {cpu: 3}\n",))
    writer.start()
    read = asked(values=read_values_file(pipe))
    writer.join()
    read.open(with_values)
    assert settle(read, with_values, "local", None, Told()).choice.values == (("a.cpu", "3"),)
