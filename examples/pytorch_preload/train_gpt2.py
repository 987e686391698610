#!/usr/bin/env python3
"""Trains GPT-2 124M in PyTorch with and without librung_cublas, and prints times and losses of both.

    python3 examples/pytorch_preload/train_gpt2.py
    python3 examples/pytorch_preload/train_gpt2.py --tiny --device cpu --steps 3    # only to see that it runs

It needs PyTorch 2 with CUDA, an NVIDIA GPU, and a build of Rung. The model and its training step are plain PyTorch: 12
layers, 12 heads, width 768, vocabulary 50,257, weights in bf16, AdamW, batches of 8 x 1024 tokens. Nothing in them knows
of Rung. The script runs itself in processes of their own, in turn with and without

    LD_PRELOAD=build/library/librung_cublas.so

which answers the calls of cuBLAS that Rung has a kernel for, and passes the others to cuBLAS. The tokens are random and
the same in both, and each process repeats one batch, so losses fall and can be compared. It also times a forward pass of
16 x 100 tokens, as calls and inside a CUDA graph, which leaves out the host.

Sums in another order round otherwise, and training in bf16 amplifies that. Between two runs of cuBLAS alone, one of them
without its workspace (CUBLAS_WORKSPACE_CONFIG=:0:0), losses of the 25 steps differed by up to 0.091 on an H200, so
the default of --tolerance is 0.1.

The exit code is 1 if losses differ by more than --tolerance, and 3 without PyTorch, the library or a GPU.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "librung_cublas.so"
SIZES = {"layers": 12, "heads": 12, "width": 768, "vocabulary": 50257, "batch": 8, "length": 1024}
TINY = {"layers": 2, "heads": 2, "width": 32, "vocabulary": 101, "batch": 2, "length": 16}
FORWARD = (16, 100)  # sequences, tokens of each


class Unavailable(Exception):
    """One line about what this machine lacks."""


# The measured process: plain PyTorch.


def make_model(torch, sizes):
    nn, functional = torch.nn, torch.nn.functional
    width, heads = sizes["width"], sizes["heads"]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x):
            batch, length, _ = x.shape
            q, k, v = self.qkv(x).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.project(y.transpose(1, 2).reshape(batch, length, width))

        def forward(self, x):
            x = x + self.attend(self.before_attention(x))
            return x + self.narrow(functional.gelu(self.widen(self.before_mlp(x)), approximate="tanh"))

    class GPT2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(sizes["vocabulary"], width)
            self.positions = nn.Embedding(max(sizes["length"], FORWARD[1]), width)
            self.blocks = nn.ModuleList(Block() for _ in range(sizes["layers"]))
            self.last = nn.LayerNorm(width)
            self.apply(self.initialise)

        @staticmethod
        def initialise(module):
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

        def forward(self, tokens):
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
            for block in self.blocks:
                x = block(x)
            return functional.linear(self.last(x), self.tokens.weight)  # embedding and head share weights

    return GPT2()


class Clock:
    """Times calls on the device, in milliseconds."""

    def __init__(self, torch, device):
        self.cuda = torch.cuda if device == "cuda" else None

    def time(self, call):
        if self.cuda is None:
            begin = time.perf_counter()
            call()
            return 1e3 * (time.perf_counter() - begin)
        begin, end = self.cuda.Event(enable_timing=True), self.cuda.Event(enable_timing=True)
        self.cuda.synchronize()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def median(self, call, steps, warmup):
        for _ in range(warmup):
            call()
        return statistics.median(self.time(call) for _ in range(steps))


def train(torch, model, tokens, clock, arguments):
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1,
                                  **({"fused": True} if arguments.device == "cuda" else {}))  # fmt: skip
    inputs, targets = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    losses = []

    def step():
        logits = model(inputs)
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]).float(), targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())

    milliseconds = clock.median(step, arguments.steps, arguments.warmup)
    return milliseconds, [float(loss) for loss in losses]


def forward_times(torch, model, clock, arguments, vocabulary):
    tokens = torch.randint(vocabulary, FORWARD, device=arguments.device)
    steps, warmup = 5 * arguments.steps, arguments.warmup
    with torch.no_grad():
        times = {"forward_ms": clock.median(lambda: model(tokens), steps, warmup)}
        if arguments.device == "cuda":
            graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                model(tokens)
            times["forward_graph_ms"] = clock.median(graph.replay, steps, warmup)
    return times


def measure(arguments):
    import torch

    sizes = TINY if arguments.tiny else SIZES
    torch.manual_seed(1)
    model = make_model(torch, sizes).to(arguments.device, torch.bfloat16)
    tokens = torch.randint(sizes["vocabulary"], (sizes["batch"], sizes["length"] + 1)).to(arguments.device)
    clock = Clock(torch, arguments.device)
    step_ms, losses = train(torch, model, tokens, clock, arguments)
    device = torch.cuda.get_device_name() if arguments.device == "cuda" else "CPU"
    maps = pathlib.Path("/proc/self/maps")
    return {
        "preloaded": maps.exists() and LIBRARY in maps.read_text(),
        "device": device,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "step_ms": step_ms,
        "losses": losses,
        **forward_times(torch, model, clock, arguments, sizes["vocabulary"]),
    }


# The comparing process.


def run(arguments, library):
    """The result of one process, with the library preloaded unless it is None."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if library is not None:
        environment["LD_PRELOAD"] = str(library)
    command = [sys.executable, __file__, "--measure", *sys.argv[1:]]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"train_gpt2: a process ended with exit code {done.returncode}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["preloaded"] != (library is not None):
        raise Unavailable(f"{library} was not loaded by the process")
    return result


