"""What component.yaml says of an uninstall holds: in use, by-products; of kinds that nothing in the code knows."""

from __future__ import annotations

from typing import Any

import pytest
from apply_helpers import Events, Obj, definition, namespace, rendered, thing

from modelyard.apply import Rendered, install, plan_removal, uninstall
from modelyard.apply.members import parent_ref, read
from modelyard.cluster import Session
from modelyard.errors import NotReadyError, RefusalError
from modelyard.events import Note
from modelyard.objects import ref_of, text


def rules(group: str) -> dict[str, Any]:
    drain = {"kind": f"Thing.{group}", "users": f"User.{group}", "path": "spec.uses.*", "until": "Over"}
    made = {"kind": f"User.{group}", "annotations": ["made.test/by"]}
    return {"drains": [drain | {"patch": {"spec": {"stop": "yes"}}}], "byProducts": [made]}


def component(own: str, **more: Any) -> Rendered:
    group = f"{own}.example.test"
    objects = [namespace(own), definition(group), definition(group, "User"), thing(group, own, "shared")]
    return rendered(own, *objects, removal=rules(group), **more)


def user(own: str, name: str, *uses: str, **metadata: Any) -> Obj:
    named = {"name": name, "namespace": own} | metadata
    return {"apiVersion": f"{own}.example.test/v1", "kind": "User", "metadata": named, "spec": {"uses": list(uses)}}


def test_what_is_in_use_is_refused_and_named_and_nothing_is_changed(session: Session, own: str) -> None:
    install(session, [component(own)])
    made = {"annotations": {"made.test/by": "a controller"}}
    session.create(user(own, "other", "another", **made))
    busy = session.create(user(own, "busy", "shared", **made))
    with pytest.raises(
        RefusalError, match=f"is in use: Thing {own}/shared holds User {own}/busy; nothing was"
    ) as found:
        uninstall(session, plan_removal(session, [own]), timeout=30)
    assert "--delete-data" in found.value.remedy
    session.delete(ref_of(busy))
    uninstall(session, plan_removal(session, [own]), timeout=180)
    assert read(session, own) is None


def test_told_to_the_controller_is_asked_to_stop_those_who_use_it(session: Session, own: str, events: Events) -> None:
    install(session, [component(own)])
    busy = session.create(user(own, "busy", "shared"))
    with pytest.raises(NotReadyError, match="is still in use after 2 s"):  # nobody stops it here
        uninstall(session, plan_removal(session, [own]), delete_data=True, emit=events, timeout=2)
    assert any("stopped those who use what goes" in note.text for note in events.of(Note))
    shared = session.get(ref_of(thing(f"{own}.example.test", own, "shared")))
    assert text(shared, "spec", "stop") == "yes"
    session.delete(ref_of(busy))
    uninstall(session, plan_removal(session, [own]), delete_data=True, timeout=180)
    assert read(session, own) is None


def test_rules_that_changed_are_in_the_inventory_after_the_next_install(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    objects = [namespace(own), definition(group)]
    install(session, [rendered(own, *objects)])
    install(session, [rendered(own, *objects, removal=rules(group))])
    found = read(session, own)
    assert found is not None
    assert [each.users for each in found.removal.drains] == [f"User.{group}"]
    uninstall(session, plan_removal(session, [own]), timeout=180)


def test_an_inventory_from_before_there_were_rules_has_the_catalogue_s(session: Session, own: str) -> None:
    item = component(own)
    install(session, [item])
    session.patch(parent_ref(own), {"data": {"removal": None}})
    busy = session.create(user(own, "busy", "shared", annotations={"made.test/by": "a controller"}))
    with pytest.raises(RefusalError, match="is in use"):
        removal = plan_removal(session, [own], catalogue=lambda: {own: item.component})
        uninstall(session, removal, timeout=30)
    session.delete(ref_of(busy))
    uninstall(session, plan_removal(session, [own], catalogue=lambda: {own: item.component}), timeout=180)
    assert read(session, own) is None
