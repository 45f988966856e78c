"""Removing exactly what was installed: users' objects, namespaces, finalizers, order, lost inventories."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest
from apply_helpers import Events, config_map, definition, namespace, rendered, thing

from modelyard.apply import StoppedError, install, plan_removal, uninstall
from modelyard.apply.lost import find_lost
from modelyard.apply.members import parent_ref
from modelyard.catalog import Component
from modelyard.cluster import Session
from modelyard.errors import CatalogError, NotReadyError, RefusalError
from modelyard.events import Note
from modelyard.local import ClusterInfo
from modelyard.objects import Object, ObjectRef, labels_of, ref_of, text


def the_namespace(own: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", own)


def uid(obj: Object) -> str:
    return text(obj, "metadata", "uid")


def catalogue(name: str, *requires: str) -> dict[str, Component]:
    """Return a catalogue of one component."""
    return {name: rendered(name, requires=requires).component}


def test_all_that_was_installed_goes_and_nothing_else(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    mine = [namespace(own), config_map(own, "settings"), definition(group), thing(group, own, "x")]
    theirs = config_map("default", f"{own}-theirs")
    session.create(theirs)
    install(session, [rendered(own, *mine)])
    uninstall(session, plan_removal(session, [own]), timeout=180)
    assert [ref for ref in map(ref_of, mine) if session.get(ref) is not None] == []
    assert session.get(parent_ref(own)) is None
    assert session.get(ref_of(theirs)) is not None
    session.delete(ref_of(theirs))


def test_a_definition_with_a_user_s_object_is_a_refusal_that_names_it(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    settings = config_map(own, "settings")
    install(session, [rendered(own, namespace(own), settings, definition(group))])
    session.create(thing(group, own, "precious"))
    with pytest.raises(RefusalError) as caught:
        uninstall(session, plan_removal(session, [own]), timeout=10)
    assert f"Thing {own}/precious" in caught.value.cause
    assert "--delete-data" in caught.value.remedy
    assert session.get(ref_of(settings)) is not None
    assert session.get(ref_of(thing(group, own, "precious"))) is not None


def test_a_user_s_object_that_another_of_theirs_owns_counts_too(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    install(session, [rendered(own, namespace(own), definition(group))])
    owner = session.create(config_map("default", f"{own}-theirs"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": f"{own}-theirs", "uid": uid(owner)}
    owned = thing(group, "default", "precious")
    owned["metadata"]["ownerReferences"] = [reference]
    session.create(owned)
    with pytest.raises(RefusalError, match="Thing default/precious"):
        uninstall(session, plan_removal(session, [own]), timeout=180)
    assert session.get(ref_of(owned)) is not None
    session.delete(ref_of(owner))  # takes it along


def test_a_user_s_object_made_after_the_plan_is_a_refusal_before_the_component_changes(
    session: Session, own: str
) -> None:
    group = f"{own}.example.test"
    settings = config_map(own, "settings")
    install(session, [rendered(own, namespace(own), settings, definition(group))])
    removal = plan_removal(session, [own])
    session.create(thing(group, own, "late"))
    with pytest.raises(RefusalError, match=f"Thing {own}/late; {own} is as it was"):
        uninstall(session, removal, timeout=180)
    assert session.get(ref_of(settings)) is not None
    assert session.get(ref_of(thing(group, own, "late"))) is not None


def test_a_user_s_object_made_while_the_component_goes_keeps_its_definition(
    session: Session, own: str, events: Events
) -> None:
    group = f"{own}.example.test"
    settings, late = config_map(own, "settings"), thing(group, own, "late")
    settings["metadata"]["finalizers"] = ["example.test/wait"]

    def on_progress(detail: str) -> None:
        if "example.test/wait" in detail and session.get(ref_of(late)) is None:
            session.create(late)
            session.patch(ref_of(settings), {"metadata": {"finalizers": None}})

    events.on_progress = on_progress
    install(session, [rendered(own, namespace(own), settings, definition(group))])
    with pytest.raises(RefusalError, match=f"Thing {own}/late; they are kept"):
        uninstall(session, plan_removal(session, [own]), emit=events, timeout=180)
    assert session.get(ref_of(settings)) is None
    assert session.get(ref_of(late)) is not None
    session.delete(ref_of(late))
    uninstall(session, plan_removal(session, [own]), timeout=180)
    assert session.get(ref_of(definition(group))) is None


def test_delete_data_takes_users_objects_along(session: Session, own: str) -> None:
    group = f"{own}.example.test"
    install(session, [rendered(own, namespace(own), definition(group))])
    session.create(thing(group, own, "precious"))
    uninstall(session, plan_removal(session, [own]), delete_data=True, timeout=180)
    assert session.get(ref_of(definition(group))) is None
    assert session.get(the_namespace(own)) is None


def test_a_namespace_that_somebody_uses_is_kept_and_told(session: Session, own: str, events: Events) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings"))])
    session.create(config_map(own, "theirs"))
    uninstall(session, plan_removal(session, [own]), emit=events, timeout=180)
    assert session.get(ref_of(config_map(own, "theirs"))) is not None
    assert session.get(ref_of(config_map(own, "settings"))) is None
    (note,) = [note for note in events.of(Note) if own in note.text]
    assert f"kept Namespace {own}" in note.text
    assert f"ConfigMap {own}/theirs" in note.text


def test_a_finalizer_that_nobody_clears_is_named_and_a_second_run_goes_on(
    session: Session, own: str, events: Events
) -> None:
    group = f"{own}.example.test"
    held = thing(group, own, "held")
    held["metadata"]["finalizers"] = ["example.test/never"]
    install(session, [rendered(own, namespace(own), definition(group), held)])
    stop = events.stop_at(r"Thing .*/held: .*example\.test/never")
    with pytest.raises(StoppedError):
        uninstall(session, plan_removal(session, [own]), emit=events, timeout=180, cancelled=stop)
    with pytest.raises(NotReadyError) as caught:
        uninstall(session, plan_removal(session, [own]), timeout=1)
    assert caught.value.subject == f"Thing {own}/held"
    assert "example.test/never" in caught.value.cause
    assert session.get(ref_of(definition(group))) is not None  # its kind outlives it
    session.apply({**held, "metadata": {"name": "held", "namespace": own}})  # drops the finalizer
    uninstall(session, plan_removal(session, [own]), timeout=180)
    assert session.get(the_namespace(own)) is None


def test_what_a_controller_made_goes_while_the_controller_is_there(session: Session, own: str, events: Events) -> None:
    """The test plays the controller: a Thing that it made of the component's own has a finalizer of its."""
    group = f"{own}.example.test"
    settings, pool, claim = config_map(own, "settings"), thing(group, own, "pool"), thing(group, own, "claim")
    install(session, [rendered(own, namespace(own), definition(group), settings, pool)])
    owner = {
        "apiVersion": f"{group}/v1",
        "kind": "Thing",
        "name": "pool",
        "uid": uid(session.get(ref_of(pool)) or {}),
    }
    claim["metadata"] |= {"finalizers": ["example.test/clean-up"], "ownerReferences": [owner]}
    session.create(claim)
    cleaned: list[bool] = []

    def controller(detail: str) -> None:
        if "example.test/clean-up" in detail and not cleaned:
            cleaned.append(session.get(ref_of(settings)) is not None)  # without them it could not
            session.patch(ref_of(claim), {"metadata": {"finalizers": None}})

    events.on_progress = controller
    uninstall(session, plan_removal(session, [own]), emit=events, timeout=180)
    assert cleaned == [True]
    assert session.get(ref_of(definition(group))) is None


