"""Webhooks: which hold others up, and which objects they take."""

from __future__ import annotations

from typing import Any

import pytest

from modelyard.objects import Object
from modelyard.plan.hooks import Hook, holds_up_others, hooks
from modelyard.plan.selectors import labels_for, matches


def configuration(rule: dict[str, Any], **more: Any) -> dict[str, Any]:
    client = {"service": {"namespace": "s", "name": "w", "path": "/mutate"}, "caBundle": "Y2E="}
    hook = {"name": "a.b.c", "clientConfig": client, "rules": [rule], "sideEffects": "None", **more}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "x", "annotations": {"cert-manager.io/inject-ca-from": "s/c"}},
        "webhooks": [hook],
    }


PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
ALL = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
OWN = {"apiGroups": ["x.test"], "apiVersions": ["v1"], "resources": ["things"], "operations": ["CREATE"]}
DELETES = PODS | {"operations": ["DELETE"]}
STATUS = PODS | {"resources": ["pods/status"]}


def one(obj: Object) -> Hook:
    (found,) = hooks([obj])
    return found


@pytest.mark.parametrize(
    ("rule", "more", "expected"),
    [
        (PODS, {}, True),
        (ALL, {}, True),
        (OWN, {}, False),
        (DELETES, {}, False),
        (STATUS, {}, False),
        (PODS, {"failurePolicy": "Ignore"}, False),
        (PODS, {"objectSelector": {"matchExpressions": [{"key": "job", "operator": "Exists"}]}}, False),
        (PODS, {"namespaceSelector": {"matchLabels": {"team": "a"}}}, False),
        (
            PODS,
            {"namespaceSelector": {"matchExpressions": [{"key": "n", "operator": "NotIn", "values": ["s"]}]}},
            True,
        ),
    ],
)
def test_a_webhook_that_takes_everybody_s_pods_holds_others_up(
    rule: dict[str, Any], more: dict[str, Any], expected: bool
) -> None:
    assert holds_up_others(one(configuration(rule, **more))) is expected


def test_a_hook_knows_where_it_is_called_and_who_fills_in_its_ca() -> None:
    found = one(configuration(PODS))
    assert (found.endpoint.namespace, found.endpoint.service, found.endpoint.port) == ("s", "w", 443)
    assert (found.path, found.mutating, found.injected, found.dry_run) == ("/mutate", True, True, True)


def test_a_crd_with_a_conversion_webhook_is_a_hook_and_one_without_is_none() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.x.test"},
        "spec": {
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"service": {"namespace": "s", "name": "w", "path": "/convert"}}},
            }
        },
    }
    assert one(crd).conversion
    assert not holds_up_others(one(crd))
    assert hooks([{**crd, "spec": {"conversion": {"strategy": "None"}}}]) == ()


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({}, {}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "1", "b": "2"}, True),
        ({"matchLabels": {"a": "1"}}, {"a": "2"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}, {"a": "1"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"a": ""}, True),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {"a": ""}, False),
    ],
)
def test_selectors(selector: Object, labels: dict[str, str], expected: bool) -> None:
    assert matches(selector, labels) is expected


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"a": "1"}},
        {"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "In", "values": ["x"]}]},
        {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]},
    ],
)
def test_labels_made_for_a_selector_match_it(selector: Object) -> None:
    assert matches(selector, labels_for(selector))
