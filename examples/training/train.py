"""Train a small regression with FSDP2, checkpoint it, go on after a fault, and export it to ONNX.

Started by torchrun in every pod of a TrainJob. Settings are environment variables:

    OUTPUT            folder of a volume that all pods share
    STEPS             training steps in all (default 60)
    CHECKPOINT_EVERY  steps between checkpoints (default 10)
    MODEL             folder in OUTPUT that the exported model goes to (default model)
    STEP_SECONDS      least time a step takes, to have time to watch it (default 0)

Every line that says something is "TRAIN" and a JSON object.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

OUTPUT = Path(os.environ["OUTPUT"])
STEPS = int(os.environ.get("STEPS", "60"))
CHECKPOINT_EVERY = int(os.environ.get("CHECKPOINT_EVERY", "10"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0"))
MODEL = os.environ.get("MODEL", "model")
FEATURES, BATCH = 4, 64


def say(**facts: object) -> None:
    """Print facts as one line that is easy to find and to read back."""
    print("TRAIN", json.dumps(facts), flush=True)


def build_model() -> nn.Sequential:
    """Return the model, the same on every rank."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(FEATURES, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))


def batch(step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a step's data on a rank: a function of both, so a resumed run sees what it would have seen."""
    generator = torch.Generator().manual_seed(1000 * step + rank)
    inputs = torch.randn(BATCH, FEATURES, generator=generator)
    return inputs, (inputs[:, :1] * 2 - inputs[:, 1:2] + torch.sin(inputs[:, 2:3])).float()


def latest() -> int:
    """Return the step of the last complete checkpoint, or 0."""
    pointer = OUTPUT / "checkpoints" / "LATEST"
    return int(pointer.read_text()) if pointer.exists() else 0


def save(model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write a checkpoint; LATEST names it only once every rank has written its part."""
    model_state, optimizer_state = get_state_dict(model, optimizer)
    dcp.save({"model": model_state, "optimizer": optimizer_state}, checkpoint_id=str(folder(step)))
    dist.barrier()
    if dist.get_rank() == 0:
        pointer = OUTPUT / "checkpoints" / "LATEST.new"
        pointer.write_text(str(step))
        pointer.replace(pointer.with_suffix(""))
        say(event="checkpoint", step=step)


def load(model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Read a checkpoint into the sharded model and its optimizer."""
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optimizer": optimizer_state}
    dcp.load(state, checkpoint_id=str(folder(step)))
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])


def folder(step: int) -> Path:
    """Return where a step's checkpoint is."""
    return OUTPUT / "checkpoints" / f"step-{step}"


def export(model: nn.Module) -> None:
    """Gather the whole model on rank 0, and write it as ONNX with some of its own answers beside it."""
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if dist.get_rank() != 0:
        return
    whole = build_model()
    whole.load_state_dict(state)
    whole.eval()
    target = OUTPUT / MODEL
    target.mkdir(parents=True, exist_ok=True)
    sample = torch.randn(2, FEATURES, generator=torch.Generator().manual_seed(7))
    torch.onnx.export(
        whole,
        (sample,),
        str(target / "model.onnx.new"),
        input_names=["x"],
        output_names=["y"],
        dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},  # without it, only batches of 2 are served
        dynamo=False,
    )
    with torch.no_grad():
        answers = {"inputs": sample.tolist(), "outputs": whole(sample).tolist()}
    (target / "expected.json").write_text(json.dumps(answers))
    (target / "model.onnx.new").replace(target / "model.onnx")
    say(event="exported", file=str(target / "model.onnx"), **answers)


def main() -> None:
    """Train from the last checkpoint, or from the start, to the last step."""
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = build_model()
    mesh = init_device_mesh("cpu", (world,))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    first = latest()
    if first:
        load(model, optimizer, first)
    local = sum(parameter.to_local().numel() for parameter in model.parameters())
    whole = sum(parameter.numel() for parameter in model.parameters())
    say(event="start", rank=rank, world_size=world, from_step=first, sharded=f"{local}/{whole}")
    for step in range(first + 1, STEPS + 1):
        began = time.monotonic()
        inputs, targets = batch(step, rank)
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            say(event="step", step=step, loss=round(mean.item() / world, 5))
        if step % CHECKPOINT_EVERY == 0:
            save(model, optimizer, step)
        time.sleep(max(0.0, STEP_SECONDS - (time.monotonic() - began)))
    export(model)
    dist.barrier()
    dist.destroy_process_group()
    say(event="done", rank=rank, world_size=world)


if __name__ == "__main__":
    main()
