"""A serving certificate changes while its server serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.certificates.hooks import HOOKS, Hook
from conformance.certificates.kubelet import Mounts
from conformance.certificates.lifetime import ServingCertificate
from conformance.certificates.traffic import Traffic
from conformance.support.images import python_image
from conformance.support.waiting import wait_for
from conformance.support.workspace import Workspace
from modelyard.cluster import Session
from modelyard.objects import Object

pytestmark = pytest.mark.proves("cert-manager")

OBSERVER = "observer"
RENEWALS = 2


@pytest.mark.parametrize(
    "hook", [pytest.param(hook, marks=pytest.mark.needs(hook.component), id=hook.component) for hook in HOOKS]
)
def test_webhook_traffic_goes_on_while_its_certificate_is_renewed(
    hook: Hook, session: Session, workspace: Workspace
) -> None:
    """Two certificates of a webhook come to the end of their life; the next is shown, and no request fails.

    A client in the cluster that connects anew each time, and checks authority and name, says which one is shown.

    Seen to fail with cert-manager's controller scaled to 0 (nothing is issued), and with Kueue's Deployment scaled
    to 0 in the middle (requests fail).
    """
    assert hook.is_asked(session), f"no webhook of {hook.service} refuses {hook.resource} that it cannot judge"
    certificate = ServingCertificate(session, hook.namespace, hook.certificate)
    workspace.create(_observer(hook.host, certificate.authority()))
    with (
        Mounts(session, hook.namespace) as mounts,
        Traffic(lambda: hook.ask(session, workspace.name)) as traffic,
        certificate.short_lived(),
    ):
        before: set[str] = set()
        _wait_until_shown(workspace, mounts, certificate, before)
        for _ in range(RENEWALS):
            wait_for("it is renewed", certificate.fingerprint, lambda issued: issued not in before)
            _wait_until_shown(workspace, mounts, certificate, before)
        sent = traffic.answered
        wait_for("requests with the last one", lambda: traffic.answered > sent)

    failed = traffic.failures
    assert not failed, f"{len(failed)} requests failed, {traffic.answered} did not; the first: {failed[0]}"
    assert "refused" not in workspace.logs(OBSERVER)


def _wait_until_shown(workspace: Workspace, mounts: Mounts, certificate: ServingCertificate, before: set[str]) -> None:
    """Wait until the server shows a certificate that was issued since those `before`, and add it to them.

    Not only the last one counts: on a busy machine, the next may be issued before this one is shown.
    """
    issued: set[str] = set()

    def last_shown() -> str:
        latest = certificate.fingerprint()
        if latest not in before | issued:
            issued.add(latest)
            mounts.renew(latest)
        return _shown(workspace)

    shown = wait_for("an issued certificate is shown", last_shown, lambda found: found in issued)
    before.add(shown)


def _observer(host: str, authority: str) -> Object:
    """Return a pod that no queue holds."""
    source = Path(__file__).with_name("observer.py").read_text()
    environment = {"HOST": host, "PORT": "443", "CA": authority}
    container = {
        "name": OBSERVER,
        "image": python_image(),
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", source],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}},
    }
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": OBSERVER}, "spec": spec}


def _shown(workspace: Workspace) -> str:
    """Return the certificate that was shown last; empty before the first."""
    lines = [line.split() for line in workspace.logs(OBSERVER).splitlines()]
    return next((words[1] for words in reversed(lines) if words[0] == "served"), "")
