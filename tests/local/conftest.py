"""Fixtures of the embedded cluster's tests: kubectl, a small image, clusters of a test's own."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_helpers import IMAGE, Kubectl

from modelyard.events import discard
from modelyard.local import ClusterInfo, ClusterSpec, down, load_image
from modelyard.local.build.cluster_set import cluster_binaries
from modelyard.local.build.oci import ImageConfig, write_binary_layer, write_image
from modelyard.local.state.layout import layout
from modelyard.paths import cache_dir

_PROGRAMS = ("bash", "sleep", "socat", "getent", "hostname", "cat")


@pytest.fixture(scope="session")
def kubectl_for() -> Callable[[ClusterInfo], Kubectl]:
    binaries, _ = cluster_binaries(cache_dir(), discard)
    return lambda info: Kubectl(binaries["kubectl"], info.kubeconfig)


@pytest.fixture
def kubectl(cluster: ClusterInfo, kubectl_for: Callable[[ClusterInfo], Kubectl], tools: Path) -> Kubectl:
    """kubectl against the shared cluster, which has the test image."""
    load_image(cluster.name, tools)
    return kubectl_for(cluster)


class Own:
    """Brings up clusters that are a test's own."""

    def __init__(self, stem: str, bring: Callable[..., ClusterInfo]) -> None:
        self._stem = stem
        self._bring = bring
        self._made: set[str] = set()

    def name(self, suffix: str = "") -> str:
        """Return the name of a cluster that will be deleted, whether or not it is ever brought up."""
        self._made.add(self._stem + suffix)
        return self._stem + suffix

    def __call__(self, suffix: str = "", timeout: float | None = None, **shape: Any) -> ClusterInfo:
        limits = {} if timeout is None else {"timeout": timeout}
        return self._bring(ClusterSpec(name=self.name(suffix), **shape), **limits)

    def delete(self) -> None:
        for name in self._made:
            if layout(name).root.exists():
                down(name, delete=True)


@pytest.fixture
def own(request: pytest.FixtureRequest, bring: Callable[..., ClusterInfo]) -> Iterator[Own]:
    """Clusters of this test's own; they are deleted after it."""
    made = Own(f"t{zlib.crc32(request.node.nodeid.encode())}", bring)
    yield made
    made.delete()


@pytest.fixture(scope="module")
def stopped(request: pytest.FixtureRequest, bring: Callable[..., ClusterInfo]) -> Iterator[ClusterInfo]:
    """A cluster that was up and is down; a test that brings it up brings it down again."""
    made = Own(f"m{zlib.crc32(request.node.nodeid.encode())}", bring)
    info = made()
    down(info.name)
    yield info
    made.delete()


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image of a few programs of this machine, with the libraries that they need."""
    folder = tmp_path_factory.mktemp("tools")
    files = {}
    for program in _PROGRAMS:
        path = Path("/usr/bin") / program
        files[f"/usr/bin/{program}"] = path.resolve()
        files |= {library: Path(library).resolve() for library in _libraries(path)}
    write_binary_layer(folder / "layer.tar", files)
    environment = {"PATH": "/usr/bin"}
    archive = folder / "tools.tar"
    write_image(archive, IMAGE, [folder / "layer.tar"], ImageConfig(("/usr/bin/sleep", "3600"), "0:0", environment))
    return archive


def _libraries(program: Path) -> list[str]:
    listed = subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout
    return [word for word in listed.split() if word.startswith("/")]
