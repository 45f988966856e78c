"""All-reduce between the pods of a Job, over every NIC that the pods have.

The pods' template says nothing of NICs: with the annotation k8s.v1.cni.cncf.io/networks there are interfaces net1,
net2 ..., and gloo takes its turns on them; without it, it has eth0.

Environment: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE; ROUNDS (all-reduces), MEBIBYTES (of each), PATIENCE (seconds
with one of them).
"""

from __future__ import annotations

import datetime
import json
import os
import socket
import statistics
import sys
import time
from pathlib import Path
from typing import NoReturn

import torch
import torch.distributed as dist

ROUNDS = int(os.environ.get("ROUNDS", "10"))
MEBIBYTES = int(os.environ.get("MEBIBYTES", "16"))
PATIENCE = datetime.timedelta(seconds=float(os.environ.get("PATIENCE", "60")))
PARTS_PER_NIC = 2  # of the tensor, so that no NIC waits while another one ends


def say(event: str, **values: object) -> None:
    """Print one line that a test or a person reads."""
    print("NICS " + json.dumps({"event": event, **values}), flush=True)


def nics() -> list[str]:
    """Return the interfaces that the annotation brought, else the pod network's."""
    names = sorted(name for _, name in socket.if_nameindex() if name.startswith("net"))
    return names or ["eth0"]


def down(names: list[str]) -> list[str]:
    """Return those NICs that have no carrier."""
    return [name for name in names if Path(f"/sys/class/net/{name}/operstate").read_text().strip() != "up"]


def all_reduce(tensor: torch.Tensor, parts: int, group: dist.ProcessGroup) -> float:
    """Sum `tensor` over all ranks in `parts` at once; return the seconds."""
    began = time.perf_counter()
    works = [dist.all_reduce(part, group=group, async_op=True) for part in tensor.chunk(parts)]
    for work in works:
        assert work is not None
        work.wait()
    return time.perf_counter() - began


def give_up(why: str) -> NoReturn:
    """End this pod at once, with a reason: gloo's threads would go on waiting for the other ranks."""
    print(why, file=sys.stderr, flush=True)
    os._exit(1)


def main() -> None:
    """Run the rounds, and check what comes out of each."""
    names = nics()
    # Several interfaces: gloo dispatches its operations to them in turn.
    # https://docs.pytorch.org/docs/stable/distributed.html (common environment variables)
    os.environ["GLOO_SOCKET_IFNAME"] = ",".join(names)
    dist.init_process_group("gloo")
    group = dist.new_group(timeout=PATIENCE)  # the first group has more: the ranks start at different times
    rank, world = dist.get_rank(), dist.get_world_size()
    say("start", rank=rank, world_size=world, nics=names)
    expected = float(sum(range(1, world + 1)))
    seconds = []
    try:
        for number in range(ROUNDS):
            tensor = torch.full((MEBIBYTES << 18,), rank + 1.0)
            seconds.append(all_reduce(tensor, PARTS_PER_NIC * len(names), group))
            if not bool((tensor == expected).all()):
                give_up(f"round {number}: wrong sum {tensor.min()} to {tensor.max()}, not {expected}")
            say("round", number=number, seconds=round(seconds[-1], 4))
    except RuntimeError as error:
        lost = down(names)
        why = f"NIC {', '.join(lost)} has no carrier" if lost else f"NICs {', '.join(names)} of this pod are up"
        say("lost", round=len(seconds), nics=lost)
        give_up(f"all-reduce {len(seconds)} failed: {why}: {str(error).splitlines()[0]}")
    say("done", seconds=round(statistics.median(seconds), 4), mebibytes=MEBIBYTES)
    dist.barrier()


if __name__ == "__main__":
    main()
