"""Types with DLPack's table of C functions (__dlpack_c_exchange_api__), and arrays that claim to be on a GPU.

The functions are implemented in Python with ctypes, on NumPy's memory.
"""

import ctypes
import weakref

import numpy
import pytest
from conftest import LAYOUTS, check_product, matrix

import rung


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.POINTER(Versioned)), ctypes.c_void_p, ctypes.c_void_p)
MANAGED = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Versioned)))
OBJECT_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Versioned), ctypes.POINTER(ctypes.py_object))
TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Api(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
                ("allocate", ALLOCATE), ("managed_tensor_of", MANAGED), ("object_of", OBJECT_OF),
                ("tensor_of", TENSOR_OF), ("current_stream", STREAM)]


def capsule(api):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(api), b"dlpack_exchange_api", None)


class Exchanged:
    """A NumPy array that exposes only the table."""

    device = (1, 0)

    def __init__(self, array):
        self.array = array


def describe(exchanged, out):
    array = exchanged.array
    exchanged.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    exchanged.strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    out[0] = Tensor(array.ctypes.data - 8, Device(*exchanged.device), array.ndim, DataType(2, 8 * array.itemsize, 1),
                    exchanged.shape, exchanged.strides, 8)
    return 0


ALLOCATED, STREAMS_ASKED = [], []


@ALLOCATE
def allocate(prototype, out, context, set_error):
    wanted = prototype[0]
    array = numpy.empty([wanted.shape[i] for i in range(wanted.ndim)], f"f{wanted.dtype.bits // 8}")
    managed = Versioned(1, 3, None, None, 0)
    ALLOCATED.append((array, managed))
    out[0] = ctypes.pointer(managed)
    return 0


@OBJECT_OF
def object_of(tensor, out):
    array = next(array for array, managed in ALLOCATED if ctypes.addressof(managed) == ctypes.addressof(tensor[0]))
    made = Exchanged(array)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    out[0] = made
    return 0


@MANAGED
def managed_tensor_of(exchanged, out):
    exchanged.managed = Versioned(1, 3, None, None, 0)
    describe(exchanged, ctypes.pointer(exchanged.managed.tensor))
    out[0] = ctypes.pointer(exchanged.managed)
    return 0


@STREAM
def current_stream(kind, index, out):
    STREAMS_ASKED.append((kind, index))
    out[0] = 0x50
    return 0


tensor_of = TENSOR_OF(describe)
FULL = Api(1, 3, None, allocate, managed_tensor_of, object_of, tensor_of, current_stream)
NEWER = Api(2, 0, ctypes.addressof(FULL), allocate, managed_tensor_of, object_of, tensor_of, current_stream)
WITHOUT = Api(1, 3, None, allocate, managed_tensor_of, object_of, TENSOR_OF(), current_stream)


class OfNewerLibrary(Exchanged):
    __dlpack_c_exchange_api__ = capsule(NEWER)


class WithoutTensor(Exchanged):
    __dlpack_c_exchange_api__ = capsule(WITHOUT)


class OnGpu(Exchanged):
    __dlpack_c_exchange_api__ = capsule(FULL)
    device = (2, 0)


Exchanged.__dlpack_c_exchange_api__ = capsule(FULL)


@pytest.mark.parametrize("kind", [Exchanged, OfNewerLibrary, WithoutTensor])
@pytest.mark.parametrize("layout", ["rows", "transposed view", "every second of both"])
def test_memory_is_read_and_results_are_made_by_the_table(kind, layout):
    a, b = LAYOUTS[layout](matrix((5, 7), "float64", 1)), matrix((7, 4), "float64", 2)
    result = rung.matmul(kind(a), kind(b))
    assert type(result) is Exchanged
    check_product(result.array, a, b)
    out = numpy.zeros((5, 4))
    rung.matmul(kind(a), b, out=kind(out))  # mixed array types
    check_product(out, a, b)


def test_results_are_not_leaked():
    a = Exchanged(matrix((2, 2), "float32", 1))
    result = weakref.ref(rung.matmul(a, a))
    assert result() is None


def test_the_current_stream_is_asked_for_on_a_gpu():
    empty = OnGpu(numpy.empty((0, 3), "float32"))  # nothing to compute, so no GPU is needed
    out = OnGpu(numpy.empty((0, 2), "float32"))
    STREAMS_ASKED.clear()
    rung.matmul(empty, OnGpu(numpy.empty((3, 2), "float32")), out=out)
    assert STREAMS_ASKED == [(2, 0)]
    STREAMS_ASKED.clear()
    rung.matmul(empty, OnGpu(numpy.empty((3, 2), "float32")), out=out, stream=5)
    assert not STREAMS_ASKED


class Capsules:
    """An array on a GPU that supports DLPack by capsules."""

    def __init__(self):
        self.asked = []

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream, max_version):
        self.asked.append(stream)
        return numpy.empty((0, 0), "float32").__dlpack__(max_version=max_version)


class TorchStream:
    cuda_stream = 77


class CupyStream:
    ptr = 78


class StandardStream:
    def __cuda_stream__(self):
        return (0, 79)


@pytest.mark.parametrize("stream, handle", [
    (None, 1), (0, 1), (76, 76), (TorchStream(), 77), (CupyStream(), 78), (StandardStream(), 79),
])
def test_producers_are_told_the_stream(stream, handle):
    array = Capsules()
    rung.matmul(array, array, out=array, stream=stream)
    assert set(array.asked) == {handle}


def test_what_is_no_stream():
    with pytest.raises(TypeError, match="stream is a str; it must be a handle as an int"):
        rung.matmul(Capsules(), Capsules(), stream="default")


def test_devices_that_differ():
    on_cpu, on_gpu = numpy.empty((0, 0), "float32"), OnGpu(numpy.empty((0, 0), "float32"))
    with pytest.raises(ValueError, match="a is on the CPU, b is on GPU 0; they must be on the same device"):
        rung.matmul(on_cpu, on_gpu)
    with pytest.raises(ValueError, match="out is on the CPU, a is on GPU 0"):
        rung.matmul(on_gpu, on_gpu, out=on_cpu)
    with pytest.raises(ValueError, match="x is on the CPU, y is on GPU 0"):
        rung.dot(numpy.empty(0, "float32"), OnGpu(numpy.empty(0, "float32")))


def test_other_devices():
    class OnMetal(Exchanged):
        __dlpack_c_exchange_api__ = capsule(FULL)
        device = (8, 0)

    with pytest.raises(ValueError, match="a is on a device of Metal; the CPU and CUDA are supported"):
        rung.matmul(OnMetal(numpy.empty((2, 2), "float32")), numpy.empty((2, 2), "float32"))


def test_a_gpu_needs_a_driver():
    if len(rung.devices()) > 1:
        pytest.skip("there is a GPU here")
    array = OnGpu(numpy.zeros((2, 2), "float32"))
    with pytest.raises(rung.UnavailableError, match="^rung: no |^rung: this build has no"):
        rung.matmul(array, array, out=array)