def test_what_is_made_while_its_controller_goes_does_not_hold_its_definition(
    session: Session, own: str, events: Events
) -> None:
    """As Kueue makes a Workload anew for a job that stays: with Kueue gone, nobody takes its finalizer off."""
    group = f"{own}.example.test"
    settings, late = config_map(own, "settings"), thing(group, "default", f"{own}-late")
    settings["metadata"]["finalizers"] = ["example.test/wait"]
    late["metadata"]["finalizers"] = [f"{group}/resource-in-use"]

    def on_progress(detail: str) -> None:
        if "example.test/wait" in detail and session.get(ref_of(late)) is None:
            session.create(late)
            session.patch(ref_of(settings), {"metadata": {"finalizers": None}})

    events.on_progress = on_progress
    install(session, [rendered(own, namespace(own), settings, definition(group))])
    uninstall(session, plan_removal(session, [own]), delete_data=True, timeout=60, emit=events)
    assert session.get(ref_of(definition(group))) is None
    assert any(f"Thing default/{own}-late" in note.text for note in events.of(Note))


def test_what_another_component_requires_does_not_go_alone(session: Session, own: str) -> None:
    items = [rendered(f"{own}-a", namespace(own)), rendered(f"{own}-b", config_map(own, "b"), requires=(f"{own}-a",))]
    install(session, items)
    with pytest.raises(RefusalError, match=f"is required by {own}-b"):
        plan_removal(session, [f"{own}-a"])
    assert plan_removal(session, [f"{own}-a", f"{own}-b"]).order == (f"{own}-b", f"{own}-a")