def merged(results):
    """The median of the times of several processes, and the losses of the first."""
    times = {key: statistics.median(result[key] for result in results) for key in results[0] if key.endswith("_ms")}
    return {**results[0], **times}


def first_line(*command):
    try:
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip().split("\n")[0] or None


def print_table(record, steps):
    without, with_rung = record["without"], record["with"]
    machine, sizes = record["machine"], record["sizes"]
    print(f"{without['parameters'] / 1e6:.1f} M parameters, bf16, batch {sizes['batch']} x {sizes['length']}; {machine['device']}, "
          f"driver {machine['driver']}; PyTorch {machine['torch']}, CUDA {machine['cuda']}")  # fmt: skip
    print(f"{'':24}{'cuBLAS':>12}{LIBRARY:>20}{'ratio':>8}")
    rows = {"step_ms": "training step, ms", "forward_ms": "forward 16 x 100, ms", "forward_graph_ms": "the same in a graph, ms"}
    for key, name in rows.items():
        if key in without:
            print(f"{name:24}{without[key]:12.2f}{with_rung[key]:20.2f}{without[key] / with_rung[key]:7.2f}x")
    for index, name in ((0, "loss of the first step"), (-1, f"loss after {steps} steps")):
        print(f"{name:24}{without['losses'][index]:12.4f}{with_rung['losses'][index]:20.4f}")


def compare(arguments):
    library = pathlib.Path(arguments.library).resolve()
    if arguments.device == "cuda" and not library.exists():
        raise Unavailable(f"--library: {library} does not exist; run make, or name the file")
    try:
        import torch
    except ImportError:
        raise Unavailable("PyTorch is not installed for this Python") from None
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        raise Unavailable(f"PyTorch 2 is needed, and {torch.__version__} is installed")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise Unavailable("PyTorch finds no GPU; --device cpu --tiny only checks that the script runs")
    preload = library if library.exists() else None
    results = {"without": [], "with": []}
    for _ in range(arguments.repeats):  # in turn, so that a change of clocks affects both
        results["without"].append(run(arguments, None))
        results["with"].append(run(arguments, preload))
    record = {name: merged(group) for name, group in results.items()}
    record["sizes"] = TINY if arguments.tiny else SIZES
    record["machine"] = {
        **{key: record["without"][key] for key in ("device", "torch", "cuda")},
        "driver": first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "commit": first_line("git", "rev-parse", "--short=8", "HEAD"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    print_table(record, arguments.warmup + arguments.steps)
    if arguments.device == "cpu":
        print("on a CPU there is no cuBLAS to replace: this only shows that the script runs")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(record) + "\n")
    differences = map(lambda a, b: abs(a - b), record["without"]["losses"], record["with"]["losses"])
    largest = max(differences)
    print(f"losses differ by at most {largest:.4f}")
    return 0 if largest <= arguments.tolerance else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="timed training steps of each process (default: 20)")
    parser.add_argument("--warmup", type=int, default=5, help="steps before them (default: 5)")
    parser.add_argument("--repeats", type=int, default=2, help="processes with and without (default: 2 of each)")
    parser.add_argument("--library", default=PROJECT / "build/library" / LIBRARY, help=f"default: build/library/{LIBRARY}")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a model of 2 layers, to see that the script runs")
    parser.add_argument("--tolerance", type=float, default=0.1, help="largest difference of losses (default: 0.1)")
    parser.add_argument("--json", metavar="FILE", help="write times, losses, machine, date and commit to FILE")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)  # one process; JSON
    arguments = parser.parse_args()
    if min(arguments.steps, arguments.repeats) < 1 or arguments.warmup < 0:
        parser.error("--steps and --repeats are at least 1, --warmup at least 0")
    if arguments.measure:
        print(json.dumps(measure(arguments)))
        return 0
    try:
        return compare(arguments)
    except Unavailable as lack:
        print(f"train_gpt2: {lack}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
