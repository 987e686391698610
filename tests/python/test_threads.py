"""The limit on threads, and the floating-point environment of the calling thread."""

import contextlib
import ctypes
import os
import platform
import subprocess
import sys

import numpy
import pytest
from conftest import matrix

import rung

# Prints the number of threads of a product that would use every processor: with the limit, and with `threads=3`.
COUNT = """
import os, numpy, rung
a = numpy.ones((600, 600), "float32")
before = len(os.listdir("/proc/self/task"))
rung.matmul(a, a)
print(rung.get_num_threads(), len(os.listdir("/proc/self/task")) - before)
rung.matmul(a, a, threads=3)
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no /proc")
@pytest.mark.parametrize("variables", [{"RUNG_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "1,4"}])
def test_environment_limits_threads(variables):
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    child = subprocess.run([sys.executable, "-c", COUNT], env=inherited | variables, capture_output=True, text=True, check=True)
    assert child.stdout.split() == ["1", "0", "2"]
    assert child.stderr == ""


def test_program_limits_threads():
    usual = rung.get_num_threads()
    try:
        rung.set_num_threads(usual + 1)
        assert rung.get_num_threads() == usual + 1
        with pytest.raises(ValueError, match="threads is -1; it must be at least 0"):
            rung.set_num_threads(-1)
    finally:
        rung.set_num_threads(0)
    assert rung.get_num_threads() == usual


@contextlib.contextmanager
def rounding_upward():
    libm = ctypes.CDLL("libm.so.6")
    libm.fesetround({"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()])
    try:
        yield
    finally:
        libm.fesetround(0)


@pytest.mark.skipif(sys.platform != "linux", reason="FE_UPWARD of Linux")
def test_promised_bits_ignore_the_environment():
    a = matrix((120, 120), "float32", 1)

    def results():
        return [rung.matmul(a, a, math=math, alpha=0.1, threads=threads)
                for math in ["reproducible", "batch_invariant"] for threads in [1, 2]] + [
                    rung.dot(a[0], a[1], mode=mode) for mode in ["deterministic", "compensated", "reproducible"]]

    usual = results()
    with rounding_upward():
        upward = results()
        larger = rung.matmul(a, a)
    assert all(numpy.array_equal(x, y) for x, y in zip(usual, upward))
    assert (larger >= rung.matmul(a, a)).all()
