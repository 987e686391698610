"""Imports, threads, forks, and memory over many calls."""

import os
import resource
import subprocess
import sys
import threading

import numpy
import pytest
from conftest import check_product, matrix

import rung


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_starts_no_thread_and_opens_no_driver():
    said = run("import os, sys, rung\n"
               "maps = open('/proc/self/maps').read()\n"
               "print(len(os.listdir('/proc/self/task')), 'libcuda' in maps, 'numpy' in sys.modules,"
               " 'torch' in sys.modules, 'jax' in sys.modules)")
    assert said.split() == ["1", "False", "False", "False", "False"]


def test_many_calls_do_not_grow():
    a, out = matrix((4, 4), "float32", 1), numpy.zeros((4, 4), "float32")
    reversed_a = a[::-1, ::-1]  # copied in each call

    def calls(count):
        for _ in range(count):
            rung.matmul(a, a, out=out)
            rung.matmul(reversed_a, a)
            rung.dot(a[0], a[1])
            try:
                rung.matmul(a, a, math="none")
            except ValueError:
                pass

    calls(2_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(30_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000  # KiB: none of 120,000 calls


def test_eight_threads():
    a, b = matrix((120, 80), "float32", 1), matrix((80, 90), "float32", 2)
    right = rung.matmul(a, b)
    failures = []

    def work():
        for _ in range(50):
            if not numpy.allclose(rung.matmul(a, b), right, rtol=1e-5, atol=1e-5):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_gil_is_released():
    a = matrix((1500, 1500), "float64", 1)
    rung.matmul(a, a)
    seen, done = [], threading.Event()

    def count():
        while not done.is_set():
            seen.append(in_call[0])

    in_call = [False]
    thread = threading.Thread(target=count)
    thread.start()
    in_call[0] = True
    rung.matmul(a, a, threads=1)
    in_call[0] = False
    done.set()
    thread.join()
    # If the call held the GIL, the counter would only see its beginning and end.
    assert sum(seen) > 100


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_after_use():
    a = matrix((200, 200), "float32", 1)
    rung.matmul(a, a)
    child = os.fork()
    if child == 0:
        try:
            check_product(rung.matmul(a, a), a, a)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    check_product(rung.matmul(a, a), a, a)


def test_daemon_threads_end_with_the_process():
    for _ in range(3):
        run("import numpy, rung, threading, time\n"
            "a = numpy.ones((300, 300), 'float32')\n"
            "def work():\n"
            "    while True:\n"
            "        rung.matmul(a, a)\n"
            "        rung.dot(a[0], a[0])\n"
            "for _ in range(4):\n"
            "    threading.Thread(target=work, daemon=True).start()\n"
            "time.sleep(0.1)")


def test_exceptions_have_names():
    assert issubclass(rung.UnavailableError, RuntimeError)
    assert issubclass(rung.DeviceError, RuntimeError)
    assert rung.UnavailableError.__doc__ and rung.DeviceError.__doc__
