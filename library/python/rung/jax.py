"""Rung for JAX: matrix products as XLA FFI calls. They support jit, vmap and derivatives of any order.

>>> import jax.numpy as jnp, rung.jax
>>> rung.jax.matmul(jnp.ones((2, 3), "float32"), jnp.ones((3, 2), "float32"))
Array([[3., 3.],
       [3., 3.]], dtype=float32)
"""

import ctypes

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _core

__all__ = ["matmul"]

_handlers = ctypes.CDLL(_core.__file__)
for _platform, _handler in (("cpu", "rung_jax_matmul_cpu"), ("CUDA", "rung_jax_matmul_cuda")):
    jax.ffi.register_ffi_target("rung_matmul", jax.ffi.pycapsule(getattr(_handlers, _handler)), platform=_platform)

# The accumulation type by operand type; float32 for all others.
_SUMS = {"float64": "float64", "int32": "int32", "int8": "int32"}


def _call(a, b):
    result = jax.ShapeDtypeStruct(*_product_type(a, b))
    return jax.ffi.ffi_call("rung_matmul", result)(a, b)


def _product_type(a, b):
    return (*a.shape[:-1], b.shape[-1]), jnp.dtype(_SUMS.get(a.dtype.name, "float32"))


# The product of two batches with equal batch dimensions. JAX derives derivatives of any order from bilinearity, which
# has to be declared for an FFI call.
_product = Primitive("rung_matmul")
_product.def_impl(_call)
_product.def_abstract_eval(lambda a, b: jax.core.ShapedArray(*_product_type(a, b)))
mlir.register_lowering(_product, mlir.lower_fun(_call, multiple_results=False))


def _transposed(a):
    return jnp.swapaxes(a, -1, -2)


def _of_a(gradient, a, b):
    return _product.bind(gradient.astype(b.dtype), _transposed(b)).astype(a.aval.dtype)


def _of_b(gradient, a, b):
    return _product.bind(_transposed(a), gradient.astype(a.dtype)).astype(b.aval.dtype)


ad.defbilinear(_product, _of_a, _of_b)


def _batched(operands, dims):
    size = next(each.shape[dim] for each, dim in zip(operands, dims) if dim is not None)
    a, b = (jnp.broadcast_to(each, (size, *each.shape)) if dim is None else jnp.moveaxis(each, dim, 0)
            for each, dim in zip(operands, dims))
    return _product.bind(a, b), 0


batching.primitive_batchers[_product] = _batched


def matmul(a, b, *, preferred_element_type=None):
    """a @ b for arrays of shapes (..., m, k) and (..., k, n). Batch dimensions are broadcast.

    Parameters
    ----------
    a, b : jax.Array
        Arrays of the same dtype: float32, float64, int32, bfloat16, float16, int8, float8_e4m3fn or
        float8_e5m2. The last two need a GPU of compute capability 9.0, or the CPU.
    preferred_element_type : dtype, optional
        The dtype of the result. Products are accumulated in float32 (float64 for float64, int32 for
        integers). The default is the dtype of a, or the accumulation type for int8 and 8-bit floats.

    Returns
    -------
    jax.Array
        An array of shape (..., m, n).

    Raises
    ------
    TypeError
        If the dtypes differ.
    ValueError
        If the shapes do not match.
    """
    a, b = jnp.asarray(a), jnp.asarray(b)
    if a.dtype != b.dtype:
        raise TypeError(f"rung: matmul: a is {a.dtype}, b is {b.dtype}; they must have the same dtype")
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"rung: matmul: a is {a.shape}, b is {b.shape}; the columns of a must be as many as "
                         "the rows of b")
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(each, batch + each.shape[-2:]) for each in (a, b))
    result = _product.bind(a, b)
    if preferred_element_type is None:
        preferred_element_type = result.dtype if a.dtype.itemsize == 1 else a.dtype
    return result.astype(preferred_element_type)
