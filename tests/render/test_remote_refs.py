"""Remote references: which locked upstream and which of its files; what is not locked is an error."""

from __future__ import annotations

import pytest

from modelyard.catalog import Upstream
from modelyard.errors import CatalogError
from modelyard.render.remote import RefKind, is_remote, resolve


def upstream(repository: str, ref: str, directory: str, path: str = "") -> Upstream:
    tree = {"dir": directory, "sha256": "0" * 64}
    return Upstream.model_validate({"git": f"https://github.com/{repository}", "ref": ref, "path": path, "tree": tree})


UPSTREAMS = {
    "kueue": upstream("kubernetes-sigs/kueue", "v0.16.2", "config"),
    "kuberay": upstream("ray-project/kuberay", "v1.6.0", "config", path="ray-operator"),
    "cert-manager": upstream("cert-manager/cert-manager", "v1.19.4", "deploy"),
    "provider": upstream("a/provider", "v1.2.3", "charts/provider"),
    "provider-crds": upstream("a/provider", "v1.2.3", "apis/crds"),
    "provider-older": upstream("a/provider", "v1.0.0", "apis/crds"),
}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "https://github.com/kubernetes-sigs/kueue//config/default?ref=v0.16.2",
            ("kueue", RefKind.FOLDER, "config/default"),
        ),
        ("https://github.com/kubernetes-sigs/kueue/config/crd?ref=v0.16.2", ("kueue", RefKind.FOLDER, "config/crd")),
        (
            "https://github.com/ray-project/kuberay//ray-operator/config/default?ref=v1.6.0",
            ("kuberay", RefKind.FOLDER, "config/default"),
        ),
        (
            "https://raw.githubusercontent.com/kubernetes-sigs/kueue/v0.16.2/config/a.yaml",
            ("kueue", RefKind.FILE, "config/a.yaml"),
        ),
        (
            "https://github.com/cert-manager/cert-manager/releases/download/v1.19.4/cert-manager.yaml",
            ("cert-manager", RefKind.RELEASE, "."),
        ),
        ("https://github.com/a/provider//charts/provider?ref=v1.2.3", ("provider", RefKind.FOLDER, "charts/provider")),
        ("https://github.com/a/provider/releases/download/v1.2.3/x.yaml", ("provider", RefKind.RELEASE, ".")),
        ("https://github.com/a/provider//apis/crds?ref=v1.2.3", ("provider-crds", RefKind.FOLDER, "apis/crds")),
        ("https://github.com/a/provider//apis/crds?ref=v1.0.0", ("provider-older", RefKind.FOLDER, "apis/crds")),
    ],
)
def test_a_reference_names_a_locked_upstream(entry: str, expected: tuple[str, RefKind, str]) -> None:
    found = resolve(entry, UPSTREAMS, shown="k.yaml")
    assert (found.upstream, found.kind, str(found.path)) == expected


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("https://github.com/kubernetes-sigs/kueue//config/default?ref=main", "at ref main, upstream.lock has kueue"),
        ("https://github.com/kubernetes-sigs/kueue//config/default", "at ref (none)"),
        ("https://github.com/else/where//config?ref=v1", "no upstream in upstream.lock has git"),
        ("https://github.com/kubernetes-sigs/kueue//hack?ref=v0.16.2", "outside of config"),
        ("https://github.com/ray-project/kuberay//config/default?ref=v1.6.0", "outside of ray-operator/config"),
        ("https://github.com/a/provider//hack?ref=v1.2.3", "outside of charts/provider"),
        ("git@github.com:kubernetes-sigs/kueue.git", "is not an https:// reference"),
        ("github.com/kubernetes-sigs/kueue/config?ref=v0.16.2", "is not an https:// reference"),
    ],
)
def test_a_reference_that_is_not_locked_is_told(entry: str, said: str) -> None:
    assert is_remote(entry)
    with pytest.raises(CatalogError) as caught:
        resolve(entry, UPSTREAMS, shown="k.yaml")
    assert said in caught.value.cause


@pytest.mark.parametrize("entry", ["../base", "./a.yaml", "a.yaml", "sub/folder"])
def test_a_path_is_not_remote(entry: str) -> None:
    assert not is_remote(entry)
