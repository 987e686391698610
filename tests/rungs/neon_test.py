"""gemm/cpu/dot_products under each instruction set of Arm: built by a cross compiler and run by
qemu-user. On Debian: g++-aarch64-linux-gnu and qemu-user. Skipped (77) where one is missing."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [
    "tests/rungs/neon_program.cpp",
    "kernels/gemm/cpu/dot_products.cpp",
    *(f"kernels/device/cpu/{name}.cpp"
      for name in ["dot_kernels", "few_rows_kernels", "group_dots", "isa", "machine",
                   "narrow_kernels", "parallel", "widen", "workspace"]),
]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
# The processors to emulate, and the instruction set to be found on each.
RUNS = [("cortex-a57", "neon"), ("max", "neon"), ("max", "neon_dotprod"), ("max", "neon_bf16")]


def main():
    for tool in (COMPILER, EMULATOR):
        if not shutil.which(tool):
            print(f"skipped: {tool} is missing")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        # Highway's headers are the same for all processors. The C library's come first.
        subprocess.run(
            [COMPILER, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-static", "-pthread",
             *(f"-I{ROOT / part}" for part in ("", "kernels", "include")),
             "-idirafter", "/usr/include", *(ROOT / source for source in SOURCES), "-o", program],
            check=True)
        for cpu, isa in RUNS:
            run = subprocess.run([EMULATOR, "-cpu", cpu, program],
                                 env={**os.environ, "RUNG_ISA": isa}, capture_output=True, text=True)
            print(f"{cpu} {isa}: exit {run.returncode}\n{run.stdout}{run.stderr}", end="")
            if run.returncode != 0:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
