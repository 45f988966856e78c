"""Who may go, in which order, and whose objects would be missed."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.catalog import load
from modelyard.catalog.removal import merged
from modelyard.errors import CatalogError, RefusalError
from modelyard.objects import GroupKind, ObjectRef, ref_of
from modelyard.paths import data_root
from modelyard.plan.removal import is_by_product, is_users, removal_order

# As the components themselves say.
MADE = merged(each.removal for each in load(data_root()).components.values()).byProducts
REQUIRES = {"cert-manager": (), "kueue": ("cert-manager",), "tenancy": ("kueue", "not-installed"), "ray": ()}


def test_all_go_each_before_what_it_requires() -> None:
    order = removal_order([], REQUIRES)
    assert sorted(order) == sorted(REQUIRES)
    assert order.index("tenancy") < order.index("kueue") < order.index("cert-manager")


def test_what_something_else_requires_does_not_go_alone() -> None:
    with pytest.raises(RefusalError) as caught:
        removal_order(["kueue"], REQUIRES)
    assert "is required by tenancy" in caught.value.cause
    assert "--component tenancy --component kueue" in caught.value.remedy


def test_what_is_not_installed_gets_the_nearest_name() -> None:
    with pytest.raises(CatalogError, match=r"did you mean kueue\?"):
        removal_order(["kueu"], REQUIRES)


def obj(kind: str, name: str = "x", api_version: str = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "n"} | metadata}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (obj("ConfigMap", "mine"), True),
        (obj("ConfigMap", "kube-root-ca.crt"), False),
        (obj("ServiceAccount", "default"), False),
        (obj("Secret", "tls", labels={"controller.cert-manager.io/fao": "true"}), False),
        (obj("ConfigMap", "tls", labels={"controller.cert-manager.io/fao": "true"}), True),
        (obj("Lease", api_version="coordination.k8s.io/v1"), False),
        (obj("PersistentVolumeClaim", "data"), True),
        (obj("RayJob", "train", "ray.io/v1"), True),
    ],
)
def test_whose_an_object_is(found: dict[str, Any], expected: bool) -> None:
    assert is_users(found, mine=(), made=MADE) is expected
    assert not is_users(found, mine={ref_of(found)})


def test_what_nothing_says_of_a_secret_makes_it_a_user_s() -> None:
    assert is_users(obj("Secret", "tls", labels={"controller.cert-manager.io/fao": "true"}), mine=())


def owned_by(kind: str, name: str, api_version: str = "v1") -> list[dict[str, str]]:
    return [{"apiVersion": api_version, "kind": kind, "name": name}]


RAY_JOB = GroupKind("ray.io", "RayJob")
BY_CONFIG_MAP = obj("RayJob", "train", "ray.io/v1", ownerReferences=owned_by("ConfigMap", "notes"))
BY_RAY_JOB = obj("RayCluster", "train-x", "ray.io/v1", ownerReferences=owned_by("RayJob", "train", "ray.io/v1"))
BY_BOTH = {
    **BY_RAY_JOB,
    "metadata": {
        **BY_RAY_JOB["metadata"],
        "ownerReferences": [*owned_by("RayJob", "train", "ray.io/v1"), *owned_by("ConfigMap", "notes")],
    },
}


def test_what_a_user_s_object_owns_is_a_user_s() -> None:
    assert is_users(BY_CONFIG_MAP, mine=(), own={RAY_JOB})
    assert is_users(BY_RAY_JOB, mine=(), own={GroupKind("ray.io", "RayCluster")})
    assert is_users(BY_BOTH, mine=(), own={RAY_JOB})  # it lives as long as one of them does


def test_what_an_object_owns_that_is_looked_at_itself_is_nobody_s() -> None:
    assert not is_users(BY_RAY_JOB, mine=(), own={RAY_JOB})
    assert not is_users(BY_CONFIG_MAP, mine=(), seen={ObjectRef("", "ConfigMap", "n", "notes")})
    assert is_users(BY_CONFIG_MAP, mine=(), seen={ObjectRef("", "ConfigMap", "elsewhere", "notes")})


def test_what_the_platform_owns_is_nobody_s() -> None:
    assert not is_users(BY_CONFIG_MAP, mine={ObjectRef("", "ConfigMap", "n", "notes")})
    by_role = obj("Secret", "x", ownerReferences=owned_by("ClusterRole", "r", "rbac.authorization.k8s.io/v1"))
    assert not is_users(by_role, mine={ObjectRef("rbac.authorization.k8s.io", "ClusterRole", "", "r")})


def test_kueue_s_workload_of_a_job_is_nobody_s_and_one_of_its_own_is_a_user_s() -> None:
    owners = owned_by("Job", "train", "batch/v1")
    assert not is_users(
        obj("Workload", "job-train", "kueue.x-k8s.io/v1beta1", ownerReferences=owners), mine=(), made=MADE
    )
    assert is_users(obj("Workload", "mine", "kueue.x-k8s.io/v1beta1"), mine=(), made=MADE)


CLAIM, POOL = GroupKind("karpenter.sh", "NodeClaim"), ObjectRef("karpenter.sh", "NodePool", "", "gpus")


def test_what_a_controller_made_of_its_kinds_is_its_by_product() -> None:
    claim = obj(
        "NodeClaim", "gpus-x", "karpenter.sh/v1", ownerReferences=owned_by("NodePool", "gpus", "karpenter.sh/v1")
    )
    assert is_by_product(claim, {POOL}, {CLAIM})
    assert not is_by_product(claim, {POOL, ref_of(claim)}, {CLAIM})  # it goes as one of the component's own


def test_a_user_s_object_and_the_books_of_a_job_are_no_by_products() -> None:
    assert not is_by_product(obj("NodeClaim", "mine", "karpenter.sh/v1"), {POOL}, {CLAIM})
    books = obj("Workload", "job-train", "kueue.x-k8s.io/v1beta1", ownerReferences=owned_by("Job", "train", "batch/v1"))
    assert not is_by_product(books, (), {GroupKind("kueue.x-k8s.io", "Workload")}, MADE)
