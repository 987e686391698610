from ._kernel import Kernel

class GpuRun:
    kernel: Kernel
    device: str
    seconds: float
