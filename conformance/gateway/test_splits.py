"""Two versions of a model behind one host name: requests are split by weight, or by a header."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.gateway import asking
from conformance.gateway.routes import NAMESPACE_LABEL, apply_route, backend, rule
from conformance.support import adders, serving
from conformance.support.removal import Removal
from conformance.support.volumes import Volumes
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace, open_workspace
from modelyard.cluster import Session

pytestmark = [pytest.mark.needs("traefik", "kserve"), pytest.mark.proves("gateway-api", "traefik")]

RATE = 40  # requests a second
POINTS = 0.03


@pytest.fixture(scope="module")
def workspace(session: Session, removal: Removal) -> Iterator[Workspace]:
    """A namespace whose routes the Gateway takes."""
    workspace = open_workspace(session, area="gateway", labels=NAMESPACE_LABEL)
    yield workspace
    removal.remove(workspace.ref)


@pytest.fixture(scope="module")
def asked(workspace: Workspace, removal: Removal) -> Iterator[Workspace]:
    """Serve both versions behind one route, with a client that asks all the while."""
    volumes = Volumes(workspace)
    adders.write(workspace, volumes)
    for version in adders.ANSWERS:
        workspace.apply(adders.service(version))
    for version in adders.ANSWERS:
        serving.wait_until_ready(workspace, version)
    apply_route(workspace, adders.MODEL, _weighted(100, 0))
    asking.start(workspace, adders.MODEL, rate=RATE)
    yield workspace
    volumes.remove(removal)


def test_requests_are_split_by_weight_and_none_is_lost_while_weights_change(asked: Workspace) -> None:
    """Seen to fail with every weight 1 in `backend`: half of the requests go to each version."""
    for first, second in ((90, 10), (70, 30)):
        apply_route(asked, adders.MODEL, _weighted(first, second))
        seen = _measured(asked, f"{first}-{second}")
        to_second = sum(each.get("v2", 0) for each in seen.values())
        assert to_second / asking.SAMPLE == pytest.approx(second / 100, abs=POINTS), seen
    _none_is_lost(asked)


def test_requests_with_a_header_go_to_the_version_that_it_names(asked: Workspace) -> None:
    """Every fifth request carries the header.

    Seen to fail without `headers` in the first rule: all go to the second version.
    """
    by_header = rule("by-header", [backend("v2")], headers={"x-model-version": "v2"})
    apply_route(asked, adders.MODEL, by_header, rule("by-header", [backend("v1")]))
    seen = _measured(asked, "by-header")
    assert set(seen["plain"]) == {"v1"}, seen
    assert set(seen["marked"]) == {"v2"}, seen
    assert seen["marked"]["v2"] / asking.SAMPLE == pytest.approx(0.2, abs=POINTS), seen
    _none_is_lost(asked)


def _weighted(first: int, second: int) -> dict[str, object]:
    return rule(f"{first}-{second}", [backend("v1", first), backend("v2", second)])


def _measured(workspace: Workspace, route: str) -> dict[str, dict[str, int]]:
    """Return the first 1,000 answers of a route, by whether they were asked for with the header, and by version."""
    found = wait_for(
        f"{asking.SAMPLE} answers by route {route}",
        lambda: asking.report(workspace),
        lambda report: report.measured(route) >= asking.SAMPLE,
    )
    return found.of(route)


def _none_is_lost(workspace: Workspace) -> None:
    report = asking.report(workspace)
    assert report.answered > 0
    assert report.failed == 0, report.failures
