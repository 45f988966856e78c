"""What a cluster remembers between commands."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from modelyard.local.host.files import read_json, write_json
from modelyard.local.host.procfs import ProcessId, is_alive
from modelyard.local.state.layout import Layout
from modelyard.local.state.spec import NIC_MBIT, ClusterSpec


@dataclass(frozen=True, slots=True)
class Record:
    """The cluster's lasting choices: its port and its shape at the last `up`."""

    port: int
    nodes: int
    fake_nodes: int
    fake_gpus: int
    nics: int = 0
    nic_mbit: int = NIC_MBIT


def record_of(spec: ClusterSpec, port: int) -> Record:
    """Return the record of the cluster `spec` on a port of 127.0.0.1."""
    rate = spec.nic_mbit if spec.nics else NIC_MBIT  # without NICs it means nothing, so it makes no difference
    return Record(port, spec.nodes, spec.fake_nodes, spec.fake_gpus, spec.nics, rate)


def read_record(layout: Layout) -> Record | None:
    """Return the cluster's record, or None where the cluster is new."""
    raw = read_json(layout.record)
    if raw is None:
        return None
    try:
        always = {key: int(str(raw[key])) for key in ("port", "nodes", "fake_nodes", "fake_gpus")}
        # Clusters of before there were NICs have none.
        since = {key: int(str(raw[key])) for key in ("nics", "nic_mbit") if key in raw}
        return Record(**always, **since)
    except (KeyError, ValueError):
        return None


def damage_of(layout: Layout) -> str:
    """Return why the cluster's record cannot be used; "" where it can, or where there is none."""
    if not layout.record.is_file() or read_record(layout) is not None:
        return ""
    raw = read_json(layout.record)
    if raw is None:
        return f"{layout.record} is damaged: it holds no JSON object"
    wrong = [each.name for each in fields(Record) if not isinstance(raw.get(each.name, each.default), int)]
    return f"{layout.record} is damaged: {', '.join(wrong)} must be numbers"


def write_record(layout: Layout, record: Record) -> None:
    """Keep the cluster's record."""
    write_json(layout.record, asdict(record))


def write_supervisor(layout: Layout, process: ProcessId) -> None:
    """Keep which process the supervisor is."""
    write_json(layout.supervisor, asdict(process))


def running_supervisor(layout: Layout) -> ProcessId | None:
    """Return the live supervisor, or None.

    A stale file is no supervisor, even where its pid has been given to another process since.
    """
    raw = read_json(layout.supervisor)
    if raw is None:
        return None
    try:
        process = ProcessId(int(str(raw["pid"])), int(str(raw["start"])), str(raw["boot"]))
    except (KeyError, ValueError):
        return None
    return process if is_alive(process) else None
