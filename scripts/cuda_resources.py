#!/usr/bin/env python3
"""The SM resources of each CUDA kernel, from the compiler's reports.

record JSON --nvcc VERSION FILE...
    Merges the reports that the build wrote beside the machine code (<rung>_cubin_<arch>.resources)
    into JSON: an array with an entry for each kernel and architecture. The other files are the
    rungs' PTX, which has the threads per block, and shows if the kernel uses dynamic shared memory,
    which is not in `shared_bytes`. Fails if ptxas serialized the wgmma instructions of a kernel,
    which it says nowhere else.
check JSON
    Fails if a kernel spills registers and `bottleneck:` in its rung's header does not say "spills".
"""

import argparse
import json
import math
import pathlib
import re
import sys

import rung_headers
from element_types import DTYPES

REPORT = re.compile(r"(?P<op>[a-z]+)_(?P<backend>[a-z]+)_(?P<slug>\w+)_cubin_(?P<arch>\w+)")
KERNEL = re.compile(r"Compiling entry function '(\w+)'")
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
SERIALIZED = re.compile(r".*wgmma\S* instructions are serialized.*")
USED = re.compile(r"Used (\d+) registers(?:.*?, (\d+) bytes smem)?")
# The longest name first: "bf16" ends "bf16_bf16" too.
DTYPE_AND_TILE = re.compile(rf"_({'|'.join(sorted(DTYPES, key=len, reverse=True))})(?:_(\d+))?$")
# For some architectures, nvcc leaves out extents of 1.
PTX_ENTRY = re.compile(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+(?:, \d+)*)")


class Problem(Exception):
    """One line about what is wrong."""


def kernels_of_ptx(path):
    """Kernel to threads of a block, and to whether the launch gives it shared memory."""
    text = path.read_text()
    dynamic = ".extern .shared" in text
    return {
        name: {"max_threads": math.prod(map(int, extents.split(", "))), "dynamic_shared": dynamic}
        for name, extents in PTX_ENTRY.findall(text)
    }


def entries_of_report(path, ptx, nvcc):
    """An entry for each kernel of one rung, compiled for one architecture."""
    rung = REPORT.fullmatch(path.stem)
    if not rung:
        raise Problem(f"{path.name} is not named <op>_<backend>_<slug>_cubin_<arch>.resources")
    report = path.read_text()
    if serialized := SERIALIZED.search(report):
        raise Problem(f"{path}: {serialized[0].strip()}")
    parts = re.split(KERNEL, report)
    if len(parts) < 3:
        raise Problem(f"{path}: no 'Compiling entry function' in it: not a report of nvcc")
    for name, text in zip(parts[1::2], parts[2::2]):
        # A line for the kernel itself, and one for each function that it calls.
        memory = [tuple(map(int, found)) for found in MEMORY.findall(text)]
        used = USED.search(text)
        if not memory or not used or name not in ptx:
            raise Problem(
                f"{path}: {name}: no line of its stack frame or registers, or no .maxntid in PTX"
            )
        # The slug may end in a type of its own: the kernel of split_bf16 for bf16 ends in "_bf16_bf16".
        found = DTYPE_AND_TILE.search(re.sub(rf"^[a-z]+_[a-z]+_{rung['slug']}(?=_)", "", name))
        dtype, tile = found.groups() if found else (None, None)
        stack, stores, loads = map(sum, zip(*memory))
        op = name.split("_")[0]  # a dot product's file has the rung of op sum too
        yield {
            "rung": f"{op}/{rung['backend']}/{rung['slug']}",
            "dtype": dtype,
            "tile": int(tile) if tile else None,
            "arch": "sm_" + rung["arch"],
            "nvcc": nvcc,
            "registers": int(used[1]),
            "spill_store_bytes": stores,
            "spill_load_bytes": loads,
            "stack_bytes": stack,
            "shared_bytes": int(used[2] or 0),
            **ptx[name],
        }


def record(arguments):
    reports = [path for path in arguments.files if path.suffix == ".resources"]
    ptx = {}
    for path in arguments.files:
        if path not in reports:
            ptx.update(kernels_of_ptx(path))
    entries = [
        entry for path in reports for entry in entries_of_report(path, ptx, arguments.nvcc)
    ]
    entries.sort(key=lambda e: (e["rung"], e["arch"], e["dtype"] or "", e["tile"] or 0))
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    arguments.json.write_text(f"[\n{lines}\n]\n")


def check(arguments):
    for entry in json.loads(arguments.json.read_text()):
        stores, loads = entry["spill_store_bytes"], entry["spill_load_bytes"]
        if stores + loads == 0:
            continue
        source = re.sub("^sum/", "dot/", entry["rung"]) + ".cu"
        places = [folder / source for folder in arguments.kernels]
        places += [folder / "device/cuda/library" / places[0].name for folder in arguments.kernels]
        if any(path.exists() and rung_headers.claims_spills(path) for path in places):
            continue
        tile = "" if entry["tile"] is None else f", tile {entry['tile']}"
        raise Problem(
            f"{entry['rung']} ({entry['dtype']}{tile}, {entry['arch']}) spills registers, "
            f"{stores} bytes of stores and {loads} of loads; reduce its register use, or say "
            "'spills' in the 'bottleneck:' field of its header"
        )


def main():
    project = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="merge the compiler's reports")
    recorder.set_defaults(run=record)
    recorder.add_argument("json", type=pathlib.Path)
    recorder.add_argument("--nvcc", required=True, help="version of the compiler")
    recorder.add_argument("files", type=pathlib.Path, nargs="+")
    checker = commands.add_parser("check", help="no spills but those that a header claims")
    checker.set_defaults(run=check)
    checker.add_argument("json", type=pathlib.Path)
    checker.add_argument("--kernels", type=pathlib.Path, nargs="+",
                         default=[project / "ladder", project / "kernels"])
    arguments = parser.parse_args()

    try:
        arguments.run(arguments)
    except (Problem, OSError, ValueError) as problem:
        print(f"cuda_resources: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
