"""No state from which neither install nor uninstall leads on: controllers at zero, gone, or never to come back.

The controller is a stand-in (stand_in.py): its Deployment runs, what it does is done by the test while that is ready.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from apply_helpers import Events, config_map, definition, namespace, rendered, thing
from stand_in import FINALIZER, component, controller, group_of, guarded, playing, scale

from modelyard.apply import StoppedError, install, plan_removal, revive, uninstall
from modelyard.cluster import Session
from modelyard.errors import NotReadyError
from modelyard.events import Note
from modelyard.objects import Object, ref_of
from modelyard.plan.stuck import finalizers

NOWHERE = "test.modelyard.dev/nowhere:1"
CLOSED = "https://127.0.0.1:1/"  # nobody listens there


def is_there(session: Session, obj: Object) -> bool:
    return session.get(ref_of(obj)) is not None


def notes(events: Events) -> str:
    return "\n".join(note.text for note in events.of(Note))


def webhook(own: str) -> dict[str, object]:
    """Return a webhook that refuses every change of a Thing: nobody answers for it."""
    hook = {
        "name": "hook.example.test",
        "clientConfig": {"url": CLOSED},
        "rules": [
            {"apiGroups": [group_of(own)], "apiVersions": ["*"], "resources": ["things"], "operations": ["UPDATE"]}
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": own},
        "webhooks": [hook],
    }


@pytest.fixture
def broken(session: Session, own: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A component whose controller never starts, and a user's Thing that waits for it when it is deleted."""
    monkeypatch.setattr(revive, "REVIVE_SECONDS", 1.0)
    events = Events()
    stop = events.stop_at(r"/manager: .*container manager")
    with pytest.raises(StoppedError):
        install(session, [component(own, image=NOWHERE)], emit=events, timeout=180, cancelled=stop)
    session.create(guarded(own, own, "precious"))
    yield own
    if is_there(session, thing(group_of(own), own, "precious")):
        session.patch(ref_of(thing(group_of(own), own, "precious")), {"metadata": {"finalizers": None}})


def test_a_controller_at_zero_is_brought_back_before_what_waits_for_it_goes(
    session: Session, own: str, events: Events, shell: str
) -> None:
    install(session, [component(own)], timeout=180)
    session.create(guarded(own, own, "precious"))
    scale(session, own, 0)
    with playing(session, own):
        uninstall(session, plan_removal(session, [own]), delete_data=True, emit=events, timeout=180)
    assert f"{own}: Deployment {own}/manager was at 0 replicas; brought back" in notes(events)
    assert not is_there(session, definition(group_of(own)))
    assert not is_there(session, namespace(own))


def test_a_namespace_that_is_going_already_goes_once_the_controller_of_a_component_that_stays_is_back(
    session: Session, own: str, events: Events, shell: str
) -> None:
    team = f"{own}-team"
    install(session, [component(own), rendered(team, namespace(team), requires=(own,))], timeout=180)
    session.create(guarded(own, team, "precious"))
    scale(session, own, 0)
    session.delete(ref_of(namespace(team)))
    with playing(session, own):
        uninstall(session, plan_removal(session, [team]), delete_data=True, emit=events, timeout=180)
    assert not is_there(session, namespace(team))
    assert is_there(session, definition(group_of(own)))  # it was not asked for


def test_what_waits_for_a_controller_that_never_comes_back_is_named_with_the_controller(
    session: Session, broken: str, events: Events
) -> None:
    with pytest.raises(NotReadyError) as caught:
        uninstall(session, plan_removal(session, [broken]), delete_data=True, emit=events, timeout=2)
    assert caught.value.subject == f"Thing {broken}/precious"
    assert f"waits for {FINALIZER}" in caught.value.cause
    assert f"its controller: Deployment {broken}/manager 0/1 ready: container manager: " in caught.value.cause
    assert "--remove-finalizers" in caught.value.remedy
    assert f"{broken}: its controller does not come back: Deployment {broken}/manager" in notes(events)


def test_told_to_finalizers_are_taken_off_what_is_deleted_and_nothing_else(
    session: Session, broken: str, events: Events
) -> None:
    other = config_map("default", f"{broken}-theirs")
    other["metadata"]["finalizers"] = [FINALIZER]
    session.create(other)
    session.delete(ref_of(other))  # somebody else's, and it hangs too
    try:
        uninstall(
            session,
            plan_removal(session, [broken]),
            delete_data=True,
            remove_finalizers=True,
            emit=events,
            timeout=180,
        )
        assert finalizers(session.get(ref_of(other)) or {}) == (FINALIZER,)
    finally:
        session.patch(ref_of(other), {"metadata": {"finalizers": None}})
    assert re.search(rf"took {FINALIZER}.* off Thing {broken}/precious", notes(events))
    assert not is_there(session, definition(group_of(broken)))
    assert not is_there(session, namespace(broken))


def test_webhooks_of_a_controller_that_is_gone_are_taken_away_before_finalizers(
    session: Session, own: str, events: Events, shell: str
) -> None:
    """As somebody left it who deleted the Deployment and the namespace: no finalizer can be taken off."""
    hook = webhook(own)
    install(session, [component(own, hook)], timeout=180)
    session.create(guarded(own, own, "precious"))
    session.delete(controller(own))
    session.delete(ref_of(namespace(own)))
    with pytest.raises(NotReadyError, match="is not there"):
        uninstall(session, plan_removal(session, [own]), delete_data=True, timeout=2)
    uninstall(session, plan_removal(session, [own]), delete_data=True, remove_finalizers=True, emit=events, timeout=180)
    assert f"{own}: removed ValidatingWebhookConfiguration {own}: nobody answers for it" in notes(events)
    for obj in (namespace(own), definition(group_of(own)), hook):
        assert not is_there(session, obj)


def test_install_waits_for_what_is_being_deleted_and_then_makes_it_anew(
    session: Session, own: str, events: Events
) -> None:
    item = rendered(own, namespace(own), definition(group_of(own)), config_map(own, "settings"))
    install(session, [item], timeout=180)
    precious = guarded(own, own, "precious")
    session.create(precious)
    before = session.get(ref_of(namespace(own)))
    session.delete(ref_of(namespace(own)))

    seen: list[str] = []

    def let_go(detail: str) -> None:
        if "is being deleted" in detail and not seen:
            session.patch(ref_of(precious), {"metadata": {"finalizers": None}})
            seen.append(detail)

    events.on_progress = let_go
    install(session, [item], emit=events, timeout=180)
    assert seen
    now = session.get(ref_of(namespace(own)))
    assert now is not None and before is not None
    assert now["metadata"]["uid"] != before["metadata"]["uid"]
    assert is_there(session, config_map(own, "settings"))


def test_install_names_what_is_being_deleted_and_does_not_go_with_the_way_on(session: Session, own: str) -> None:
    item = rendered(own, namespace(own), definition(group_of(own)))
    install(session, [item], timeout=180)
    precious = guarded(own, own, "precious")
    session.create(precious)
    session.delete(ref_of(definition(group_of(own))))
    with pytest.raises(NotReadyError) as caught:
        install(session, [item], timeout=1)
    assert caught.value.subject == f"CustomResourceDefinition things.{group_of(own)}"
    assert f"Thing {own}/precious in it: going; waits for {FINALIZER}" in caught.value.cause
    assert "modelyard uninstall --delete-data --remove-finalizers" in caught.value.remedy
    uninstall(session, plan_removal(session, [own]), delete_data=True, remove_finalizers=True, timeout=2)
    assert not is_there(session, definition(group_of(own)))
    install(session, [item], timeout=180)
