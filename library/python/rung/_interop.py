"""Calls to array libraries (NumPy, PyTorch, CuPy, JAX) that the extension module makes through Python."""

import contextlib
import operator
import sys

CUDA, CUDA_MANAGED = 2, 13  # device types of DLPack


def _library(array):
    """The top-level module that defines an array's type: numpy, torch, cupy, jax."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def empty(like, shape, dtype):
    """An uninitialized array from the library of `like`, on its device."""
    library = _library(like)
    if library.__name__ in ("jax", "jaxlib"):
        raise TypeError("rung: matmul: a is of JAX, whose arrays cannot be written; use rung.jax.matmul")
    namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else library
    keywords = {"device": like.device} if hasattr(like, "__array_namespace__") else {}
    return namespace.empty(shape, dtype=getattr(namespace, dtype), **keywords)


def stream_handle(array, stream):
    """The cudaStream_t of a stream, as an int; for None, the current stream of the array's library."""
    if stream is None:
        if not hasattr(array, "__dlpack_device__") or array.__dlpack_device__()[0] == 1:
            return 0
        library = _library(array)
        if library.__name__ == "torch":
            stream = library.cuda.current_stream(array.device)
        elif library.__name__ == "cupy":
            stream = library.cuda.get_current_stream()
        else:
            return 0
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr"):  # of PyTorch, of CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(
        f"rung: stream is a {type(stream).__name__}; it must be a handle as an int, or a stream of "
        "PyTorch or CuPy"
    )


def _working_in(array, stream):
    """A context manager that makes `stream`, an argument of matmul, current in the array's library."""
    library = _library(array)
    if stream is None or library.__name__ not in ("torch", "cupy"):
        return contextlib.nullcontext()
    handle = stream_handle(array, stream)
    if library.__name__ == "torch":
        return library.cuda.stream(library.cuda.ExternalStream(handle, device=array.device))
    return library.cuda.ExternalStream(handle)


def contiguous(array, stream):
    """A contiguous copy on the array's GPU."""
    with _working_in(array, stream):
        if hasattr(array, "clone"):
            return array.clone(memory_format=_library(array).contiguous_format)
        return array.copy()


def offsets(given, on_gpu, stream):
    """Offsets as a list of ints. If the operands are on a GPU (`on_gpu`), offsets on a GPU stay there, as an
    array of int32.
    """
    if on_gpu and hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] in (CUDA, CUDA_MANAGED):
        with _working_in(given, stream):
            if hasattr(given, "to"):
                return given.to(_library(given).int32).contiguous()
            return given.astype("int32")
    if hasattr(given, "tolist"):
        given = given.tolist()
    return [operator.index(each) for each in given]


def offsets_beside(array, given, stream):
    """A list of ints as an array of int32 on the GPU of `array`. With PyTorch, the copy is asynchronous."""
    library = _library(array)
    with _working_in(array, stream):
        if library.__name__ == "torch":
            made = library.tensor(given, dtype=library.int32, pin_memory=True)
            return made.to(array.device, non_blocking=True)
        return library.asarray(given, dtype="int32")
