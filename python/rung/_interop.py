"""What the extension asks of other libraries where there is no faster way."""

import sys


def _library(array):
    """The module that an array's type comes from: numpy, cupy, jax."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def empty(like, shape, dtype):
    """A new array of the library, and on the device, of `like`."""
    library = _library(like)
    if library.__name__ in ("jax", "jaxlib"):
        raise TypeError("rung: matmul: a is of JAX, whose arrays cannot be written; use rung.jax.matmul")
    namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else library
    keywords = {"device": like.device} if hasattr(like, "__array_namespace__") else {}
    return namespace.empty(shape, dtype=getattr(namespace, dtype), **keywords)


def stream_handle(array, stream):
    """The cudaStream_t of a stream, as an int; of None, that of the array's library."""
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
    for name in ("cuda_stream", "ptr"):  # PyTorch's, CuPy's
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(
        f"rung: stream is a {type(stream).__name__}; it must be a handle as an int, or a stream of "
        "PyTorch or CuPy"
    )
