"""Debian's docker-registry on a free port of 127.0.0.1, and pushing image archives to it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from modelyard.local.build.debian import unpack
from modelyard.local.build.oci import ImageConfig, write_binary_layer, write_image
from modelyard.local.build.store import Store
from modelyard.paths import cache_dir

PATIENCE = 30.0


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run a registry with its data below `folder`; give its host and port."""
    program = unpack(Store(cache_dir() / "store"), ("docker-registry",)) / "usr/bin/docker-registry"
    config = folder / "registry.json"  # JSON is YAML
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    config.write_text(json.dumps({"version": 0.1, "storage": storage, "http": {"addr": "127.0.0.1:0"}}))
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen([program, "serve", config], stdout=log, stderr=log)
    try:
        yield _wait(process, folder / "registry.log")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the host and port that the registry chose, once it answers there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if said := re.search(r"listening on (127\.0\.0\.1:\d+)", log.read_text()):
            with suppress(OSError), urllib.request.urlopen(f"http://{said[1]}/v2/", timeout=5):
                return said[1]
        time.sleep(0.05)
    raise AssertionError(f"the registry does not answer: {log.read_text()}")


def push(host: str, name: str, tag: str, folder: Path) -> str:
    """Make a small image, push it as `name`:`tag`, and return its manifest's digest."""
    folder.mkdir(parents=True)
    (folder / "binary").write_text(f"program of {name}")
    write_binary_layer(folder / "layer.tar", {"/manager": folder / "binary"})
    archive = folder / "image.tar"
    write_image(archive, f"{host}/{name}:{tag}", [folder / "layer.tar"], ImageConfig(["/manager"]))
    with tarfile.open(archive) as layout:
        files = {entry.name: layout.extractfile(entry).read() for entry in layout}  # type: ignore[union-attr]
    [top] = json.loads(files["index.json"])["manifests"]
    manifest = files["blobs/" + top["digest"].replace(":", "/")]
    parts = json.loads(manifest)
    for descriptor in [parts["config"], *parts["layers"]]:
        _push_blob(host, name, files["blobs/" + descriptor["digest"].replace(":", "/")])
    _send("PUT", f"http://{host}/v2/{name}/manifests/{tag}", manifest, top["mediaType"])
    return str(top["digest"])


def _push_blob(host: str, name: str, content: bytes) -> None:
    location = _send("POST", f"http://{host}/v2/{name}/blobs/uploads/", b"", "application/octet-stream")
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    more = "&" if urlsplit(location).query else "?"
    _send("PUT", f"{location}{more}{urlencode({'digest': digest})}", content, "application/octet-stream")


def _send(method: str, url: str, content: bytes, media_type: str) -> str:
    request = urllib.request.Request(url, content, {"Content-Type": media_type}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.headers.get("Location", ""))
