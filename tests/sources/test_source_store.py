"""Upstream trees: real `go mod download` from a proxy on disk, real git from a repository on disk."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import Upstream
from modelyard.errors import SourceError
from modelyard.local.build.toolchain import find_go
from modelyard.paths import cache_dir
from modelyard.sources import Store, tree_digest
from modelyard.sources.git import clone
from modelyard.sources.store import UnavailableError

MODULE, VERSION = "example.test/thing", "v1.2.3"
FILES = {"config/a.yaml": "a: 1\n", "config/sub/b.yaml": "b: 2\n", "other.txt": "x"}


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module proxy on disk that has one module; the checksum database cannot know it."""
    folder = tmp_path / "proxy" / MODULE / "@v"
    folder.mkdir(parents=True)
    (folder / f"{VERSION}.info").write_text(json.dumps({"Version": VERSION}))
    (folder / f"{VERSION}.mod").write_text(f"module {MODULE}\n")
    with zipfile.ZipFile(folder / f"{VERSION}.zip", "w") as archive:
        for name, content in {**FILES, "go.mod": f"module {MODULE}\n"}.items():
            archive.writestr(f"{MODULE}@{VERSION}/{name}", content)
    monkeypatch.setenv("GOPROXY", f"file://{tmp_path / 'proxy'}")
    monkeypatch.setenv("GONOSUMDB", "example.test")
    monkeypatch.setenv("GOFLAGS", "")
    return folder


def plain_tree(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def upstream(sha256: str, **more: object) -> Upstream:
    return Upstream.model_validate(
        {
            "git": "https://git.invalid/o/thing",
            "ref": VERSION,
            "module": MODULE,
            "version": VERSION,
            "tree": {"dir": "config", "sha256": sha256},
        }
        | more
    )


def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sources", tmp_path / "modcache", lambda: Path(find_go(cache_dir()).go))


@pytest.fixture
def digest(tmp_path: Path) -> str:
    return tree_digest(plain_tree(tmp_path / "plain") / "config")


def test_a_tree_is_had_from_its_module_and_only_the_locked_part_is_kept(
    tmp_path: Path, proxy: Path, digest: str
) -> None:
    tree = store(tmp_path).tree("thing", upstream(digest))
    assert (tree / "config/sub/b.yaml").read_text() == "b: 2\n"
    assert not (tree / "other.txt").exists()


def test_a_tree_that_is_there_is_not_fetched_again(tmp_path: Path, proxy: Path, digest: str) -> None:
    first = store(tmp_path).tree("thing", upstream(digest))
    shutil.rmtree(proxy)

    def no_go() -> Path:
        raise AssertionError("asked for go")

    again = Store(tmp_path / "sources", tmp_path / "modcache", no_go).tree("thing", upstream(digest))
    assert again == first


def test_a_damaged_tree_is_fetched_anew(tmp_path: Path, proxy: Path, digest: str) -> None:
    tree = store(tmp_path).tree("thing", upstream(digest))
    (tree / "config/a.yaml").write_text("tampered\n")
    again = store(tmp_path).tree("thing", upstream(digest))
    assert (again / "config/a.yaml").read_text() == "a: 1\n"


def test_another_digest_than_the_locked_one_names_upstream_both_digests_and_the_way_out(
    tmp_path: Path, proxy: Path, digest: str
) -> None:
    wrong = "0" * 64
    with pytest.raises(SourceError) as caught:
        store(tmp_path).tree("thing", upstream(wrong))
    assert caught.value.subject == "upstream thing"
    assert wrong in caught.value.cause
    assert digest in caught.value.cause
    assert "upstreams.thing.tree.sha256" in caught.value.remedy
    assert not any((tmp_path / "sources").iterdir())


def test_a_version_that_nobody_has_tells_what_each_channel_said(tmp_path: Path, proxy: Path, digest: str) -> None:
    with pytest.raises(SourceError) as caught:
        store(tmp_path).tree("thing", upstream(digest, version="v9.9.9"))
    assert "go mod download" in caught.value.cause
    assert "git" in caught.value.cause
    assert caught.value.remedy


def test_a_tree_that_was_handed_over_is_taken_without_the_git_host_and_verified(tmp_path: Path, digest: str) -> None:
    plain_tree(tmp_path / "handed" / f"thing-{VERSION}")
    only_git = {"module": None, "version": None}

    def offline(handed: Path | None) -> Store:
        return Store(tmp_path / "sources", tmp_path / "modcache", lambda: Path("/nowhere"), offline=True, handed=handed)

    with pytest.raises(SourceError, match="has digest"):
        offline(tmp_path / "handed").tree("thing", upstream("0" * 64, **only_git))
    with pytest.raises(UnavailableError):
        offline(None).tree("thing", upstream(digest, **only_git))
    tree = offline(tmp_path / "handed").tree("thing", upstream(digest, **only_git))
    assert (tree / "config/sub/b.yaml").read_text() == "b: 2\n"


@pytest.fixture
def repository(tmp_path: Path) -> tuple[str, str]:
    """A git repository with the tree at a tag; returns its URL and commit."""
    folder = plain_tree(tmp_path / "repository")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "--quiet", "-m", "x"],
        ["tag", VERSION],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return f"file://{folder}", head.stdout.strip()


