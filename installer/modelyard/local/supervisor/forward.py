"""The host's way in: connections to a socket of the host's namespace, passed on inside.

A socket stays in the network namespace in which it was made. The launcher makes it on the host, the
supervisor inherits it, so nothing of the cluster is on the host but this port.
"""

from __future__ import annotations

import asyncio
import socket

_CHUNK = 1 << 16


async def forward(listener: socket.socket, host: str, port: int) -> asyncio.Server:
    """Start to pass every connection to `listener` on to `host`:`port`; return the server."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection(host, port)
        except OSError:  # the apiserver is not up: the caller sees a closed connection, and may try again
            writer.close()
            return
        try:
            await asyncio.gather(_pump(reader, there[1]), _pump(there[0], writer))
        finally:
            writer.close()
            there[1].close()

    return await asyncio.start_server(serve, sock=listener)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()  # the other direction may still have something to say
    except OSError:  # closing this end ends the other direction too
        writer.close()
