"""The version that clients of Trainer read is the one that is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import manifest_rules as rules
import pytest

from modelyard.catalog import Catalog, load
from modelyard.objects import Object, ObjectRef, ref_of, strings
from modelyard.paths import data_root

PUBLIC = ObjectRef("", "ConfigMap", "kubeflow-system", "kubeflow-trainer-public")


@pytest.mark.parametrize("target", sorted(load(data_root()).targets))
def test_clients_read_the_version_that_is_installed(
    target: str, catalog: Catalog, render: Callable[[str], Mapping[str, list[Object]]]
) -> None:
    settings = rules.of_kind(render(target)["trainer"], "ConfigMap")
    found = {ref_of(obj): strings(obj, "data") for obj in settings}
    version = catalog.lock.upstreams["trainer"].version
    assert found[PUBLIC] == {"kubeflow_trainer_version": version}