def test_git_gives_the_same_digest_as_the_module(tmp_path: Path, repository: tuple[str, str], digest: str) -> None:
    url, commit = repository
    cloned = clone(url, VERSION, commit, into=tmp_path / "clone")
    assert tree_digest(cloned / "config") == digest


def test_a_tag_that_was_moved_is_refused(tmp_path: Path, repository: tuple[str, str]) -> None:
    with pytest.raises(SourceError, match="it was moved"):
        clone(repository[0], VERSION, "0" * 40, into=tmp_path / "clone")


def test_a_tag_that_is_not_there_is_told(tmp_path: Path, repository: tuple[str, str]) -> None:
    with pytest.raises(SourceError, match=r"v0\.0\.0"):
        clone(repository[0], "v0.0.0", None, into=tmp_path / "clone")


def test_an_upstream_without_a_tree_is_told(tmp_path: Path) -> None:
    bare = Upstream(git="https://git.invalid/o/thing", ref="v1")
    with pytest.raises(SourceError, match=r"upstream\.lock has no tree"):
        store(tmp_path).tree("thing", bare)


TREES = st.dictionaries(
    st.from_regex(r"[a-z]{1,3}(/[a-z]{1,3})?\.y", fullmatch=True), st.binary(max_size=8), min_size=1
)


@given(TREES, TREES)
def test_two_trees_have_one_digest_only_if_they_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    def written(tree: dict[str, bytes]) -> str:
        folder = tmp_path_factory.mktemp("tree")
        for name, content in reversed(tree.items()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return tree_digest(folder)

    assert (written(one) == written(other)) == (one == other)


def test_offline_store_fetches_nothing(proxy: Path, tmp_path: Path) -> None:
    wanted = upstream(tree_digest(plain_tree(tmp_path / "plain") / "config"))
    go = Path(find_go(cache_dir()).go)
    offline = Store(tmp_path / "sources", tmp_path / "modcache", lambda: go, offline=True)
    with pytest.raises(UnavailableError, match="is not on this machine"):
        offline.tree("thing", wanted)
    online = Store(tmp_path / "other-sources", tmp_path / "modcache", lambda: go)
    online.tree("thing", wanted)
    assert offline.tree("thing", wanted).is_dir()  # it is in the module cache now


def test_measure_gives_the_digest_whatever_the_lock_says(proxy: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "sources", tmp_path / "modcache", lambda: Path(find_go(cache_dir()).go))
    assert store.measure("thing", upstream("0" * 63 + "a"), "config") == tree_digest(
        plain_tree(tmp_path / "plain") / "config"
    )
    with pytest.raises(SourceError, match="has no folder nothing"):
        store.measure("thing", upstream("0" * 63 + "a"), "nothing")


def test_a_checksum_database_that_cannot_be_asked_is_told(
    tmp_path: Path, proxy: Path, digest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files come by another channel then, and the lock's digest holds; but somebody should know."""
    monkeypatch.setenv("GONOSUMDB", "")
    monkeypatch.setenv("GOSUMDB", "sum.golang.org https://127.0.0.1:1")
    told: list[str] = []
    plain_tree(tmp_path / "handed" / f"thing-{VERSION}")
    plain = store(tmp_path)
    asking = Store(plain.folder, plain.modcache, plain.go, handed=tmp_path / "handed", tell=told.append)
    assert (asking.tree("thing", upstream(digest)) / "config/a.yaml").is_file()
    assert len(told) == 1
    assert "upstream thing: Go's checksum database did not vouch for example.test/thing" in told[0]


def test_a_checksum_that_the_database_contradicts_ends_it(
    tmp_path: Path, digest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (
        "go mod download: verifying example.test/thing@v1.2.3: checksum mismatch downloaded: h1:a= sum.golang.org: "
        "h1:b= SECURITY ERROR This download does NOT match the one reported by the checksum server."
    )

    def refuse(module: str, version: str, **_: object) -> Path:
        raise SourceError(f"module {module}@{version}", said)

    monkeypatch.setattr("modelyard.sources.gomod.download", refuse)
    plain_tree(tmp_path / "handed" / f"thing-{VERSION}")  # another channel has it
    handed = Store(tmp_path / "sources", tmp_path / "modcache", lambda: Path("go"), handed=tmp_path / "handed")
    with pytest.raises(SourceError, match="SECURITY ERROR") as caught:
        handed.tree("thing", upstream(digest))
    assert caught.value.remedy
