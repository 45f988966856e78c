"""Digests from a real registry, in the lock, in what is rendered, and required by install."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import registry_server

from modelyard.catalog import ImagePin, load
from modelyard.errors import CatalogError, SourceError
from modelyard.images import Mirror, Reference, UsedImage, mirror_named
from modelyard.lock.digests import refuse_unresolved, resolve
from modelyard.lock.registry import manifest_digest
from modelyard.paths import data_root

JOBSET, LWS = "registry.k8s.io/jobset/jobset", "registry.k8s.io/lws/lws"
SHA = "sha256:" + "3" * 64
NOW = load(data_root()).lock.images[JOBSET].tag


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelyard", *arguments],
        env=os.environ | {"MODELYARD_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def reference(host: str, name: str, tag: str) -> Reference:
    return Reference(host, name, tag)


def test_registry_gives_the_digest_that_was_pushed(registry: str, tmp_path: Path) -> None:
    first = registry_server.push(registry, "x/one", "v1", tmp_path / "one")
    second = registry_server.push(registry, "x/two", "v1", tmp_path / "two")
    assert first != second
    assert manifest_digest(reference(registry, "x/one", "v1")) == first
    assert manifest_digest(reference(registry, "x/two", "v1")) == second


def test_image_that_the_registry_lacks_is_said_to_be_missing(registry: str) -> None:
    with pytest.raises(SourceError, match="has no such image"):
        manifest_digest(reference(registry, "x/none", "v1"))


def test_registry_that_does_not_answer_is_named() -> None:
    with pytest.raises(SourceError, match=r"registry 127\.0\.0\.1:9 cannot be reached"):
        manifest_digest(reference("127.0.0.1:9", "x/one", "v1"))


def test_digests_go_into_the_lock_into_what_is_rendered_and_satisfy_install(
    registry: str, copy: Path, tmp_path: Path
) -> None:
    pushed = {
        name: registry_server.push(registry, f"mirror/{name}", load(copy).lock.images[name].tag, tmp_path / name)
        for name in (JOBSET, LWS)
    }
    done = run(copy, "lock", "--update", "--digests", "--registry", f"{registry}/mirror")
    assert done.returncode == 0, done.stderr
    assert "2 digests resolved" in done.stdout
    assert "no digest of quay.io/ibm/appwrapper" in done.stderr
    locked = load(copy)
    assert {name: digest for name, (_, digest) in locked.pins.items()} == pushed
    before = (copy / "upstream.lock").read_text(encoding="utf-8")

    image = f"image: {JOBSET}:{NOW}@{pushed[JOBSET]}"
    assert image in run(copy, "render", "--target", "kind", "--component", "jobset").stdout
    mirrored = run(copy, "render", "--target", "kind", "--component", "jobset", "--mirror", "reg.test/p").stdout
    assert f"image: reg.test/p/{JOBSET}:{NOW}@{pushed[JOBSET]}" in mirrored
    assert "@sha256" not in run(copy, "render", "--target", "local", "--component", "jobset").stdout

    listed = run(
        copy, "images", "--target", "kind", "--component", "jobset", "--mirror", "reg.test", "-o", "text"
    ).stdout
    assert f"{JOBSET}@{pushed[JOBSET]} reg.test/{JOBSET}:{NOW}" in listed.splitlines()

    again = run(copy, "lock", "--update", "--digests", "--registry", f"{registry}/mirror")
    assert again.returncode == 0, again.stderr
    assert (copy / "upstream.lock").read_text(encoding="utf-8") == before


def test_no_digest_at_all_is_an_error_and_leaves_the_lock(copy: Path) -> None:
    before = (copy / "upstream.lock").read_bytes()
    done = run(copy, "lock", "--update", "--digests", "--registry", "127.0.0.1:9")
    assert done.returncode == 4
    assert "no registry gave any; upstream.lock is as it was" in done.stderr
    assert (copy / "upstream.lock").read_bytes() == before


def test_tag_that_was_moved_is_an_error() -> None:
    pins = {JOBSET: ImagePin(tag="v1", digest=SHA)}
    with pytest.raises(SourceError, match="its tag was moved"):
        resolve(pins, lambda image: "sha256:" + "4" * 64)


def test_mirror_is_asked_for_its_copies() -> None:
    asked: list[str] = []

    def ask(image: Reference) -> str:
        asked.append(str(image))
        return SHA

    assert resolve({JOBSET: ImagePin(tag="v1")}, ask, Mirror("reg.test", "p")).digests == {JOBSET: SHA}
    assert asked == [f"reg.test/p/{JOBSET}:v1"]


def test_unresolved_images_are_refused_by_name() -> None:
    resolved = UsedImage("a", Reference("quay.io", "x/a", "v1"), SHA, ())
    unresolved = UsedImage("b", Reference("quay.io", "x/b", "v1"), "", ())
    refuse_unresolved([resolved])
    with pytest.raises(CatalogError, match=r"no digest for 1 of the images.*: quay\.io/x/b:v1\n"):
        refuse_unresolved([resolved, unresolved])


def test_install_refuses_unresolved_images_before_it_looks_for_a_cluster(copy: Path) -> None:
    arguments = ("install", "--target", "kind", "--component", "jobset", "--kubeconfig", "/nonexistent")
    assert run(copy, *arguments).returncode == 6
    done = run(copy, *arguments, "--require-digests")
    assert done.returncode == 3
    assert f"{JOBSET}:{NOW}" in done.stderr


def test_install_refuses_a_mirror_where_nothing_is_pulled(copy: Path) -> None:
    done = run(copy, "install", "--mirror", "reg.test/p")
    assert done.returncode == 3
    assert "target local pulls nothing" in done.stderr


class TokenRegistry(BaseHTTPRequestHandler):
    """A registry that wants a token, and gives it to anybody: as public ones do. It sends no digest with a HEAD."""

    def do_HEAD(self) -> None:
        self._answer(b"")

    def do_GET(self) -> None:
        if self.path.startswith("/token?"):
            assert "scope=repository%3Ax%2Fone%3Apull" in self.path and "service=reg" in self.path
            self._send(b'{"token": "t0"}')
        else:
            self._answer(b"manifest")

    def _answer(self, body: bytes) -> None:
        if self.headers.get("Authorization") == "Bearer t0":
            self._send(body)
            return
        realm = f"http://{self.headers['Host']}/token"
        self.send_response(401)
        self.send_header("WWW-Authenticate", f'Bearer realm="{realm}",service="reg",scope="repository:x/one:pull"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def token_registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), TokenRegistry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_registry_that_wants_a_token_is_asked_for_one(token_registry: str) -> None:
    assert str(mirror_named(token_registry)) == token_registry
    digest = manifest_digest(reference(token_registry, "x/one", "v1"))
    assert digest == f"sha256:{hashlib.sha256(b'manifest').hexdigest()}"
