"""Rung for JAX: matrix products as XLA FFI calls, under jit, grad and vmap.

>>> import jax.numpy as jnp, rung.jax
>>> rung.jax.matmul(jnp.ones((2, 3), "float32"), jnp.ones((3, 2), "float32"))
Array([[3., 3.],
       [3., 3.]], dtype=float32)
"""

import ctypes

import jax
import jax.numpy as jnp

from . import _core

__all__ = ["matmul"]

_handlers = ctypes.CDLL(_core.__file__)
for _platform, _handler in (("cpu", "rung_jax_matmul_cpu"), ("CUDA", "rung_jax_matmul_cuda")):
    jax.ffi.register_ffi_target("rung_matmul", jax.ffi.pycapsule(getattr(_handlers, _handler)), platform=_platform)

# What the library sums in.
_SUMS = {"float64": "float64", "int32": "int32", "int8": "int32"}


def _call(a, b):
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(each, batch + each.shape[-2:]) for each in (a, b))
    result = jax.ShapeDtypeStruct(batch + (a.shape[-2], b.shape[-1]), jnp.dtype(_SUMS.get(a.dtype.name, "float32")))
    return jax.ffi.ffi_call("rung_matmul", result, vmap_method="broadcast_all")(a, b)


@jax.custom_vjp
def _product(a, b):
    return _call(a, b)


def _forward(a, b):
    return _call(a, b), (a, b)


def _backward(operands, gradient):
    a, b = operands
    gradient = gradient.astype(a.dtype)

    def like(product, operand):  # the sum over what was broadcast
        extra = product.ndim - operand.ndim
        product = product.sum(tuple(range(extra)))
        ones = tuple(i for i, extent in enumerate(operand.shape[:-2]) if extent == 1 and product.shape[i] != 1)
        return product.sum(ones, keepdims=True).astype(operand.dtype)

    return (like(_call(gradient, jnp.swapaxes(b, -1, -2)), a), like(_call(jnp.swapaxes(a, -1, -2), gradient), b))


_product.defvjp(_forward, _backward)


def matmul(a, b, *, preferred_element_type=None):
    """a @ b for arrays of shapes (..., m, k) and (..., k, n), whose batches are broadcast.

    Parameters
    ----------
    a, b : jax.Array of the same dtype, float32, float64, int32, bfloat16 or float16; on GPUs of sm_90
        also int8, float8_e4m3fn and float8_e5m2
    preferred_element_type : optional
        The dtype of the result. Sums are float32 (float64 for float64, int32 for integers), and are
        rounded to the dtype of a by default; those of int8 and 8-bit floats are not rounded.

    Raises
    ------
    TypeError, ValueError
        If dtypes or shapes do not match, with both.
    """
    a, b = jnp.asarray(a), jnp.asarray(b)
    if a.dtype != b.dtype:
        raise TypeError(f"rung: matmul: a is {a.dtype}, b is {b.dtype}; they must have the same dtype")
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"rung: matmul: a is {a.shape}, b is {b.shape}; the columns of a must be as many as "
                         "the rows of b")
    result = _product(a, b)
    if preferred_element_type is None:
        preferred_element_type = result.dtype if a.dtype.itemsize == 1 else a.dtype
    return result.astype(preferred_element_type)
