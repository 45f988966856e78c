from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelyard.errors import LocalClusterError
from modelyard.local.host.files import make_private_dir
from modelyard.local.lifecycle import merge


def document(name: str, server: str = "https://127.0.0.1:1") -> dict[str, object]:
    return {
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


@pytest.fixture(autouse=True)
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight clusters that were up once."""
    state = tmp_path / "state"
    monkeypatch.setenv("MODELYARD_STATE_DIR", str(state))
    for number in range(8):
        folder = make_private_dir(state / f"c{number}")
        (folder / "kubeconfig").write_text(json.dumps(document(f"modelyard-c{number}")))


def test_merge_keeps_what_is_there_and_becomes_current(tmp_path: Path) -> None:
    target = tmp_path / "config"
    target.write_text(yaml.safe_dump(document("work") | {"preferences": {"colors": True}}))
    target.chmod(0o644)
    assert merge.merge_kubeconfig("c1", target) == "modelyard-c1"
    merged = yaml.safe_load(target.read_text())
    assert [entry["name"] for entry in merged["contexts"]] == ["work", "modelyard-c1"]
    assert merged["current-context"] == "modelyard-c1"
    assert merged["preferences"] == {"colors": True}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_merge_into_no_file_makes_one(tmp_path: Path) -> None:
    target = tmp_path / "new" / "config"
    merge.merge_kubeconfig("c1", target)
    assert yaml.safe_load(target.read_text())["kind"] == "Config"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_root_leaves_a_users_kubeconfig_to_its_owner(tmp_path: Path) -> None:
    target = tmp_path / "config"
    target.write_text(yaml.safe_dump(document("work")))
    os.chown(target, 1234, 2345)
    merge.merge_kubeconfig("c1", target)
    assert owner(target) == (1234, 2345)
    merge.forget_kubeconfig("c1", target)
    assert owner(target) == (1234, 2345)


def test_what_root_makes_in_a_users_home_is_the_users(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 2345)
    merge.merge_kubeconfig("c1", tmp_path / "deep" / "kube" / "config")
    for made in ("deep", "deep/kube", "deep/kube/config"):
        assert owner(tmp_path / made) == (1234, 2345), made


def owner(path: Path) -> tuple[int, int]:
    return path.stat().st_uid, path.stat().st_gid


def test_merge_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    merge.merge_kubeconfig("c1", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert "modelyard-c1" in (tmp_path / "real").read_text()


def test_concurrent_merges_lose_none(tmp_path: Path) -> None:
    target = tmp_path / "config"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: merge.merge_kubeconfig(f"c{number}", target), range(8)))
    names = {entry["name"] for entry in yaml.safe_load(target.read_text())["contexts"]}
    assert names == {f"modelyard-c{number}" for number in range(8)}


@pytest.mark.parametrize("text", ["a: [", "- 1", "contexts: 3", "clusters: [x]", "\x00"])
def test_file_that_is_no_kubeconfig_is_left_alone(tmp_path: Path, text: str) -> None:
    target = tmp_path / "config"
    target.write_text(text)
    with pytest.raises(LocalClusterError, match="not a kubeconfig"):
        merge.merge_kubeconfig("c1", target)
    assert target.read_text() == text
    assert not target.with_name("config.lock").exists()


def test_held_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "_LOCK_SECONDS", 0.1)
    (tmp_path / "config.lock").touch()
    with pytest.raises(LocalClusterError, match="holds its lock") as error:
        merge.merge_kubeconfig("c1", tmp_path / "config")
    assert str(tmp_path / "config.lock") in error.value.remedy


def test_forget_takes_out_only_its_own(tmp_path: Path) -> None:
    target = tmp_path / "config"
    target.write_text(yaml.safe_dump(document("work")))
    merge.merge_kubeconfig("c1", target)
    assert merge.forget_kubeconfig("c1", target)
    left = yaml.safe_load(target.read_text())
    assert [entry["name"] for entry in left["users"]] == ["work"]
    assert left["current-context"] == ""
    assert not merge.forget_kubeconfig("c1", target)
    assert not merge.forget_kubeconfig("c1", tmp_path / "none")


def test_target_is_chosen_as_kubectl_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", ":/first:/second")
    assert merge.target_file() == Path("/first")
    assert merge.target_file(Path("/given")) == Path("/given")
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", "/home/someone")
    assert merge.target_file() == Path("/home/someone/.kube/config")


def test_never_started_cluster_has_no_kubeconfig() -> None:
    with pytest.raises(LocalClusterError, match="never up"):
        merge.kubeconfig_text("unknown")


@given(st.lists(st.sampled_from(["a", "b", "c", "work"]), unique=True))
def test_merging_twice_is_merging_once_and_forgetting_undoes_it(present: list[str]) -> None:
    before: dict[str, object] = {key: [{"name": name} for name in present] for key in ("clusters", "users", "contexts")}
    once = merge.merged_document(before, document("a"))
    assert merge.merged_document(once, document("a")) == once
    without = merge.document_without(once, "a")
    assert without["contexts"] == [{"name": name} for name in present if name != "a"]
