"""Train on two pods from Python, with Kubeflow's SDK: `train` is what each of them runs, as it stands here."""

from __future__ import annotations

import os
import sys

from kubeflow.trainer import CustomTrainer, KubernetesBackendConfig, TrainerClient


def train() -> None:
    """Sum the ranks over all pods; what it imports is in the runtime's image."""
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    total = torch.tensor([float(dist.get_rank() + 1)])
    dist.all_reduce(total)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: the sum is {total.item():.0f}", flush=True)
    dist.destroy_process_group()


def main() -> int:
    """Run it as a job of team-a, through the team's queue."""
    client = TrainerClient(KubernetesBackendConfig(namespace="team-a", config_file=os.environ["KUBECONFIG"]))
    name = client.train(
        runtime=client.get_runtime("torch-distributed"),
        trainer=CustomTrainer(func=train, num_nodes=2, resources_per_node={"cpu": "200m", "memory": "512Mi"}),
    )
    job = client.wait_for_job_status(name, status={"Complete", "Failed"}, timeout=600)
    print(job.status)
    for line in client.get_job_logs(name):
        print(line)
    client.delete_job(name)
    return 0 if job.status == "Complete" else 1


if __name__ == "__main__":
    sys.exit(main())
