"""What was chosen for a cluster, kept in a real one."""

from __future__ import annotations

import pytest
from apply_helpers import config_map, namespace, rendered

from modelyard import apply
from modelyard.catalog.choice import Choice
from modelyard.cluster import Session
from modelyard.errors import RefusalError
from modelyard.objects import text
from modelyard.plan import chosen


@pytest.mark.usefixtures("choice")
def test_a_choice_is_kept_and_written_only_when_it_changes(session: Session) -> None:
    assert apply.read_choice(session) is None
    choice = Choice("core", ("keda",), ("lws",), "/site")
    apply.keep_choice(session, choice)
    assert apply.read_choice(session) == choice
    before = session.get(chosen.REF)
    apply.keep_choice(session, choice)
    assert text(session.get(chosen.REF), "metadata", "resourceVersion") == text(before, "metadata", "resourceVersion")
    apply.keep_choice(session, Choice("full"))
    assert apply.read_choice(session) == Choice("full")


@pytest.mark.usefixtures("choice")
def test_a_damaged_choice_is_a_refusal_that_says_how_to_mend_it(session: Session) -> None:
    apply.keep_choice(session, Choice())
    session.apply({**chosen.choice_object(Choice(), cluster=session.cluster_id), "data": {"choice": "{"}})
    with pytest.raises(RefusalError, match=r"choice of components .*: it is damaged") as caught:
        apply.read_choice(session)
    assert "delete configmap choice" in caught.value.remedy


def test_what_is_installed_and_not_chosen_is_told_and_stays(session: Session, own: str) -> None:
    items = [
        rendered(own, namespace(own), config_map(own, "a")),
        rendered(f"{own}-b", config_map(own, "b"), requires=(own,)),
    ]
    apply.install(session, items)
    apply.install(session, items[:1])
    assert f"{own}-b" in apply.unchosen(session, [own])
    assert own not in apply.unchosen(session, [own])
    assert {own, f"{own}-b"} <= {each.name for each in apply.status(session) if each.ready}
