"""A Certificate of cert-manager whose life is shortened for a while."""

from __future__ import annotations

import base64
import hashlib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.support.conditions import is_true, summary
from conformance.support.waiting import wait_for
from modelyard.cluster import Session
from modelyard.objects import Object, ObjectRef, dig, number, text

# The shortest life that cert-manager gives, renewed six seconds after its begin.
SHORT = {"duration": "1h", "renewBefore": "59m54s"}


class ServingCertificate:
    """A Certificate and the Secret that it keeps.

    Args:
        session: the cluster.
        namespace: where it is.
        name: the Certificate's name.
    """

    def __init__(self, session: Session, namespace: str, name: str) -> None:
        self._session = session
        self._ref = ObjectRef("cert-manager.io", "Certificate", namespace, name)

    @contextmanager
    def short_lived(self) -> Iterator[None]:
        """Have it renewed every few seconds while inside; afterwards it is issued as before."""
        before = self._read()
        own = {field: dig(before, "spec", field) for field in SHORT}
        try:
            self._issue(SHORT)
            yield
        except BaseException:
            # Without waiting: what failed may be the very issuing.
            self._session.patch(self._ref, {"spec": own})
            raise
        self._issue(own)

    def authority(self) -> str:
        """Return the certificate of its authority, as PEM."""
        return self._secret("ca.crt")

    def fingerprint(self) -> str:
        """Return the SHA-256 of the certificate that is in its Secret now."""
        first, _, _ = self._secret("tls.crt").partition("-----END CERTIFICATE-----")
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(f"{first}-----END CERTIFICATE-----\n")).hexdigest()

    def _issue(self, life: Object) -> None:
        """Change its life, and wait until a certificate of that life is there."""
        revision = number(self._read(), "status", "revision")
        self._session.patch(self._ref, {"spec": life})
        wait_for(
            f"{self._ref} is issued with {life}",
            self._read,
            lambda found: number(found, "status", "revision") > revision and is_true(found, "Ready"),
            show=summary,
        )

    def _read(self) -> Object:
        found = self._session.get(self._ref)
        assert found is not None, f"{self._ref} is not there"
        return found

    def _secret(self, key: str) -> str:
        name = text(self._read(), "spec", "secretName")
        secret = self._session.get(ObjectRef("", "Secret", self._ref.namespace, name)) or {}
        return base64.b64decode(text(secret, "data", key)).decode()
