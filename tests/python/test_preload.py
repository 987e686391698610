"""NumPy from PyPI, whose wheel contains its own BLAS, with librung_blas preloaded."""

import glob
import os
import pathlib
import re
import subprocess
import sys

import pytest

import rung

PROGRAM = """
import numpy
random = numpy.random.default_rng(1)
for dtype in ("float32", "float64"):
    a, b = (random.integers(-9, 9, shape).astype(dtype) for shape in ((70, 40), (40, 90)))
    assert numpy.array_equal(a @ b, (a.astype("int64") @ b.astype("int64")))
    assert numpy.array_equal(a[::2] @ numpy.asfortranarray(b), (a.astype("int64")[::2] @ b.astype("int64")))
    assert a[0] @ a[1] == a[0].astype("int64") @ a[1].astype("int64")
"""


def test_products_of_numpy_are_those_of_rung():
    library = glob.glob(str(pathlib.Path(rung.__file__).parent / "lib*/librung_blas.so.*"))[0]
    environment = dict(os.environ, LD_PRELOAD=library, LD_DEBUG="bindings")
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    bound = dict(reversed(match) for match in re.findall(r"to (\S+) \[0\]: normal symbol `(\w+)'", done.stderr))
    names = [name for name in bound if re.fullmatch(r"scipy_cblas_[sd](gemm|dot)64_", name)]
    if not names:
        pytest.skip("this NumPy has another BLAS")
    assert {bound[name] for name in names} == {library}
    assert "scipy_cblas_dgemm64_" in names and "scipy_cblas_sgemm64_" in names