def test_a_lost_inventory_is_a_refusal_that_names_both_ways_on(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings"))])
    session.delete(parent_ref(own))
    with pytest.raises(RefusalError) as caught:
        plan_removal(session, [own])
    assert "is lost, though 2 objects carry its label" in caught.value.cause
    assert f"modelyard install --component {own}" in caught.value.remedy
    assert "--lost" in caught.value.remedy


def test_a_lost_inventory_is_found_though_nobody_names_its_component(session: Session, own: str) -> None:
    install(session, [rendered(own, namespace(own), config_map(own, "settings"))])
    session.delete(parent_ref(own))
    found = find_lost(session, (), (), lambda: catalogue(own))
    assert [ref.name for ref in found[own].refs] == ["settings", own]
    with pytest.raises(RefusalError, match="nothing was changed"):
        plan_removal(session, (), catalogue=lambda: catalogue(own))


def test_told_to_what_carries_the_label_of_a_lost_inventory_goes_and_nothing_else(session: Session, own: str) -> None:
    settings, copied = config_map(own, "settings"), config_map("default", f"{own}-copied")
    install(session, [rendered(own, namespace(own), settings)])
    session.delete(parent_ref(own))
    labels = labels_of(session.get(ref_of(settings)))
    session.create({**copied, "metadata": {**copied["metadata"], "labels": labels}})  # as controllers copy them
    try:
        uninstall(session, plan_removal(session, [own], lost=True), timeout=180)
        assert session.get(ref_of(copied)) is not None
    finally:
        session.delete(ref_of(copied))
    assert session.get(ref_of(settings)) is None
    assert session.get(the_namespace(own)) is None


def test_a_component_that_stays_and_whose_inventory_is_lost_is_told(session: Session, own: str, events: Events) -> None:
    install(session, [rendered(own, namespace(own)), rendered(f"{own}-b", config_map("default", f"{own}-b"))])
    session.delete(parent_ref(f"{own}-b"))
    try:
        removal = plan_removal(session, [own], catalogue=lambda: catalogue(f"{own}-b"))
        uninstall(session, removal, timeout=180, emit=events)
        assert any(note.text.startswith(f"{own}-b stays: its inventory is lost") for note in events.of(Note))
    finally:
        session.delete(ref_of(config_map("default", f"{own}-b")))


def test_what_a_component_with_a_lost_inventory_requires_does_not_go_alone(session: Session, own: str) -> None:
    other = f"{own}-b"
    install(session, [rendered(own, namespace(own)), rendered(other, config_map(own, "b"), requires=(own,))])
    session.delete(parent_ref(other))
    with pytest.raises(RefusalError, match=f"is required by {other}"):
        plan_removal(session, [own], catalogue=lambda: catalogue(other, own))


def test_a_component_that_was_never_installed_is_told(session: Session, own: str) -> None:
    with pytest.raises(CatalogError, match="is not in the cluster's inventories"):
        plan_removal(session, [own])


def test_the_question_is_asked_before_anything_moves_on_the_terminal(
    session: Session, own: str, cluster: ClusterInfo
) -> None:
    install(session, [rendered(own, namespace(own))])
    inside, outside = pty.openpty()
    command = [sys.executable, "-m", "modelyard", "uninstall", "--component", own, "--kubeconfig", cluster.kubeconfig]
    process = subprocess.Popen(
        command, stdin=outside, stdout=outside, stderr=outside, env=os.environ | {"TERM": "xterm"}
    )
    try:
        os.close(outside)
        shown = _read_until(inside, "[y/N]: ")
        os.write(inside, b"n\n")
        shown += _read_until(inside, "stopped")
    finally:
        process.kill()
        process.wait()
    os.close(inside)
    question = shown.partition("remove all that?")[0]
    assert "\x1b" not in question  # no control sequence: nothing hides the cursor or wipes a line
    assert session.get(the_namespace(own)) is not None


def _read_until(descriptor: int, end: str) -> str:
    shown, deadline = "", time.monotonic() + 60
    while end not in shown:
        ready, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"not shown: {end!r}; shown: {shown!r}"
        shown += os.read(descriptor, 4096).decode(errors="replace")
    return shown
