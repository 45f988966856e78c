"""Measures the way between two pods over each of their interfaces. Runs inside the pods; standard library only.

Rank 0 receives, rank 1 sends and prints one line of results: for each interface the median round trip of a byte in an
idle network, and Mbit/s of payload that arrived over the pod network (two connections), over an overlay network if the
pods have one (two as well), and over all NICs (one each).
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import statistics
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

NIC, OVERLAY = "net", "overlay"  # how names of interfaces begin
PORT = 7000
WARM_UP, MEASURED = 2.0, 6.0  # seconds
TURNS, ROUND_TRIPS = 40, 100  # of each way, and in each turn
CHUNK = 1 << 18  # bytes
PATIENCE = 120.0  # seconds until the other pod is there
_SIOCGIFADDR = 0x8915  # linux/sockios.h

Mark = tuple[float, int]  # when, and how many bytes by then


def address(interface: str) -> str:
    """Return the IPv4 address of an interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface.encode()))
    return socket.inet_ntoa(answer[20:24])


def interfaces() -> list[str]:
    """Return the pod network's interface, that of an overlay network, and all NICs."""
    return sorted(name for _, name in socket.if_nameindex() if name.startswith(("eth0", OVERLAY, NIC)))


def mtu(interface: str) -> int:
    """Return the largest packet of an interface in bytes."""
    return int(Path(f"/sys/class/net/{interface}/mtu").read_text())


def rate(flows: Sequence[Sequence[Mark]]) -> float:
    """Return the Mbit/s of all flows together, over the time in which all of them ran, without its beginning."""
    begin = max(marks[0][0] for marks in flows) + WARM_UP
    end = min(marks[-1][0] for marks in flows)
    return sum(_one_rate([mark for mark in marks if begin <= mark[0] <= end]) for marks in flows)


def _one_rate(marks: Sequence[Mark]) -> float:
    (first, before), (last, after) = marks[0], marks[-1]
    return (after - before) * 8 / 1e6 / (last - first)


def serve() -> None:
    """Answer rank 1: echo bytes, count bytes, and say what was counted, until it says that it is done."""
    flows: dict[str, list[list[Mark]]] = {}
    done = threading.Event()
    with socket.create_server(("0.0.0.0", PORT), backlog=16) as listener:
        listener.settimeout(PATIENCE)
        while not done.is_set():
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, flows, done), daemon=True).start()


def _answer(connection: socket.socket, flows: dict[str, list[list[Mark]]], done: threading.Event) -> None:
    with connection:
        verb, argument = _question(connection)
        if verb == "addresses":
            connection.sendall(json.dumps({name: address(name) for name in interfaces()}).encode())
        elif verb == "echo":
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := connection.recv(1):
                connection.sendall(data)
        elif verb == "count":
            marks: list[Mark] = []
            flows.setdefault(argument, []).append(marks)
            connection.sendall(b".")
            _count(connection, marks)
        elif verb == "rate":
            connection.sendall(json.dumps(rate(flows[argument])).encode())
        elif verb == "done":
            done.set()
            socket.create_connection(("127.0.0.1", PORT)).close()  # so that `serve` looks


def _question(connection: socket.socket) -> tuple[str, str]:
    """Return verb and argument, and read no byte beyond; both are empty where it was only a look."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            return "", ""
        line += byte
    verb, argument = line.decode().split()
    return verb, argument


def _count(connection: socket.socket, marks: list[Mark]) -> None:
    buffer, total = bytearray(CHUNK), 0
    while received := connection.recv_into(buffer):
        total += received
        marks.append((time.monotonic(), total))


def ask(host: str, verb: str, argument: str = "-") -> socket.socket:
    """Return a connection on which rank 0 answers."""
    connection = socket.create_connection((host, PORT), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(f"{verb} {argument}\n".encode())
    return connection


def answer(host: str, verb: str, argument: str = "-") -> object:
    """Return the whole answer."""
    with ask(host, verb, argument) as connection, connection.makefile("rb") as stream:
        text = stream.read()
    return json.loads(text) if text else None


def round_trips(hosts: Mapping[str, str]) -> dict[str, float]:
    """Return the median round trip to each address in microseconds.

    They take turns, so that what else the machine does meanwhile meets all of them alike.
    """
    taken: dict[str, list[float]] = {name: [] for name in hosts}
    with ExitStack() as stack:
        ways = {name: stack.enter_context(ask(host, "echo")) for name, host in sorted(hosts.items())}
        for _ in range(TURNS):
            for name, connection in ways.items():
                taken[name] += [_round_trip(connection) for _ in range(ROUND_TRIPS)]
    return {name: round(statistics.median(each) * 1e6, 1) for name, each in taken.items()}


def _round_trip(connection: socket.socket) -> float:
    began = time.perf_counter()
    connection.sendall(b".")
    connection.recv(1)
    return time.perf_counter() - began


def bandwidth(control: str, hosts: Sequence[str], name: str) -> float:
    """Return the Mbit/s that arrive when each of `hosts`, addresses of rank 0, is sent to at once."""
    connections = [ask(host, "count", name) for host in hosts]
    for connection in connections:
        connection.recv(1)
    end = time.monotonic() + WARM_UP + MEASURED
    senders = [threading.Thread(target=_send, args=(connection, end)) for connection in connections]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    found = answer(control, "rate", name)
    assert isinstance(found, float)
    return found


def _send(connection: socket.socket, end: float) -> None:
    data = bytes(CHUNK)
    with connection:
        while time.monotonic() < end:
            connection.sendall(data)


def measure(host: str) -> dict[str, object]:
    """Return the results."""
    _wait_for(host)
    found = answer(host, "addresses")
    assert isinstance(found, dict)
    addresses = {str(name): str(each) for name, each in found.items()}
    nics = [each for name, each in sorted(addresses.items()) if name.startswith(NIC)]
    own = addresses["eth0"]
    trips = round_trips(addresses)
    ways = {name: [each, each] for name, each in addresses.items() if not name.startswith(NIC)}
    ways |= {"nics": nics} if nics else {}
    rates = {name: round(bandwidth(own, hosts, name), 1) for name, hosts in ways.items()}
    ask(own, "done").close()
    return {"nics": len(nics), "rtt_us": trips, "mbit": rates, "mtu": {name: mtu(name) for name in addresses}}


def _wait_for(host: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((host, PORT), timeout=5).close()
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"{host}:{PORT} does not answer: {error}") from error
            time.sleep(0.5)  # neither its name in the DNS nor its port announces itself


if __name__ == "__main__":
    if os.environ["RANK"] == "0":
        serve()
    else:
        print("TRAFFIC " + json.dumps(measure(os.environ["MASTER_ADDR"])), flush=True)
