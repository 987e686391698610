"""Tensor-parallel matrix products on the GPUs of a torch.distributed process group, with librung_nccl.

>>> from rung.torch.tensor_parallel import TensorParallel
>>> parallel = TensorParallel()                         # the default group, with the nccl backend
>>> h = parallel.all_gather_matmul(x, w1)               # x: this rank's rows; w1: its columns
>>> y = parallel.matmul_reduce_scatter(h, w2)           # w2: its rows; y: its rows

docs/distributed.md describes the schedules. The library is loaded from the path in the environment variable
RUNG_NCCL_LIBRARY if set, from this package if it contains one, or otherwise from the system.
"""

import ctypes
import os
import pathlib

import torch
import torch.distributed

__all__ = ["TensorParallel"]

_DTYPES = {torch.float32: 0, torch.float64: 1, torch.bfloat16: 3, torch.float16: 4}
_TRANSPORTS = {"automatic": 0, "nccl": 1, "copy_engine": 2}
_SCHEDULES = {"automatic": 0, "sequential": 1, "overlapped": 2, "exchanged": 3, "fused": 4}
_ALL_GATHER_GEMM, _GEMM_REDUCE_SCATTER, _GEMM_ALL_REDUCE = range(3)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("timeout", ctypes.c_double),
        ("transport", ctypes.c_int32),
        ("deterministic", ctypes.c_int32),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("schedule", ctypes.c_int32),
        ("chunks", ctypes.c_int32),
    ]


def _library_name():
    named = os.environ.get("RUNG_NCCL_LIBRARY")
    if named:
        return named
    of_package = pathlib.Path(__file__).parent.parent / "lib/librung_nccl.so.0.1"
    return str(of_package) if of_package.exists() else of_package.name


def _load():
    library = ctypes.CDLL(_library_name())
    library.rung_tensor_parallel_last_error.restype = ctypes.c_char_p
    library.rung_tensor_parallel_destroy.argtypes = [ctypes.c_void_p]
    library.rung_tensor_parallel_destroy.restype = None
    library.rung_tensor_parallel_transport.argtypes = [ctypes.c_void_p]
    library.rung_tensor_parallel_synchronize.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    tensor = ctypes.POINTER(_Tensor)
    library.rung_tensor_parallel_gemm.argtypes = [
        ctypes.c_void_p, ctypes.c_int, tensor, tensor, tensor, ctypes.c_double, ctypes.c_double,
        ctypes.POINTER(_Call),
    ]
    return library


def _tensor(value):
    if value.dim() != 2 or not value.is_cuda or value.dtype not in _DTYPES:
        raise ValueError("expected a CUDA matrix of float32, float64, bfloat16 or float16, not one of "
                         f"{value.dtype}, shape {tuple(value.shape)}, on {value.device}")
    pair = ctypes.c_int64 * 2
    return _Tensor(value.data_ptr(), 2, value.device.index, 2, _DTYPES[value.dtype],
                   pair(*value.shape), pair(*value.stride()))


class TensorParallel:
    """Tensor-parallel products over the ranks of a process group with the nccl backend.

    The constructor and the products are collective: all ranks make the same calls in the same order. Products
    are enqueued in the rank's current stream.

    Parameters
    ----------
    group : torch.distributed.ProcessGroup, optional
        The default group if None.
    transport : {'automatic', 'nccl', 'copy_engine'}
    timeout : float
        Seconds.
    deterministic : bool
        If True, the same calls give bitwise identical results in every run.
    """

    def __init__(self, group=None, *, transport="automatic", timeout=600.0, deterministic=False):
        group = group or torch.distributed.group.WORLD
        self._ranks = group.size()
        self._library = _load()
        device = torch.device("cuda", torch.cuda.current_device())
        torch.distributed.barrier(group=group, device_ids=[device.index])  # creates the communicator
        comm = group._get_backend(device)._comm_ptr()
        options = _Options(ctypes.sizeof(_Options), timeout, _TRANSPORTS[transport],
                           int(deterministic))
        self._handle = ctypes.c_void_p()
        self._check(self._library.rung_tensor_parallel_create(
            ctypes.c_void_p(comm), ctypes.byref(options), ctypes.byref(self._handle)))

    @property
    def transport(self):
        """The transport in use: "nccl" or "copy_engine"."""
        number = self._library.rung_tensor_parallel_transport(self._handle)
        return next(name for name, value in _TRANSPORTS.items() if value == number)

    def all_gather_matmul(self, a, b, *, out=None, schedule="automatic", chunks=0):
        """The product of a gathered from all ranks and b. With shapes (m, k) and (k, n), returns (ranks * m, n)."""
        return self._run(_ALL_GATHER_GEMM, a, b, a.shape[0] * self._ranks, out, schedule, chunks)

    def matmul_reduce_scatter(self, a, b, *, out=None, schedule="automatic", chunks=0):
        """This rank's block of rows of the sum of a @ b over all ranks. With shapes (m, k) and (k, n), returns
        (m / ranks, n)."""
        return self._run(_GEMM_REDUCE_SCATTER, a, b, a.shape[0] // self._ranks, out, schedule, chunks)

    def matmul_all_reduce(self, a, b, *, out=None, schedule="automatic", chunks=0):
        """The sum of a @ b over all ranks. With shapes (m, k) and (k, n), returns (m, n)."""
        return self._run(_GEMM_ALL_REDUCE, a, b, a.shape[0], out, schedule, chunks)

    def synchronize(self):
        """Waits for the current stream. Raises RuntimeError if a rank fails in the meantime."""
        stream = torch.cuda.current_stream().cuda_stream
        self._check(self._library.rung_tensor_parallel_synchronize(self._handle, stream))

    def close(self):
        """Waits for this object's work and releases its resources. Collective."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.rung_tensor_parallel_destroy(handle)

    def _run(self, collective, a, b, rows, out, schedule, chunks):
        if out is None:
            out = torch.empty(rows, b.shape[1], dtype=a.dtype, device=a.device)
        call = _Call(ctypes.sizeof(_Call), torch.cuda.current_stream().cuda_stream,
                     _SCHEDULES[schedule], chunks)
        self._check(self._library.rung_tensor_parallel_gemm(
            self._handle, collective, _tensor(a), _tensor(b), _tensor(out), 1.0, 0.0,
            ctypes.byref(call)))
        return out

    def _check(self, status):
        if status != 0:
            raise RuntimeError(self._library.rung_tensor_parallel_last_error().decode())
