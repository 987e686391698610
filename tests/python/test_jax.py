"""rung.jax compared with JAX's own results."""

import doctest

import jax
import jax.numpy as jnp
import numpy
import pytest

import rung
import rung.jax

jax.config.update("jax_enable_x64", True)
TOLERANCE = {"float32": 1e-5, "float64": 1e-12, "int32": 0, "bfloat16": 3e-2, "float16": 3e-3}


def random(shape, dtype, seed):
    return jnp.asarray(numpy.random.default_rng(seed).integers(-40, 40, shape) / (1 if dtype == "int32" else 16), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("a, b", [((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((6, 1, 3, 4), (2, 4, 5)), ((0, 4), (4, 5))])
def test_every_dtype_and_batch(dtype, a, b):
    a, b = random(a, dtype, 1), random(b, dtype, 2)
    result = jax.jit(rung.jax.matmul)(a, b)
    right = jnp.matmul(a, b, precision="highest")
    assert (result.shape, result.dtype) == (right.shape, right.dtype)
    numpy.testing.assert_allclose(numpy.asarray(result, "float64"), numpy.asarray(right, "float64"), TOLERANCE[dtype], TOLERANCE[dtype])


def test_sums_are_not_rounded_if_asked():
    a = random((3, 40), "bfloat16", 1)
    result = rung.jax.matmul(a, a.T, preferred_element_type="float32")
    assert result.dtype == "float32"
    numpy.testing.assert_allclose(result, numpy.asarray(a, "float64") @ numpy.asarray(a, "float64").T, 1e-6)


@pytest.mark.parametrize("a, b", [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((1, 3, 4), (2, 4, 5))])
def test_gradients(a, b):
    a, b = random(a, "float64", 1), random(b, "float64", 2)
    ours = jax.grad(lambda a, b: (rung.jax.matmul(a, b) ** 2).sum(), (0, 1))(a, b)
    right = jax.grad(lambda a, b: (jnp.matmul(a, b) ** 2).sum(), (0, 1))(a, b)
    for mine, theirs in zip(ours, right):
        numpy.testing.assert_allclose(mine, theirs, 1e-12)


def derivatives(matmul, a, b):
    def f(a):
        return (matmul(a, b) ** 3 + matmul(a, a.T)).sum()

    return (jax.grad(lambda a: (jax.grad(f)(a) ** 2).sum())(a), jax.jacrev(jax.grad(f))(a), jax.hessian(f)(a),
            jax.jvp(f, (a,), (a + 1,))[1], jax.vmap(jax.grad(f))(jnp.stack([a, 2 * a])))


@pytest.mark.parametrize("of_a, of_b", [((1, 3), (2, 3, 1)), ((2, 0), (0, 2))])
def test_derivatives_of_every_order(of_a, of_b):
    a, b = random(of_a, "float64", 1), random(of_b, "float64", 2)
    ours, right = (jax.jit(derivatives, static_argnums=0)(matmul, a, b) for matmul in (rung.jax.matmul, jnp.matmul))
    for mine, theirs in zip(ours, right):
        numpy.testing.assert_allclose(mine, theirs, 1e-11, 1e-11)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_derivatives_have_the_dtype(dtype):
    a, b = random((3, 4), dtype, 1), random((4, 5), dtype, 2)
    for f in (lambda a, b: rung.jax.matmul(a, b).sum(), lambda a, b: rung.jax.matmul(a, b, preferred_element_type="float32").sum()):
        assert [each.dtype for each in jax.grad(f, (0, 1))(a, b)] == [dtype, dtype]


def test_vmap():
    a, b = random((6, 3, 4), "float32", 1), random((4, 5), "float32", 2)
    result = jax.vmap(rung.jax.matmul, (0, None))(a, b)
    numpy.testing.assert_allclose(result, jnp.matmul(a, b), 1e-5)


def test_the_call_is_in_the_compiled_program():
    a = random((4, 4), "float32", 1)
    assert "rung_matmul" in jax.jit(rung.jax.matmul).lower(a, a).as_text()


def test_errors_name_both():
    a = random((2, 3), "float32", 1)
    with pytest.raises(TypeError, match="a is float32, b is float64"):
        rung.jax.matmul(a, a.T.astype("float64"))
    with pytest.raises(ValueError, match=r"a is \(2, 3\), b is \(2, 3\)"):
        rung.jax.matmul(a, a)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the result is on the host")
def test_plain_matmul_reads_arrays_of_jax():
    a = random((3, 4), "float32", 1)
    out = numpy.zeros((3, 3), "float32")
    numpy.testing.assert_allclose(rung.matmul(a, a.T, out=out), a @ a.T, 1e-5)
    assert type(rung.matmul(a, numpy.asarray(a.T))) is type(rung.matmul(a, a.T)) is numpy.ndarray
    with pytest.raises(ValueError, match="out is read-only"):
        rung.matmul(numpy.asarray(a), numpy.asarray(a.T), out=jnp.zeros((3, 3), "float32"))


def test_documentation():
    assert doctest.testmod(rung.jax).failed == 0
