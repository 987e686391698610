"""cupy.cuda: one device and the stream of all launches. A launch ends before its call returns."""

import contextlib
import time


class Device(contextlib.nullcontext):
    """The one device."""

    compute_capability = "90"

    def __init__(self, device=0):
        super().__init__(self)
        self.id = int(device)

    def use(self):
        pass

    def synchronize(self):
        pass

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return hash(self.id)


class Stream(contextlib.nullcontext):
    """A stream: all work is in the order of its calls."""

    ptr = 0
    done = True

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        super().__init__(self)

    def use(self):
        return self

    def record(self, event=None):
        event = Event() if event is None else event
        event.record(self)
        return event

    def synchronize(self):
        pass

    def wait_event(self, event):
        pass


Stream.null = Stream(null=True)


class Event:
    """An event by the host's clock."""

    done = True

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.seconds = 0.0

    def record(self, stream=None):
        self.seconds = time.perf_counter()

    def synchronize(self):
        pass


class MemoryPool:
    """The host's allocator."""

    def __init__(self, allocator=None):
        pass

    def malloc(self, size):
        raise NotImplementedError("rung.cupy: memory comes from NumPy; make an array in place of malloc")

    def used_bytes(self):
        return 0

    total_bytes = free_bytes = n_free_blocks = used_bytes

    def free_all_blocks(self, stream=None):
        pass


PinnedMemoryPool = MemoryPool


class runtime:
    """cupy.cuda.runtime."""

    getDevice = staticmethod(lambda: 0)
    getDeviceCount = staticmethod(lambda: 1)
    setDevice = staticmethod(lambda device: None)
    deviceSynchronize = staticmethod(lambda: None)


class nvtx:
    """cupy.cuda.nvtx."""

    RangePush = Mark = staticmethod(lambda message="", color=-1: None)
    RangePop = staticmethod(lambda: None)


def get_elapsed_time(start, end):
    """Milliseconds between two events."""
    return 1000 * (end.seconds - start.seconds)


def get_current_stream(device_id=-1):
    return Stream.null


def is_available():
    return True


def set_allocator(allocator=None):
    pass


set_pinned_memory_allocator = set_allocator
