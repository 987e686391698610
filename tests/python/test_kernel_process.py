"""The virtual GPU's process: threads, forks, interrupts, its end; random orders, limits, stored sources."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rung
import rung._kernel
from kernel_texts import ORDERS, SAXPY, needs_clang

pytestmark = needs_clang


@pytest.fixture(scope="module")
def saxpy():
    return rung.Kernel(SAXPY, "saxpy")


def test_in_threads_and_forked_processes(saxpy):
    x = np.ones(64, np.float32)
    ys = [np.zeros(64, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=lambda y=y: [saxpy[1, 64](1, x, y, 64) for _ in range(10)]) for y in ys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((y == 10).all() for y in ys)
    pid = os.fork()
    if pid == 0:
        y = np.zeros(64, np.float32)
        saxpy[1, 64](3, x, y, 64)
        os._exit(0 if (y == 3).all() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    saxpy[1, 64](1, x, ys[0], 64)
    assert (ys[0] == 11).all()


FOREVER = "__global__ void forever(volatile int* x) { while (*x == 0) {} }"


def test_an_interrupt_stops_a_kernel(saxpy):
    forever = rung.Kernel(FOREVER)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            forever[1, 1](np.zeros(1, np.int32))
    finally:
        signal.signal(signal.SIGALRM, before)
    x = np.ones(4, np.float32)
    saxpy[1, 4](1, x, x, 4)
    assert forever[1, 1](np.ones(1, np.int32)).ok and x[0] == 2


def test_after_the_server_ended(saxpy):
    x = np.ones(4, np.float32)
    rung._kernel._kernel_server.server().process.kill()
    with pytest.raises(RuntimeError, match="the virtual GPU's process ended with -9"):
        saxpy[1, 4](1, x, x, 4)
    saxpy[1, 4](1, x, x, 4)
    assert x[0] == 2


def test_the_server_ends_with_a_killed_process():
    program = subprocess.Popen([sys.executable, "-c", f"""if True:
        import numpy as np, rung, rung._kernel_server
        forever = rung.Kernel({FOREVER!r})
        print(rung._kernel_server.server().process.pid, flush=True)
        forever[1, 1](np.zeros(1, np.int32))"""], stdout=subprocess.PIPE, text=True)
    server = pathlib.Path("/proc", program.stdout.readline().strip())

    def processor_time():  # user time in ticks; None after the end
        try:
            fields = (server / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] == "Z" else int(fields[11])

    before = processor_time()
    while processor_time() < before + 20:  # the kernel runs
        assert program.poll() is None
        time.sleep(0.05)
    program.kill()
    program.wait()
    while processor_time() is not None:
        time.sleep(0.05)


def test_random_orders():
    k = rung.Kernel(ORDERS, "first")

    def order(**named):
        turn, found = np.zeros(1, np.uint32), np.zeros(16, np.uint32)
        k[16, 32](turn, found, threads=1, **named)
        assert sorted(found) == list(range(16))
        return list(found)

    assert order() == order(schedule=0) == list(range(16))
    assert order(schedule=1) == order(schedule=1) != order()
    assert len({tuple(order(schedule=seed)) for seed in range(1, 4)}) > 1


def test_a_limit_ends_a_loop():
    k = rung.Kernel('extern "C" __global__ void spin(volatile int* x) { while (*x == 0) {} }', "spin")
    run = k[1, 1](np.zeros(1, np.int32), limit=10_000, on_hazard="report")
    assert [each["kind"] for each in run.hazards] == ["instruction limit"]


def test_old_sources_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNG_EMU_CACHE", str(tmp_path))
    monkeypatch.setattr(rung._kernel, "_KEPT_SOURCES", 2)
    paths = [rung._kernel._stored(f"// {i}", "k", ".cu") for i in range(3)]
    for path in paths[:2]:
        os.utime(os.path.dirname(path), (1, 1))
    rung._kernel._stored("// 1", "k", ".cu")  # used again
    rung._kernel._stored("// 3", "k", ".cu")
    assert [os.path.exists(path) for path in paths] == [False, True, True]
