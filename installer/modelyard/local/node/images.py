"""Images on a cluster's nodes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from modelyard.errors import LocalClusterError
from modelyard.local.node.enter import exec_in, node_holders
from modelyard.local.state.layout import layout
from modelyard.local.state.spec import check_name

_CTR = ("ctr", "--namespace=k8s.io", "images")
_IMPORT_SECONDS = 900.0
_LIST_SECONDS = 60.0


def load_image(name: str, tar: Path) -> list[str]:
    """Load the OCI tar `tar` into every node of the cluster `name`; return the nodes' names.

    Raises:
        LocalClusterError: the cluster is not up, the tar is not there, or a node refused it.
    """
    if not tar.is_file():
        raise LocalClusterError(f"image {tar}", "there is no such file", "give the path of an OCI layout tar")
    nodes = _nodes(name)
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda node: _load(name, node, tar), nodes))
    return nodes


def image_digests(name: str) -> dict[str, str]:
    """Return the digest of each image that all nodes of the cluster `name` have, by the image's name.

    Raises:
        LocalClusterError: the cluster is not up, or a node does not answer.
    """
    found = [_on_node(name, node).items() for node in _nodes(name)]
    return dict(set.intersection(*map(set, found))) if found else {}


def _load(name: str, node: str, tar: Path) -> None:
    with tar.open("rb") as stream:
        done = exec_in(name, node, [*_CTR, "import", "-"], stdin=stream, capture=True, seconds=_IMPORT_SECONDS)
    if done.returncode != 0:
        raise _refused(name, node, f"image {tar.name}", done.stderr)


def _on_node(name: str, node: str) -> dict[str, str]:
    done = exec_in(name, node, [*_CTR, "ls"], capture=True, seconds=_LIST_SECONDS)
    if done.returncode != 0:
        raise _refused(name, node, "images", done.stderr)
    # REF TYPE DIGEST SIZE PLATFORMS LABELS, under a line of headings
    rows = [line.split() for line in done.stdout.decode().splitlines()[1:]]
    return {row[0]: row[2] for row in rows if len(row) > 2 and not row[0].startswith("sha256:")}


def _nodes(name: str) -> list[str]:
    return sorted(node_holders(layout(check_name(name))))


def _refused(name: str, node: str, what: str, stderr: bytes) -> LocalClusterError:
    said = stderr.decode(errors="replace").strip().splitlines()
    return LocalClusterError(
        f"{what} on {node}", said[-1] if said else "ctr failed", f"modelyard local logs containerd@{node} --name {name}"
    )
