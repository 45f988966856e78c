"""An upstream moves to another version: all its pins together, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelyard.catalog import Catalog, load
from modelyard.errors import CatalogError
from modelyard.lock.changes import compare
from modelyard.lock.move import Move, beside, components_of, edits, new_tags, next_ref, upstream_named
from modelyard.paths import data_root

SHA = "1" * 64
NOW = load(data_root()).lock.upstreams["jobset"].ref
OTHER = "v0.11.0" if NOW == "v0.11.1" else "v0.11.1"  # the module proxy has both


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(data_root())


def moved(catalog: Catalog, name: str, ref: str, commit: str | None = "2" * 40) -> Move:
    old = catalog.lock.upstreams[name]
    assert old.tree is not None
    tree = old.tree.model_copy(update={"sha256": SHA})
    new = old.model_copy(update={"ref": ref, "version": ref, "commit": commit, "tree": tree})
    return Move(name, old, new, new_tags(catalog, name, ref))


@pytest.mark.parametrize(
    "name", ["kserve", "trainer", "kueue", "cert-manager", "kuberay", "metrics-server", "gpu-operator"]
)
def test_after_a_move_the_catalogue_is_whole_and_names_the_old_version_nowhere(name: str, copy: Path) -> None:
    catalog = load(copy)
    move = moved(catalog, name, "v99.0.1")
    files = edits(catalog, move)
    for path, text in files.items():
        (copy / path).write_text(text, encoding="utf-8")
    after = load(copy)
    assert after.lock.upstreams[name] == move.new
    images = {image.name: image.tag for each in after.components.values() for image in each.images}
    assert {image: pin.tag for image, pin in after.lock.images.items()} == images
    assert set(move.tags.values()) == {"v99.0.1"}
    others = {key: value for key, value in after.lock.upstreams.items() if key != name}
    assert others == {key: value for key, value in catalog.lock.upstreams.items() if key != name}
    for path in [*(copy / "manifests").rglob(f"{name}/**/*.yaml"), *(copy / "overlays").rglob(f"{name}/*.yaml")]:
        text = path.read_text(encoding="utf-8")
        left = [line for line in text.splitlines() if move.old.ref in line and not line.lstrip().startswith("#")]
        assert left == [], path


def test_other_parts_of_the_same_release_are_named(catalog: Catalog) -> None:
    assert beside(catalog, moved(catalog, "karpenter-aws", "v9.9.9")) == ("karpenter-aws-crds",)
    assert beside(catalog, moved(catalog, "jobset", "v9.9.9")) == ()


def test_image_hidden_in_a_configmap_moves_too(catalog: Catalog) -> None:
    files = edits(catalog, moved(catalog, "kserve", "v9.9.9"))
    text = files["manifests/serving/kserve/inferenceservice-config.yaml"]
    assert text.count("docker.io/kserve/agent:v9.9.9") == 3
    assert ":v0.17.0" not in text


def test_a_variant_of_an_image_moves_with_its_version(catalog: Catalog) -> None:
    files = edits(catalog, moved(catalog, "multus", "v9.9.9"))
    assert "newTag: v9.9.9-thick" in files["manifests/network/multus/kustomization.yaml"]
    assert "multus-cni: {tag: v9.9.9-thick, digest: unresolved}" in files["upstream.lock"]
    assert "v4.2.4" not in files["manifests/network/multus/component.yaml"]


def test_comments_and_order_stay(catalog: Catalog) -> None:
    before = (catalog.root / "upstream.lock").read_text(encoding="utf-8").splitlines()
    after = edits(catalog, moved(catalog, "cert-manager", "v9.9.9"))["upstream.lock"].splitlines()
    assert len(before) == len(after)
    differing = [old.split(":")[0].strip() for old, new in zip(before, after, strict=True) if old != new]
    assert differing[:4] == ["ref", "commit", "version", "sha256"]
    assert all(name.startswith("quay.io/jetstack/") for name in differing[4:])


def test_commit_that_is_not_known_is_not_kept(catalog: Catalog) -> None:
    text = edits(catalog, moved(catalog, "jobset", "v9.9.9", commit=None))["upstream.lock"]
    old = catalog.lock.upstreams["jobset"].commit
    assert old is not None and old not in text


def test_what_an_old_digest_pinned_is_unresolved_after_a_move(copy: Path) -> None:
    lock = copy / "upstream.lock"
    name = "registry.k8s.io/jobset/jobset"
    text = lock.read_text(encoding="utf-8")
    pinned = f"{name}: {{tag: {NOW}, digest: sha256:{SHA}}}"
    lock.write_text(text.replace(f"{name}: {{tag: {NOW}, digest: unresolved}}", pinned), encoding="utf-8")
    catalog = load(copy)
    assert name in catalog.pins
    assert (
        f"{name}: {{tag: v9.9.9, digest: unresolved}}"
        in edits(catalog, moved(catalog, "jobset", "v9.9.9"))["upstream.lock"]
    )


def test_only_the_upstreams_components_are_looked_at(catalog: Catalog) -> None:
    move = moved(catalog, "jobset", "v9.9.9")
    assert components_of(catalog, move, edits(catalog, move)) == ("jobset",)


def test_name_of_a_component_means_its_upstream(catalog: Catalog) -> None:
    assert upstream_named(catalog, "jobset") == "jobset"
    with pytest.raises(CatalogError, match="did you mean jobset"):
        upstream_named(catalog, "jobse")


@pytest.mark.parametrize(
    ("ref", "version", "to", "expected"),
    [
        ("v1.2.3", "v1.2.3", "v1.3.0", "v1.3.0"),
        ("operator/v1.2.3", "v1.2.3", "v1.3.0", "operator/v1.3.0"),
    ],
)
def test_next_tag_follows_from_the_version(catalog: Catalog, ref: str, version: str, to: str, expected: str) -> None:
    upstream = catalog.lock.upstreams["jobset"].model_copy(update={"ref": ref, "version": version})
    assert next_ref("x", upstream, to) == expected


@pytest.mark.parametrize(
    ("ref", "version", "to"),
    [
        ("release-4.20", "v0.0.0-20251214014457-bfa868a22401", "v0.1.0"),
        ("v1", "v1", "v0.0.0-20251214014457-bfa868a22401"),
    ],
)
def test_tag_that_cannot_be_told_is_an_error(catalog: Catalog, ref: str, version: str, to: str) -> None:
    upstream = catalog.lock.upstreams["jobset"].model_copy(update={"ref": ref, "version": version})
    with pytest.raises(CatalogError, match="does not follow from"):
        next_ref("x", upstream, to)


def test_changes_tell_objects_fields_and_images() -> None:
    def config(name: str, **data: str) -> dict[str, object]:
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}

    before = [config("a", x="1", image="quay.io/x/a:v1"), config("gone"), config("same")]
    after = [config("a", y="1", image="quay.io/x/a:v2"), config("new"), config("same")]
    assert list(compare(before, after, ()).lines()) == [
        "- ConfigMap gone",
        "+ ConfigMap new",
        "~ ConfigMap a (3 fields)",
        "- image quay.io/x/a:v1",
        "+ image quay.io/x/a:v2",
    ]
    assert not compare(before, before, ())


def test_change_in_a_list_counts_each_entry() -> None:
    def pod(*args: str) -> dict[str, object]:
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "args": list(args)}

    [count] = compare([pod("x", "y")], [pod("x", "z", "more", "still more")], ()).changed.values()
    assert count == 3


def run(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelyard", "lock", *arguments],
        env=os.environ | {"MODELYARD_ROOT": str(root)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.long
def test_real_upstream_moves_back_and_forth(copy: Path) -> None:
    """JobSet, from the Go module proxy: what is rendered changes, and coming back restores every file."""
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    done = run(copy, "--update", "jobset", "--to", OTHER)
    assert done.returncode == 0, done.stderr
    assert f"jobset: {NOW} -> {OTHER}" in done.stdout
    for line in (
        "kind:",
        f"  - image registry.k8s.io/jobset/jobset:{NOW}",
        f"  + image registry.k8s.io/jobset/jobset:{OTHER}",
    ):
        assert line in done.stdout.splitlines()
    commit = load(copy).lock.upstreams["jobset"].commit
    assert commit is not None and commit != load(data_root()).lock.upstreams["jobset"].commit
    assert f"go.mod: sigs.k8s.io/jobset {NOW}" in done.stderr  # what local builds is not moved by this
    # What was handed over need not be what is locked (of a module its YAML alone), and would stand in on empty caches.
    checked = run(copy, "--check", MODELYARD_UPSTREAMS="")
    assert checked.returncode == 3
    assert [line for line in checked.stdout.splitlines() if "go.mod" not in line] == []
    back = run(copy, "--update", "jobset", "--to", NOW)
    assert back.returncode == 0, back.stderr
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_digest_of_a_first_pin_is_written_where_its_version_is_named(copy: Path) -> None:
    lock = copy / "upstream.lock"
    whole = lock.read_text(encoding="utf-8")
    tree = load(copy).lock.upstreams["jobset"].tree
    assert tree is not None
    lock.write_text(whole.replace(tree.sha256, "a" * 64), encoding="utf-8")
    done = run(copy, "--update", "jobset", "--to", NOW, MODELYARD_UPSTREAMS="")
    assert (done.returncode, done.stdout) == (0, f"jobset is at {NOW}; its digest is written\n"), done.stderr
    assert lock.read_text(encoding="utf-8") == whole


def test_digest_that_was_locked_is_never_written_over(copy: Path) -> None:
    lock = copy / "upstream.lock"
    tree = load(copy).lock.upstreams["jobset"].tree
    assert tree is not None
    other = lock.read_text(encoding="utf-8").replace(tree.sha256, "ab" * 32)
    lock.write_text(other, encoding="utf-8")
    done = run(copy, "--update", "jobset", "--to", NOW, MODELYARD_UPSTREAMS="")
    assert done.returncode == 4
    assert f"has other files at {NOW} than are locked" in done.stderr
    assert lock.read_text(encoding="utf-8") == other


def test_version_that_cannot_be_had_changes_nothing(copy: Path) -> None:
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    done = run(copy, "--update", "jobset", "--to", "v0.0.99")
    assert done.returncode == 4
    assert "name another version by --to" in done.stderr
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_move_that_cannot_be_rendered_changes_nothing_unless_it_is_not_rendered(copy: Path) -> None:
    kustomization = copy / "manifests/training/jobset/kustomization.yaml"
    with kustomization.open("a", encoding="utf-8") as file:
        file.write("- path: is-not-there.yaml\n")  # its patches come last
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    done = run(copy, "--update", "jobset", "--to", OTHER)
    assert done.returncode == 3, done.stderr  # refused before kustomize sees it
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
    assert run(copy, "--update", "jobset", "--to", OTHER, "--no-render").returncode == 0
    assert load(copy).lock.upstreams["jobset"].ref == OTHER


@pytest.mark.parametrize("arguments", [(), ("--update",), ("--check", "jobset"), ("--check", "--update", "jobset")])
def test_unclear_command_is_a_usage_error(copy: Path, arguments: tuple[str, ...]) -> None:
    done = run(copy, *arguments)
    assert done.returncode == 2
    assert "name one: --check" in done.stderr
