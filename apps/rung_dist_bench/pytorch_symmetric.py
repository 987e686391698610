"""Times PyTorch's tensor parallel products on symmetric memory, for the shapes of rung-dist-bench.

    python3 apps/rung_dist_bench/pytorch_symmetric.py --ranks 2 --json pytorch.jsonl

Each product is timed as calls from Python and, where it can be captured, as replays of a graph of one call.
The file has a header, then a line for each product. Times are microseconds of the slowest rank, medians of the rounds.
"""

import argparse
import json
import os
import statistics

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory  # registers torch.ops.symm_mem

CALLS, ROUNDS = 20, 7


def captured(call):
    """A graph of one call, or None where PyTorch cannot capture it."""
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except RuntimeError:
        torch.cuda.synchronize()
        return None


def microseconds(run):
    rounds = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        dist.barrier()
        run()  # while it runs, the host gets ahead
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            run()
        end.record()
        torch.cuda.synchronize()
        rounds.append(begin.elapsed_time(end) * 1e3 / CALLS)
    slowest = torch.tensor(statistics.median(rounds), device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()


def timed(call):
    for _ in range(3):
        call()
    times = {"calls": microseconds(call)}
    graph = captured(call)
    if graph is not None:
        times["graph"] = microseconds(graph.replay)
    return times


def products(m, n, k, ranks):
    group = dist.group.WORLD.group_name

    def random(rows, cols):
        return torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)

    shard, columns = random(m // ranks, k), random(k, n // ranks)
    part, rows = random(m, k // ranks), random(k // ranks, n)
    ops = torch.ops.symm_mem
    return {
        "all_gather_gemm": lambda: ops.fused_all_gather_matmul(shard, [columns], 0, group),
        "gemm_reduce_scatter": lambda: ops.fused_matmul_reduce_scatter(part, rows, "sum", 0, group),
    }


def run(rank, arguments):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(arguments.port))
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", rank=rank, world_size=arguments.ranks, device_id=device)
    report = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "ranks": arguments.ranks,
    }
    results = []
    for m in arguments.m:
        for name, call in products(m, arguments.n, arguments.k, arguments.ranks).items():
            row = {"operation": name, "m": m, "n": arguments.n, "k": arguments.k}
            row["microseconds"] = timed(call)
            results.append(row)
            if rank == 0:
                rounded = {way: round(us, 1) for way, us in row["microseconds"].items()}
                print(name, m, rounded, flush=True)
    if rank == 0 and arguments.json:
        with open(arguments.json, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in [report, *results])
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--m", type=int, nargs="+", default=[256 << i for i in range(7)])
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--k", type=int, default=8192)
    parser.add_argument("--port", type=int, default=29533)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    torch.multiprocessing.spawn(run, args=(arguments,), nprocs=arguments.ranks)


if __name__ == "__main__":
    main()
