from __future__ import annotations

from collections.abc import Iterator

import pytest
from network_helpers import INSTALL_SECONDS, MBIT, Cluster, torch_image

from modelyard.local import load_image


@pytest.fixture(scope="session")
def nics() -> Iterator[Cluster]:
    """The cluster, for all tests of this folder."""
    cluster = Cluster()
    try:
        cluster("local", "up", "--nodes", "2", "--nics", "2", "--nic-mbit", MBIT, seconds=INSTALL_SECONDS)
        cluster("install", "--component", "whereabouts", seconds=INSTALL_SECONDS)
        load_image(cluster.name, torch_image())
        yield cluster
    finally:
        cluster("local", "down", "--delete", check=False)
