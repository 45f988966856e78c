"""On a real control plane: what a component has is found while the webhook that converts it does not answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from apply_helpers import Obj, definition, namespace, rendered, thing

from modelyard.apply import Rendered, install, members
from modelyard.apply.lost import find_lost, live
from modelyard.cluster import ApiError, Session, Watcher, connect
from modelyard.local import ClusterInfo
from modelyard.objects import GroupKind, ref_of

NOBODY = {"clientConfig": {"url": "https://127.0.0.1:1/convert"}, "conversionReviewVersions": ["v1"]}


@pytest.fixture
def group(own: str) -> str:
    return f"{own}.example.test"


@pytest.fixture
def crd(group: str) -> Obj:
    """A definition of two versions: objects are stored as the first and asked for as the second, the newer one."""
    made = definition(group)
    made["spec"]["versions"].append({**made["spec"]["versions"][0], "name": "v2", "storage": False})
    return made


@pytest.fixture
def unconverted(
    session: Session, own: str, group: str, crd: Obj, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rendered]:
    """A component with one custom resource, of a kind whose conversion webhook is nobody."""
    item = rendered(own, namespace(own), crd, thing(group, own, "x"))
    install(session, [item])
    monkeypatch.setattr(session.transport, "_patience", 1.0)  # a list is asked for again while the kind's cache begins
    _convert(session, crd, {"strategy": "Webhook", "webhook": NOBODY})
    try:
        _wait_until(session, lambda: _is_unconverted(session, GroupKind(group, "Thing")))
        yield item
    finally:
        _convert(session, crd, {"strategy": "None", "webhook": None})


def test_members_are_listed_as_they_are_stored_while_nothing_converts_them(
    session: Session, own: str, group: str, unconverted: Rendered
) -> None:
    kind = GroupKind(group, "Thing")
    found = members.live(session, own, frozenset({kind}), {kind: "v2"})
    assert list(found) == [ref_of(unconverted.objects[-1])]


def test_what_is_lost_is_looked_for_while_nothing_converts_a_kind(
    session: Session, own: str, unconverted: Rendered
) -> None:
    """An uninstall looks at all kinds of a cluster, and somebody else's controller may be down."""
    assert own not in find_lost(session, [own], (), dict)
    lost = find_lost(session, (), [own], dict)[own]
    assert ref_of(unconverted.objects[-1]) in live(session, lost)


def test_a_watch_goes_on_once_they_are_converted_again(
    session: Session, cluster: ClusterInfo, own: str, group: str, crd: Obj, unconverted: Rendered
) -> None:
    kind = GroupKind(group, "Thing")
    another = connect(cluster.kubeconfig)  # it knows the kind by discovery: by its newest version
    _convert(session, crd, {"strategy": "None", "webhook": None})
    _wait_until(session, lambda: not _is_unconverted(session, kind))
    with Watcher(another, namespace=own) as watcher:
        assert watcher.watch(kind)
        _convert(session, crd, {"strategy": "Webhook", "webhook": NOBODY})
        _wait_until(session, lambda: _is_unconverted(session, kind))
        watcher._streams[kind].shutdown()  # as when the apiserver starts again
        session.apply(thing(group, own, "later"))
        assert watcher.next(2.0) is None
        _convert(session, crd, {"strategy": "None", "webhook": None})
        seen = watcher.next(60.0)
    assert seen is not None
    assert seen.ref.name == "later"


def _convert(session: Session, crd: Obj, how: Obj) -> None:
    session.patch(ref_of(crd), {"spec": {"conversion": how}})


def _is_unconverted(session: Session, kind: GroupKind) -> bool:
    """Tell whether a list of the second version fails: the apiserver hears of a new webhook a moment later."""
    try:
        session.list(kind, version="v2")
    except ApiError as error:
        return error.unconverted
    return False


def _wait_until(session: Session, reached: Callable[[], bool]) -> None:
    for _ in range(300):
        if reached():
            return
        session.transport.cancelled.wait(0.1)
    raise AssertionError("not within 30 s")
