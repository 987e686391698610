"""Arrays that support only DLPack, in its old and new versions."""

import ctypes

import numpy
import pytest
from conftest import LAYOUTS, check_product, matrix

import rung


class Versioned:
    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, max_version=None, stream=None):
        self.asked.append((max_version, stream))
        return self.array.__dlpack__(max_version=max_version)

    def __array_namespace__(self):
        return Namespace

    device = "cpu"


class Legacy(Versioned):
    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__()


class Namespace:
    float32 = "float32"

    @staticmethod
    def empty(shape, dtype, device):
        assert device == "cpu"
        return Versioned(numpy.empty(shape, dtype))


class Broken(Versioned):
    def __dlpack__(self, *, max_version=None, stream=None):
        raise BufferError("gone")


@pytest.mark.parametrize("kind", [Versioned, Legacy])
def test_both_forms(kind, layout):
    a, b = layout(matrix((5, 7), "float32", 1)), matrix((7, 4), "float32", 2)
    out = numpy.zeros((5, 4), "float32")
    rung.matmul(kind(a), kind(b), out=kind(out))
    check_product(out, a, b)


def test_a_new_array_is_of_the_library_of_a():
    a = matrix((5, 7), "float32", 1)
    result = rung.matmul(Versioned(a), Versioned(a.T))
    assert isinstance(result, Versioned)
    check_product(result.array, a, a.T)


def test_the_version_is_asked_for_and_no_stream_on_the_cpu():
    a = Versioned(matrix((2, 2), "float32", 1))
    rung.matmul(a, a, out=numpy.zeros((2, 2), "float32"))
    assert set(a.asked) == {((1, 3), None)}


def test_read_only_out():
    a = matrix((2, 2), "float32", 1)
    out = numpy.zeros((2, 2), "float32")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        rung.matmul(a, a, out=Versioned(out))


def test_an_out_that_is_exported_as_a_copy():
    class Copied(Versioned):
        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(copy=True, **arguments)

    a = matrix((2, 2), "float32", 1)
    check_product(rung.matmul(a, Copied(a)), a, a)
    with pytest.raises(ValueError, match="out is read-only"):
        rung.matmul(a, a, out=Copied(a))


def test_errors_of_the_producer_arrive():
    a = matrix((2, 2), "float32", 1)
    with pytest.raises(BufferError, match="gone"):
        rung.matmul(a, Broken(a))


def test_memory_is_given_back():
    import sys

    a = LAYOUTS["rows"](matrix((2, 2), "float32", 1))
    before = sys.getrefcount(a)
    for kind in (Versioned, Legacy):
        rung.matmul(kind(a), kind(a), out=numpy.zeros((2, 2), "float32"))
        with pytest.raises(TypeError):
            rung.matmul(kind(a), kind(a.astype("int64")), out=a)
    assert sys.getrefcount(a) == before


def test_a_device_and_a_stream_that_are_none():
    class Nowhere(Versioned):
        def __dlpack_device__(self):
            return ("cpu", 0)

    a = matrix((2, 2), "float32", 1)
    with pytest.raises(TypeError, match=r"__dlpack_device__ of Nowhere is \('cpu', 0\); it must be two integers"):
        rung.matmul(a, Nowhere(a))
    with pytest.raises(ValueError, match="stream is 1180591620717411303424; a handle must be an address of 64 bits"):
        rung.matmul(a, a, stream=2**70)


def test_types_of_dlpack_without_one_here():
    a = Versioned(numpy.zeros((2, 2), "uint8"))
    with pytest.raises(TypeError, match="a is of dtype uint8"):
        rung.matmul(a, a)


def test_refusals_name_types_and_devices():
    a = matrix((2, 2), "float32", 1)
    with pytest.raises(TypeError, match="float4_e2m1fn"):
        rung.matmul(OfAnotherType(a, 17, 4), a)
    with pytest.raises(ValueError, match="a is on a device of Hexagon"):
        rung.matmul(OnAnotherDevice(a), a)


class OfAnotherType(Versioned):
    """An array that says that its elements have a code and a number of bits of DLPack."""

    def __init__(self, array, code, bits):
        super().__init__(array)
        self.of_elements = code, bits

    def __dlpack__(self, *, max_version=None, stream=None):
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        # DLTensor: data, device (two int32), ndim (int32), dtype (uint8 code, uint8 bits, uint16 lanes)
        (ctypes.c_uint8 * 2).from_address(pointer(capsule, b"dltensor") + 20)[:] = self.of_elements
        return capsule


class OnAnotherDevice(OfAnotherType):
    def __init__(self, array):
        super().__init__(array, 2, 32)

    def __dlpack__(self, *, max_version=None, stream=None):
        capsule = super().__dlpack__()
        ctypes.c_int32.from_address(ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"dltensor") + 8).value = 16
        return capsule
