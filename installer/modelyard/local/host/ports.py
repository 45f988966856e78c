"""The port on the host's loopback: chosen once, kept, and never shared."""

from __future__ import annotations

import errno
import socket
import time

from modelyard.errors import LocalClusterError

_RANGE = range(16443, 16743)  # below the kernel's ephemeral ports, so that no outgoing connection takes it
_POLL_SECONDS = 0.02


def listen(name: str, wanted: int | None, taken: frozenset[int], *, patience: float = 0.0) -> socket.socket:
    """Return a listening socket on 127.0.0.1 for the cluster `name`.

    Args:
        name: the cluster's.
        wanted: the port that it has, or that was asked for; None for any free one.
        taken: ports of other clusters, which may be down now.
        patience: seconds for `wanted` to become free: a supervisor of this cluster that was killed holds
            it until the kernel has ended it.

    Raises:
        LocalClusterError: `wanted` is in use, or no port is free.
    """
    if wanted is not None:
        try:
            return _bind_within(wanted, patience)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            raise LocalClusterError(
                f"port 127.0.0.1:{wanted} of cluster {name}",
                f"it cannot be used ({error.strerror})",
                f"end what listens there (`ss -ltnp sport = :{wanted}` names it), "
                f"or `modelyard local up --name {name} --port N` with a free one",
            ) from error
    for port in _RANGE:
        if port not in taken:
            try:
                return _bind(port)
            except OSError:
                continue
    raise LocalClusterError(
        f"cluster {name}",
        f"no port from {_RANGE[0]} to {_RANGE[-1]} is free on 127.0.0.1",
        f"modelyard local up --name {name} --port N",
    )


def _bind_within(port: int, seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _bind(port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= deadline:
                raise
        time.sleep(_POLL_SECONDS)  # a poll: the kernel announces no free port


def _bind(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port), backlog=512)
