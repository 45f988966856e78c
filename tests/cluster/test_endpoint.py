"""Which kubeconfigs are read without the official client, and that both ways lead to the same cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelyard.cluster.endpoint import of_certificates
from modelyard.local import ClusterInfo

Document = dict[str, Any]
ASK = """
import sys
from pathlib import Path
from modelyard.cluster import connect
print(connect(Path(sys.argv[1])).cluster_id, "kubernetes" in sys.modules)
"""


def document() -> Document:
    data = "eA=="
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": data}
    return {
        "clusters": [{"name": "a", "cluster": cluster}],
        "users": [{"name": "b", "user": {"client-certificate-data": data, "client-key-data": data}}],
        "contexts": [{"name": "c", "context": {"cluster": "a", "user": "b"}}],
        "current-context": "c",
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


def test_certificates_alone_need_no_other_client(file: Path) -> None:
    file.write_text(json.dumps(document()))
    found = of_certificates(file)
    assert found is not None and found.server == "https://127.0.0.1:1"


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["users"][0]["user"].update(token="t"),
        lambda found: found["users"][0].update(user={"exec": {"command": "aws"}}),
        lambda found: found["clusters"][0]["cluster"].update({"insecure-skip-tls-verify": True}),
        lambda found: found["clusters"][0]["cluster"].update({"proxy-url": "http://proxy"}),
        lambda found: found["clusters"][0]["cluster"].update({"tls-server-name": "other"}),
        lambda found: found["clusters"][0]["cluster"].update({"certificate-authority-data": "no base64"}),
        lambda found: found["contexts"][0]["context"].update(user="another"),
        lambda found: found["contexts"].append(found["contexts"][0]),
        lambda found: found.update({"current-context": "another"}),
        lambda found: found.pop("users"),
    ],
)
def test_whatever_says_more_is_left_to_the_official_client(change: Callable[[Document], None], file: Path) -> None:
    found = document()
    change(found)
    file.write_text(json.dumps(found))
    assert of_certificates(file) is None


@pytest.mark.parametrize("text", ["", "[]", "null", "clusters: []\n", "{" * 10])
def test_what_is_no_such_file_is_left_to_the_official_client(text: str, file: Path) -> None:
    file.write_text(text)
    assert of_certificates(file) is None


def test_both_ways_lead_to_the_same_cluster(cluster: ClusterInfo, file: Path) -> None:
    file.write_text(yaml.safe_dump(json.loads(cluster.kubeconfig.read_text())))  # YAML is not read the short way
    told = [
        subprocess.run([sys.executable, "-c", ASK, path], capture_output=True, text=True, check=True, timeout=60).stdout
        for path in (cluster.kubeconfig, file)
    ]
    (short, imported), (long, too) = (each.split() for each in told)
    assert (short, imported, too) == (long, "False", "True")
