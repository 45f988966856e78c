"""Wait until webhooks answer, not merely until their pods are ready.

Two proofs, because neither is enough alone:

- *reached*: a POST to the webhook's own path through the apiserver's service proxy is answered by the
  webhook's server. It goes the same way, apiserver to endpoint, but the proxy checks no certificate.
- *trusted*: the apiserver itself calls it, for a dry run of an object that it intercepts: one of the
  component's own, else, for a mutating webhook, a bare one (mutating webhooks come before validation).
  That proves the caBundle too. A refusal by the webhook is an answer; "failed calling webhook" is none.

Where no dry run can reach a webhook (it validates only, and the component has no object for it), a caBundle
that has been filled in must do beside the first proof. One trusted webhook vouches for the others of the
same endpoint and CA. A webhook behind a URL has no service proxy: only the dry run counts.

There is no watch for "answers", so this asks again after a short pause, until the deadline.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from modelyard.apply.run import Run
from modelyard.cluster import ApiError, Session
from modelyard.cluster.probe import reach_service
from modelyard.errors import NotReadyError
from modelyard.objects import GroupKind, Object, ObjectRef, labels_of, ref_of, text
from modelyard.plan import hooks as plan_hooks
from modelyard.plan import selectors
from modelyard.plan.hooks import Endpoint, Hook

PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 1.0
PROBE_NAME = "modelyard-probe"


def wait_answering(run: Run, key: str, owners: Iterable[ObjectRef], candidates: Sequence[Object]) -> int:
    """Wait until every webhook of the live `owners` answers; return how many there are.

    Args:
        run: the run.
        key: the step that is told of the progress.
        owners: webhook configurations and CRDs with a conversion.
        candidates: the component's custom resources, to try validating webhooks with.

    Raises:
        NotReadyError: the deadline passed; names the webhook and what it last said.
    """
    wanted = sorted(owners)
    deadline, pause = run.deadline(), PAUSE_SECONDS
    while True:
        run.check()
        found = _hooks(run.session, wanted)
        silent = _first_silent(run.session, found, candidates)
        if silent is None:
            return len(found)
        hook, reason = silent
        if time.monotonic() >= deadline:
            raise NotReadyError(
                str(hook),
                f"does not answer after {run.timeout:.0f} s: {reason}",
                _remedy(hook),
            )
        run.progress(key, f"{hook}: {reason}")
        run.cancelled.wait(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)


def _hooks(session: Session, owners: Iterable[ObjectRef]) -> tuple[Hook, ...]:
    live = (session.get(ref) for ref in owners)
    return plan_hooks.hooks(obj for obj in live if obj is not None)


def _first_silent(session: Session, found: Sequence[Hook], candidates: Sequence[Object]) -> tuple[Hook, str] | None:
    """Return the first webhook that does not answer, and why."""
    for hook in found:
        if not hook.endpoint.ca_bundle and not hook.endpoint.url:
            return hook, "its caBundle has not been filled in yet"
    reached: set[tuple[Endpoint, str]] = set()
    for hook in found:
        way = (hook.endpoint, hook.path)
        if not hook.endpoint.url and way not in reached:
            reason = reach_service(session, hook.endpoint, hook.path)
            if reason:
                return hook, reason
            reached.add(way)
    return _first_distrusted(session, found, candidates)


def _first_distrusted(session: Session, found: Sequence[Hook], candidates: Sequence[Object]) -> tuple[Hook, str] | None:
    proven: set[Endpoint] = set()
    for hook in sorted(found, key=lambda each: (not each.mutating, each.conditional, each.name)):
        if hook.endpoint in proven or hook.conversion or not hook.fails_closed or not hook.dry_run:
            continue
        tried = _try(session, hook, candidates)
        if tried is None:
            continue
        if tried:
            return hook, tried
        if not hook.conditional:
            proven.add(hook.endpoint)
    return None


def _try(session: Session, hook: Hook, candidates: Sequence[Object]) -> str | None:
    """Dry-run an object that `hook` intercepts: "" if it answered, else why not; None if none can be had."""
    for obj in candidates:
        if _intercepts(session, hook, obj):
            return _silence(hook, partial(session.apply, obj, dry_run=True))
    bare = _bare(session, hook) if hook.mutating else None
    if bare is None:
        return None
    return _silence(hook, partial(session.create, bare, dry_run=True))


def _silence(hook: Hook, send: Callable[[], Object]) -> str:
    try:
        send()
    except ApiError as error:
        if "failed calling webhook" in error.message and f'"{hook.name}"' in error.message:
            return error.message
    return ""


def _intercepts(session: Session, hook: Hook, obj: Object) -> bool:
    ref = ref_of(obj)
    resource = session.discovery.find(ref.group_kind)
    if resource is None:
        return False
    version = text(obj, "apiVersion").rpartition("/")[2]
    fits = any(
        ({"*", ref.group} & set(rule.groups))
        and ({"*", version} & set(rule.versions))
        and ({"*", "*/*", resource.plural} & set(rule.resources))
        and ({"CREATE", "UPDATE"} <= set(rule.operations) or "*" in rule.operations)
        for rule in hook.rules
    )
    return (
        fits
        and selectors.matches(hook.object_selector or {}, labels_of(obj))
        and (not ref.namespace or _namespace_fits(session, hook, ref.namespace))
    )


def _bare(session: Session, hook: Hook) -> Object | None:
    """Return a bare object whose creation `hook` intercepts."""
    for rule in hook.rules:
        if not {"CREATE", "*"} & set(rule.operations):
            continue
        for group in rule.groups:
            for plural in rule.resources:
                resource = session.discovery.by_plural(group, plural)
                if resource is None or "create" not in resource.verbs:
                    continue
                namespace = _some_namespace(session, hook) if resource.namespaced else ""
                if namespace is None:
                    continue
                version = resource.version if "*" in rule.versions else rule.versions[0]
                return _bare_object(resource.kind, version, namespace, hook)
    return None


def _bare_object(kind: GroupKind, version: str, namespace: str, hook: Hook) -> Object:
    metadata: dict[str, object] = {"name": PROBE_NAME, "labels": selectors.labels_for(hook.object_selector or {})}
    if namespace:
        metadata["namespace"] = namespace
    api_version = f"{kind.group}/{version}" if kind.group else version
    return {"apiVersion": api_version, "kind": kind.kind, "metadata": metadata}


def _some_namespace(session: Session, hook: Hook) -> str | None:
    """Return a namespace in which `hook` is called: `default` before others."""
    listing = session.list(GroupKind("", "Namespace"), metadata_only=True)
    fitting = [
        text(item, "metadata", "name")
        for item in (listing.items if listing else ())
        if selectors.matches(hook.namespace_selector or {}, labels_of(item))
    ]
    return min(fitting, key=lambda name: (name != "default", name), default=None)


def _namespace_fits(session: Session, hook: Hook, name: str) -> bool:
    found = session.get(ObjectRef("", "Namespace", "", name))
    return found is not None and selectors.matches(hook.namespace_selector or {}, labels_of(found))


def _remedy(hook: Hook) -> str:
    if hook.endpoint.url:
        return f"see what listens at {hook.endpoint.url}; then run the same command again"
    where = f"-n {hook.endpoint.namespace}"
    return f"kubectl {where} get pods,endpointslices; then run the same command again: it goes on where it was"
