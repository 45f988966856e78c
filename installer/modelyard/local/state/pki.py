"""Keys and certificates of a cluster.

The authorities and the service-account key last as long as the cluster; the certificates they sign are made
anew at each `up`, so that none runs out and a new node has one. All keys are elliptic (P-256): a dozen take
milliseconds, where RSA takes seconds.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import make_private_dir, write_private

_AUTHORITY_LIFE = datetime.timedelta(days=3650)
_LEAF_LIFE = datetime.timedelta(days=365)
_BEFORE = datetime.timedelta(hours=1)  # clocks that were set back


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate to be signed.

    Args:
        name: file name without suffix.
        user: common name; Kubernetes takes it for the user's name.
        groups: organisations; Kubernetes takes them for the user's groups.
        hosts: DNS names and IP addresses that it serves; a client's has none.
    """

    name: str
    user: str
    groups: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority that can sign."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def authority(folder: Path, name: str) -> Authority:
    """Return the authority `name` in `folder`, made if it is not there.

    Raises:
        LocalClusterError: its files are there and cannot be read.
    """
    make_private_dir(folder)
    certificate_file, key_file = folder / f"{name}.crt", folder / f"{name}.key"
    if not (certificate_file.is_file() and key_file.is_file()):
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(key_file, _key_pem(key))
        write_private(certificate_file, _certificate_pem(_self_signed(name, key)), mode=0o644)
    try:
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        return Authority(certificate, _load_key(key_file))
    except ValueError as error:
        raise LocalClusterError(
            f"certificate authority {certificate_file}",
            f"its files cannot be read ({error})",
            f"modelyard local down --name {folder.parent.name} --delete  (the cluster's data goes with it)",
        ) from error


def issue(folder: Path, signer: Authority, leaves: Sequence[Leaf]) -> None:
    """Write a fresh key and certificate for each of `leaves` to `folder`."""
    for leaf in leaves:
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(folder / f"{leaf.name}.key", _key_pem(key))
        certificate = _sign(signer, leaf, key)
        write_private(folder / f"{leaf.name}.crt", _certificate_pem(certificate), mode=0o644)


def service_account_key(folder: Path) -> None:
    """Make the key pair that signs service-account tokens, unless it is there."""
    key_file, public_file = folder / "sa.key", folder / "sa.pub"
    if not key_file.is_file():
        write_private(key_file, _key_pem(ec.generate_private_key(ec.SECP256R1())))
    if not public_file.is_file():
        public = _load_key(key_file).public_key()
        write_private(
            public_file,
            public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
            mode=0o644,
        )


def _self_signed(name: str, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"modelyard-{name}")])
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, key_encipherment=False,
        content_commitment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return (
        _builder(subject, subject, key, _AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _sign(signer: Authority, leaf: Leaf, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    subject = x509.Name(
        [*(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in leaf.groups),
         x509.NameAttribute(NameOID.COMMON_NAME, leaf.user)]
    )  # fmt: skip
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH] + ([ExtendedKeyUsageOID.SERVER_AUTH] if leaf.hosts else [])
    issuer = signer.certificate
    builder = (
        _builder(subject, issuer.subject, key, _LEAF_LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()), critical=False)
    )
    if leaf.hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in leaf.hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(signer.key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, life: datetime.timedelta
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + life)
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _load_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{path.name} is not an elliptic-curve key")
    return key


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # The traditional form: Go's service-account loader wants "EC PRIVATE KEY".
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
