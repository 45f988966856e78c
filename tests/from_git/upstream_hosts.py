"""github.com and raw.githubusercontent.com on this machine, with what upstream.lock has of each upstream.

A proxy on 127.0.0.1 that takes CONNECT for these two names, and answers itself, by TLS of an authority of its own:
git's smart HTTP by git's own CGI program, raw files, and release manifests. Every other name is refused.
"""

from __future__ import annotations

import datetime
import os
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GIT, RAW = "github.com", "raw.githubusercontent.com"
_BACKEND = "/usr/lib/git-core/git-http-backend"  # of Debian's package git
Release = Callable[[str, str], bytes]


@dataclass(frozen=True, slots=True)
class Hosts:
    """What answers.

    Args:
        proxy: its URL.
        authority: a file with the authority's certificate.
        asked: what was asked for, as `METHOD HOST/PATH`.
    """

    proxy: str
    authority: Path
    asked: list[str]


@contextmanager
def running(folder: Path, repositories: Path, release: Release) -> Iterator[Hosts]:
    """Answer for both hosts until left.

    Args:
        folder: for keys; empty.
        repositories: bare repositories, as <owner>/<name>.git.
        release: gives the release manifest of `<owner>/<name>` at a tag.
    """
    context = _certificates(folder)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            host = self.path.partition(":")[0]
            if host not in (GIT, RAW):
                asked.append(f"CONNECT {host}")
                self.send_error(403, f"{host} is not here")
                return
            self.send_response(200)
            self.end_headers()
            with context.wrap_socket(self.connection, server_side=True) as tls:
                _Inner(tls, self.client_address, self.server)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class _Inner(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            host, url = str(self.headers["Host"]), urlsplit(self.path)
            asked.append(f"{self.command} {host}{url.path}")
            if host == RAW:
                owner, name, ref, path = url.path.strip("/").split("/", 3)
                shown = ["git", "-C", repositories / owner / f"{name}.git", "show", f"{ref}:{path}"]
                done = subprocess.run(shown, capture_output=True, check=False)
                self._send(404 if done.returncode else 200, done.stdout)
            elif "/releases/download/" in url.path:
                repository, _, rest = url.path.strip("/").partition("/releases/download/")
                self._send(200, release(repository, rest.partition("/")[0]))
            else:
                self._git(url.path, url.query)

        def _git(self, path: str, query: str) -> None:
            owner, name, rest = path.strip("/").split("/", 2)
            environment = os.environ | {
                "GIT_PROJECT_ROOT": str(repositories),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": f"/{owner}/{name.removesuffix('.git')}.git/{rest}",
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            done = subprocess.run([_BACKEND], input=body, env=environment, capture_output=True, check=False)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
            self._send(int(fields.pop("Status", "200").split()[0]), content, fields)

        def _send(self, status: int, content: bytes, fields: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (fields or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Hosts(f"http://127.0.0.1:{server.server_address[1]}", folder / "authority.pem", asked)
        server.shutdown()


def _certificates(folder: Path) -> ssl.SSLContext:
    """Make an authority and a certificate for both hosts; return what the server presents."""
    folder.mkdir(parents=True)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "upstream hosts of a test")])
    authority = _certificate(name, name, authority_key, authority_key, x509.BasicConstraints(ca=True, path_length=0))
    hosts = x509.SubjectAlternativeName([x509.DNSName(GIT), x509.DNSName(RAW)])
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, GIT)])
    leaf = _certificate(own, name, key, authority_key, hosts)
    pem = serialization.Encoding.PEM
    (folder / "authority.pem").write_bytes(authority.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "hosts.pem").write_bytes(leaf.public_bytes(pem) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "hosts.pem")
    return context


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        .sign(signer, hashes.SHA256())
    )
