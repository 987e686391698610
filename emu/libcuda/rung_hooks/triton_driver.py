"""Triton's driver for NVIDIA's GPUs on the virtual GPU, with PyTorch's tensors of the CPU."""

import sys
import time

from . import driver


class _Interface:
    Event = driver.Event
    synchronize = staticmethod(lambda device=None: driver.synchronize())
    current_device = staticmethod(lambda: 0)


def _time_once(function, *, quantiles=None, **_):
    """One run of each configuration of an autotuner, in milliseconds."""
    begin = time.perf_counter()
    function()
    milliseconds = 1000 * (time.perf_counter() - begin)
    return [milliseconds] * len(quantiles) if quantiles else milliseconds


def prepare(module):
    def is_active():
        driver.use_device()
        return True

    def __init__(self):
        driver.use_device()
        self.utils = module.CudaUtils()
        self.launcher_cls = _Launcher
        self.get_device_capability = driver.capability
        self.get_current_stream = lambda device=0: 0
        self.get_current_device = lambda: 0
        self.set_current_device = driver.use_device

    def get_active_torch_device(self):
        import torch
        return torch.device("cpu")

    def get_empty_cache_for_benchmark(self):
        import torch
        return torch.empty(1, dtype=torch.int)

    class _Launcher(module.CudaLauncher):
        def __call__(self, *arguments, **named):
            super().__call__(*arguments, **named)
            if "torch" in sys.modules:  # a tensor of a GPU is copied, in order, before the host reads it
                driver.synchronize()

    of_module = module.CudaDriver
    of_module.is_active = staticmethod(is_active)
    of_module.__init__ = __init__
    of_module.get_active_torch_device = get_active_torch_device
    of_module.get_device_interface = lambda self: _Interface
    of_module.get_benchmarker = lambda self: _time_once
    of_module.get_empty_cache_for_benchmark = get_empty_cache_for_benchmark
