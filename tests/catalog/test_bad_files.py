"""Malformed files: each error names file, line and field.

Cases: unknown field, wrong type, missing field, repeated field, no YAML, no UTF-8, folder and name disagree,
deep field in a list, empty file, several documents, aliases that grow, nesting without end, 100 MB, a missing file,
keys and values that are not what YAML says they are.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelyard.catalog import load
from modelyard.catalog.yaml_file import load_one
from modelyard.errors import CatalogError
from modelyard.render.documents import dump, parse

GOOD = """\
name: kueue
area: scheduler
summary: Queues
namespace: kueue-system
licence: Apache-2.0
requirements: []
"""


def write(root: Path, relative: str, content: str | bytes) -> None:
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "upstream.lock", "upstreams: {}\n")
    (tmp_path / "overlays").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (GOOD + "requiers: [cert-manager]\n", 7, "field requiers: unknown field"),
        (GOOD + "requires: cert-manager\n", 7, "field requires"),
        (GOOD.replace("summary: Queues\n", ""), 1, "field summary: Field required"),
        (GOOD + "name: kueue\n", 7, "field name: is given twice"),
        (GOOD + "requires: [a, b\n", 8, "is not valid YAML"),
        (GOOD.replace("scheduler", "sheduler"), 2, "field area"),
        (
            GOOD + "images:\n- name: a/b\n  tag: v1\n  build:\n    kind: go\n    module: shared\n"
            "    package: x\n    entrypoint: manager\n",
            14,
            "field images.0.build.entrypoint",
        ),
        (GOOD.replace("licence: Apache-2.0\n", ""), 1, "field licence: Field required"),
        (GOOD.replace("Apache-2.0", "Apache License 2.0"), 5, "field licence: String should match pattern"),
        (GOOD + "proof: real\n", 7, "field proof: unknown field"),
        (GOOD.replace("[]", "[Gang scheduling]"), 6, "field requirements.0: String should match pattern"),
        (GOOD + "cost: {cpu: 3}\n", 7, "field cost.memory: Field required"),
        (GOOD + "cost: {cpu: 3m, memory: 20}\n", 7, "field cost.cpu: Input should be a valid integer"),
        ("", 1, "field name"),
        (GOOD + "---\n" + GOOD, 7, "holds several documents, where one is expected"),
        (GOOD + "readiness:\n  a: 1\n  a: 2\n", 9, "field readiness.a: is given twice"),
        (GOOD + "? [a]\n: b\n", 7, "field (whole file): a key is a list or a mapping, not text"),
        (GOOD + "requires: &all [*all]\n", 7, "alias *all stands inside of what it names"),
        (GOOD + "requires: *none\n", 7, "is not valid YAML: found undefined alias"),
        (
            GOOD + "requires: !!python/object:os.system [id]\n",
            7,
            "is not valid YAML: could not determine a constructor",
        ),
        (GOOD + "requires: !!int many\n", 1, "is not valid YAML: invalid literal"),
        (GOOD + "requires: " + "[" * 500 + "]" * 500 + "\n", 7, "nests deeper than 100 levels"),
        ("- " * 1_000_000, 1, "nests deeper than 100 levels"),
    ],
)
def test_a_malformed_component_names_file_line_and_field(root: Path, content: str, line: int, said: str) -> None:
    write(root, "manifests/scheduler/kueue/component.yaml", content)
    with pytest.raises(CatalogError) as caught:
        load(root)
    assert caught.value.subject == f"manifests/scheduler/kueue/component.yaml, line {line}"
    assert said in caught.value.cause
    assert caught.value.remedy
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff\xfe\x00", 1),
        (GOOD.encode("utf-16"), 1),
        (GOOD.encode() + "requires: [über]\n".encode("latin-1"), 7),
    ],
)
def test_bytes_that_are_no_text_are_told_with_their_line(root: Path, content: bytes, line: int) -> None:
    write(root, "manifests/scheduler/kueue/component.yaml", content)
    with pytest.raises(CatalogError, match=f"component.yaml, line {line}: cannot be read: it is not UTF-8"):
        load(root)


@pytest.mark.parametrize("file", ["upstream.lock", "manifests/scheduler/kueue/component.yaml"])
def test_a_few_bytes_that_grow_into_gigabytes_are_told_at_once(root: Path, file: str) -> None:
    """Nine levels of nine aliases each: 387 million values, from 500 bytes."""
    letters = "abcdefghi"
    lines = [f"{letters[0]}: &{letters[0]} [{', '.join(['lol'] * 9)}]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in itertools.pairwise(letters)]
    write(root, file, "\n".join(lines))
    with pytest.raises(CatalogError, match=r"line \d: its aliases stand for more than 10,000 values"):
        load(root)


def test_what_looks_like_a_date_is_text(root: Path) -> None:
    write(root, "manifests/scheduler/kueue/component.yaml", GOOD.replace("Queues", "2026-13-45"))
    assert load(root).component("kueue").summary == "2026-13-45"


VALUES = st.recursive(
    st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_python_writes_passes(value: object) -> None:
    """PyYAML writes what occurs twice as an anchor and an alias."""
    text = yaml.safe_dump({"one": value, "two": value})
    assert load_one(text, "x") == {"one": value, "two": value}


def test_a_file_of_100_mb_is_told_before_it_is_read(root: Path) -> None:
    file = root / "manifests/scheduler/kueue/component.yaml"
    write(root, "manifests/scheduler/kueue/component.yaml", GOOD)
    with file.open("ab") as out:
        out.truncate(100 * 1024**2)
    with pytest.raises(CatalogError, match=r"is 100.0 MiB, more than the 2 MiB"):
        load(root)


def test_a_missing_lock_is_told(root: Path) -> None:
    (root / "upstream.lock").unlink()
    with pytest.raises(CatalogError, match=r"upstream.lock: cannot be read: .*No such file"):
        load(root)


def test_a_component_in_the_wrong_folder_is_told(root: Path) -> None:
    write(root, "manifests/ray/kueue/component.yaml", GOOD)
    with pytest.raises(CatalogError, match="calls itself scheduler/kueue, its folder is ray/kueue"):
        load(root)


def test_an_upstream_that_is_not_locked_gets_the_nearest_name(root: Path) -> None:
    lock = "upstreams:\n  kueue: {git: https://github.com/o/kueue, ref: v1}\n"
    write(root, "upstream.lock", lock)
    write(root, "manifests/scheduler/kueue/component.yaml", GOOD + "upstream: kuueue\n")
    with pytest.raises(CatalogError, match=r"did you mean kueue\?"):
        load(root)


def test_a_profile_that_names_no_component_gets_the_nearest_name(root: Path) -> None:
    write(root, "manifests/scheduler/kueue/component.yaml", GOOD)
    write(root, "overlays/local/target.yaml", "name: local\nsummary: x\nprofiles: {core: [kueu]}\n")
    with pytest.raises(CatalogError, match=r"profile core names component kueu.*did you mean kueue\?"):
        load(root)


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("kueu", r"leavesOut names component kueu, which is not in manifests/ \(did you mean kueue\?\)"),
        ("kueue", "leavesOut names component kueue, which a profile names or needs"),
    ],
)
def test_what_is_left_out_must_be_there_and_not_be_needed(root: Path, left_out: str, said: str) -> None:
    write(root, "manifests/scheduler/kueue/component.yaml", GOOD)
    write(root, "manifests/scheduler/own/component.yaml", GOOD.replace("kueue", "own") + "requires: [kueue]\n")
    target = f"name: local\nsummary: x\nprofiles: {{core: [own]}}\nleavesOut: {{{left_out}: x}}\n"
    write(root, "overlays/local/target.yaml", target)
    with pytest.raises(CatalogError, match=said):
        load(root)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("offered: {kueu: x}", r"offered names component kueu, which is not in manifests/ \(did you mean kueue\?\)"),
        ("offered: {kueue: x}", "offered names component kueue, which a profile names or needs"),
        ("offered: {extra: x}", "offered needs component helper, which no profile has and nothing offers"),
        ("offered: {helper: x}, leavesOut: {helper: x}", "offered and leavesOut both name component helper"),
    ],
)
def test_what_is_offered_must_be_there_and_stand_beside_the_profiles(root: Path, fields: str, said: str) -> None:
    for name, needs in (("kueue", ""), ("own", "kueue"), ("helper", ""), ("extra", "helper")):
        component = GOOD.replace("kueue", name) + f"requires: [{needs}]\n"
        write(root, f"manifests/scheduler/{name}/component.yaml", component)
    write(root, "overlays/local/target.yaml", f"{{name: local, summary: x, profiles: {{core: [own]}}, {fields}}}\n")
    with pytest.raises(CatalogError, match=said):
        load(root)


def test_a_digest_that_is_no_digest_is_told(root: Path) -> None:
    write(
        root,
        "upstream.lock",
        "upstreams:\n  kueue:\n    git: https://github.com/o/kueue\n    ref: v1\n    tree:\n      dir: config\n"
        "      sha256: abc\n",
    )
    with pytest.raises(CatalogError) as caught:
        load(root)
    assert caught.value.subject == "upstream.lock, line 7"
    assert "upstreams.kueue.tree.sha256" in caught.value.cause


def test_a_plain_equals_sign_is_text() -> None:
    """As the enums of older prometheus-operator CRDs have it; YAML 1.1 takes it for a default value."""
    assert load_one("enum: [=, '!=', =~]", "x") == {"enum": ["=", "!=", "=~"]}
    (obj,) = parse(b"apiVersion: v1\nkind: ConfigMap\ndata:\n  operator: =\n", shown="x")
    assert obj["data"] == {"operator": "="}
    assert parse(dump(obj), shown="x") == [obj]
