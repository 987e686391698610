"""python_suite.py LIBRARY SHIM SUITE: runs a linear-algebra test suite of the distribution's numpy or scipy
with librung_blas preloaded. It must pass, and its calls must reach librung_blas: SHIM counts them.

Exits with 77 and a reason if the packages are not installed."""

import collections
import glob
import os
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"  # the interpreter of the distribution's packages

# Arguments of pytest, and the minimum number of calls of each routine.
SUITES = {
    "numpy": (
        ["--pyargs", "numpy.linalg", "-k", "not generalized"],  # stacks of problems are too slow here
        {"cblas_sgemm": 100, "cblas_dgemm": 100, "cblas_ddot": 10, "dgemm_": 100},
    ),
    "scipy": (
        ["--pyargs", "scipy.linalg.tests.test_blas", "scipy.linalg.tests.test_fblas",
         "scipy.linalg.tests.test_basic", "scipy.linalg.tests.test_decomp_cholesky"],
        {"sgemm_": 10, "dgemm_": 100, "sdot_": 10, "ddot_": 10},
    ),
    # A part of SciPy's.
    "scipy_blas": (
        ["--pyargs", "scipy.linalg.tests.test_blas", "scipy.linalg.tests.test_fblas"],
        {"sgemm_": 1, "dgemm_": 1, "sdot_": 1, "ddot_": 1},
    ),
}


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)


def missing_packages(suite):
    name = suite.split("_")[0]
    for module, package in {name: f"python3-{name}", "pytest": "python3-pytest",
                            "hypothesis": "python3-hypothesis"}.items():
        found = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True)
        if found.returncode != 0:
            return package
    return None


def reference_folders():
    """The folders of the reference LAPACK and BLAS, whose other routines call the BLAS routines by symbol
    (dgemm_ etc.); OpenBLAS's LAPACK calls its own."""
    folders = []
    for name in ("lapack", "blas"):
        found = glob.glob(f"/usr/lib/*/{name}/lib{name}.so.3")
        if not found:
            skip(f"lib{name}3 is not installed")
        folders.append(os.path.dirname(found[0]))
    return folders


def read_calls(path, library):
    """The number of calls of each routine, summed over all processes."""
    calls = collections.Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            routine, count, to = line.split(maxsplit=2)
            if os.path.realpath(to.strip()) != os.path.realpath(library):
                sys.exit(f"{routine} went to {to}")
            calls[routine] += int(count)
    return calls


def main(library, shim, suite):
    if not os.access(PYTHON, os.X_OK):
        skip(f"no {PYTHON}")
    if package := missing_packages(suite):
        skip(f"{package} is not installed")
    arguments, least = SUITES[suite]
    with tempfile.TemporaryDirectory() as folder:
        counts = os.path.join(folder, "calls")
        environment = dict(os.environ, LD_PRELOAD=f"{shim}:{library}", RUNG_CALLS=counts,
                           LD_LIBRARY_PATH=":".join(reference_folders()))
        command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        if subprocess.run(command, env=environment, cwd=folder).returncode != 0:
            sys.exit(f"{suite}'s tests fail on {library}")
        calls = read_calls(counts, library)
    print("calls:", dict(calls))
    for routine, count in least.items():
        if calls[routine] < count:
            sys.exit(f"{routine} was called {calls[routine]} times, and should be {count} times")


if __name__ == "__main__":
    main(*sys.argv[1:])
