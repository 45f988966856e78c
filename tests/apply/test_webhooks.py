"""A webhook is waited for until it answers: one that never does, one that comes late, one with the wrong CA.

The apiserver calls webhooks from the cluster's own namespaces, so the servers run in there, on 127.0.0.1.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from apply_helpers import Events, Obj, config_map, definition, deployment, namespace, rendered, thing
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from modelyard.apply import StoppedError, install
from modelyard.apply.gate import Gate
from modelyard.cluster import Session
from modelyard.errors import NotReadyError
from modelyard.local import ClusterInfo
from modelyard.local.node.enter import enter_prefix
from modelyard.objects import ref_of

Serve = Callable[[int], None]
PORT = 19443


class Certificate:
    """A self-signed certificate for 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
        now = datetime.datetime.now(datetime.UTC)
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(address, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )

    @property
    def bundle(self) -> str:
        """Return what a caBundle holds."""
        return base64.b64encode(self.certificate.read_bytes()).decode()


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return Certificate(tmp_path / "one")


@pytest.fixture
def serve(cluster: ClusterInfo, certificate: Certificate) -> Iterator[Serve]:
    """Start the webhook's server in the cluster's namespaces; it ends with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(port: int) -> None:
        program = Path(__file__).with_name("webhook_server.py")
        command = [*enter_prefix(cluster.name, None), sys.executable, str(program), str(port)]
        command += [str(certificate.certificate), str(certificate.key)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"

    yield start
    for process in running:
        process.kill()
        process.wait()


def configuration(own: str, group: str, port: int, bundle: str, *, kind: str = "Validating") -> Obj:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": own},
        "webhooks": [
            {
                "name": "hook.example.test",
                "clientConfig": {"url": f"https://127.0.0.1:{port}/validate", "caBundle": bundle},
                "rules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["v1"],
                        "resources": ["things"],
                        "operations": ["CREATE", "UPDATE"],
                    }
                ],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 2,
            }
        ],
    }


@pytest.mark.parametrize("kind", ["Validating", "Mutating"])
def test_a_webhook_that_never_answers_is_named_with_what_it_last_said(
    session: Session, own: str, certificate: Certificate, events: Events, kind: str
) -> None:
    group = f"{own}.example.test"
    hook = configuration(own, group, PORT + 1, certificate.bundle, kind=kind)
    wanted = thing(group, own, "x")
    item = rendered(own, namespace(own), definition(group), hook, wanted)
    with pytest.raises(StoppedError):
        install(session, [item], emit=events, timeout=180, cancelled=events.stop_at("connection refused"))
    with pytest.raises(NotReadyError) as caught:
        install(session, [item], timeout=1)
    assert caught.value.subject == f"{kind}WebhookConfiguration {own}, webhook hook.example.test"
    assert "does not answer after 1 s" in caught.value.cause
    assert "connection refused" in caught.value.cause
    assert session.get(ref_of(wanted)) is None


def test_a_webhook_that_comes_late_is_waited_for(
    session: Session, own: str, certificate: Certificate, serve: Serve, events: Events
) -> None:
    group = f"{own}.example.test"
    started = threading.Event()

    def on_progress(detail: str) -> None:
        if "connection refused" in detail and not started.is_set():
            started.set()
            serve(PORT + 2)

    events.on_progress = on_progress
    wanted = thing(group, own, "x")
    hook = configuration(own, group, PORT + 2, certificate.bundle)
    install(session, [rendered(own, namespace(own), definition(group), hook, wanted)], emit=events, timeout=180)
    assert started.is_set()
    assert session.get(ref_of(wanted)) is not None


def test_a_webhook_with_the_wrong_ca_does_not_count_as_answering(
    session: Session, own: str, tmp_path: Path, serve: Serve, events: Events
) -> None:
    group = f"{own}.example.test"
    serve(PORT + 3)
    stranger = Certificate(tmp_path / "other")
    hook = configuration(own, group, PORT + 3, stranger.bundle, kind="Mutating")
    item = rendered(own, namespace(own), definition(group), hook)
    with pytest.raises(StoppedError):
        install(session, [item], emit=events, timeout=180, cancelled=events.stop_at("x509|certificate"))
    with pytest.raises(NotReadyError, match=r"x509|certificate"):
        install(session, [item], timeout=1)


def test_a_webhook_for_all_pods_lets_other_components_come_up_beside_it(
    session: Session, own: str, certificate: Certificate, serve: Serve, shell: str
) -> None:
    """Its server starts only with its own component; nobody's pods are refused meanwhile."""
    serve(PORT + 4)
    hook = configuration(own, "", PORT + 4, certificate.bundle)
    hook["webhooks"][0]["rules"][0]["resources"] = ["pods"]
    base = rendered(f"{own}-ns", namespace(own))
    needs = (f"{own}-ns",)
    items = [
        base,
        rendered(f"{own}-a", hook, deployment(own, "a"), requires=needs),
        rendered(f"{own}-b", deployment(own, "b"), config_map(own, "b"), requires=needs),
    ]
    install(session, items, timeout=180)
    events = session.list(ref_of({"apiVersion": "v1", "kind": "Event"}).group_kind, namespace=own)
    refused = [item for item in (events.items if events else ()) if "failed calling webhook" in str(item)]
    assert refused == []


def test_the_gate_lets_many_share_or_one_be_alone() -> None:
    gate = Gate()
    inside: list[str] = []
    overlaps: list[tuple[str, ...]] = []
    met = threading.Barrier(2, timeout=10)

    def share() -> None:
        with gate.shared(lambda: None):
            inside.append("shared")
            met.wait()  # both are inside at once, or this breaks
            inside.remove("shared")

    def be_alone() -> None:
        with gate.alone(lambda: None):
            overlaps.append(tuple(inside))

    for work in ([share, share], [be_alone, be_alone]):
        threads = [threading.Thread(target=each) for each in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=10)
    assert not met.broken
    assert overlaps == [(), ()]


def test_who_waits_at_the_gate_can_be_stopped() -> None:
    gate = Gate()

    def stop() -> None:
        raise RuntimeError("stopped")

    with gate.alone(lambda: None), pytest.raises(RuntimeError, match="stopped"), gate.shared(stop):
        raise AssertionError("entered")
    with gate.shared(lambda: None):
        pass
