"""The client's exceptions, wrapped once: what failed, why, and what to type next."""

from __future__ import annotations

import json
from collections.abc import Mapping

from modelyard.errors import ApplyError, ClusterUnreachableError
from modelyard.objects import dig, text


class ApiError(ApplyError):
    """The apiserver answered, and refused.

    Args:
        subject: the object or the request.
        code: HTTP status.
        reason: the Status object's reason ("Conflict").
        message: the Status object's message.
    """

    def __init__(self, subject: str, code: int, reason: str, message: str, remedy: str = "") -> None:
        self.code = code
        self.reason = reason
        self.message = message
        shown = message or reason or "no message"
        super().__init__(subject, f"the apiserver refused it ({code}): {shown}", remedy or _remedy(self))

    @property
    def momentary(self) -> bool:
        """Tell whether the apiserver or its etcd cannot answer just now: busy, starting, or electing a leader.

        A webhook that does not answer is none of these: its 500 has the reason InternalError.
        Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#api-server-errors and the messages of
        https://pkg.go.dev/go.etcd.io/etcd/api/v3/v3rpc/rpctypes, which the apiserver passes on.
        """
        if self.unconverted:
            return False
        if self.code == 500:
            return self.reason in ("ServerTimeout", "Timeout") or self.message.startswith("etcdserver:")
        return self.code in (429, 503, 504)

    @property
    def unconverted(self) -> bool:
        """Tell whether the webhook that converts a custom resource between versions does not answer.

        A read has it as a 500. A list or watch of a version whose cache the apiserver has not filled since it started,
        or since the definition changed, has it as a 429, for as long as the webhook is down. The text is that of
        apiextensions-apiserver, pkg/apiserver/conversion.
        """
        return self.code in (429, 500) and "conversion webhook for" in self.message


def refusal(subject: str, code: int, body: bytes) -> ApiError:
    """Return the error for a response with an HTTP status of 400 or more."""
    try:
        status = json.loads(body)
    except ValueError:
        status = {}
    if not isinstance(status, Mapping):
        status = {}
    message = text(status, "message") or body.decode(errors="replace").strip()[:300]
    return ApiError(subject, code, text(status, "reason"), message)


def unreachable(server: str, cause: BaseException) -> ClusterUnreachableError:
    """Return the error for an apiserver that gives no answer."""
    return ClusterUnreachableError(
        f"cluster {server}",
        f"does not answer: {innermost(cause)}",
        "see that it runs (`modelyard local status`), or name another by --kubeconfig and --context; "
        "then run the same command again: it goes on where it was",
    )


def innermost(error: BaseException) -> str:
    """Return the message of the exception at the bottom of a chain of wrappers."""
    reason = dig(vars(error), "reason") if hasattr(error, "__dict__") else None
    while isinstance(reason, BaseException):
        error, reason = reason, dig(vars(reason), "reason") if hasattr(reason, "__dict__") else None
    shown = str(error).rsplit(": ", 1)[-1] if "object at 0x" in str(error) else str(error)
    return shown or type(error).__name__


def _remedy(error: ApiError) -> str:
    if error.unconverted:
        return "see that the controller that serves this conversion webhook runs; then run the same command again"
    if error.momentary:
        return "check it: kubectl get --raw '/readyz?verbose'; then run the same command again"
    return {
        401: "log in to the cluster again; the kubeconfig's credentials were refused",
        403: "ask for the rights (cluster-admin installs everything), or use another --context",
    }.get(error.code, "fix the object, then run the same command again")
