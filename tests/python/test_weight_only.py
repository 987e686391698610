"""rung.pack_weights and rung.weight_only_matmul compared with NumPy. test_gpu.py tests them on a GPU."""

import copy
import pickle

import ml_dtypes
import numpy
import pytest

import rung


def quantized(n, k, group, bits, has_zeros):
    """The stored elements, scales, zero points, and the weights that they represent."""
    random = numpy.random.default_rng(n + k)
    low, high = (-128, 128) if bits == 8 else (0, 16) if has_zeros else (-8, 8)
    elements = random.integers(low, high, (n, k))
    scales = 2.0 ** random.integers(-3, 2, (n, k // group))
    zeros = random.integers(0, 16, scales.shape) if has_zeros else numpy.zeros(scales.shape, "int64")
    weights = scales.repeat(group, 1) * (elements - zeros.repeat(group, 1))
    if bits == 4:
        elements = elements[:, ::2] & 15 | (elements[:, 1::2] & 15) << 4
    return elements.astype("uint8").view("int8"), scales, zeros.astype("int8") if has_zeros else None, weights


@pytest.mark.parametrize("bits, group, has_zeros", [(4, 128, False), (4, 64, True), (8, 64, False)])
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_product(bits, group, has_zeros, dtype):
    elements, scales, zeros, weights = quantized(37, 256, group, bits, has_zeros)
    packed = rung.pack_weights(elements, scales.astype(dtype), zeros, bits=bits)
    assert packed.shape == (37, 256) and packed.bits == bits and packed.group == group
    a = numpy.random.default_rng(1).integers(-2, 3, (5, 256)).astype(dtype)
    expected = a.astype("float64") @ weights.T  # exact: small integers times powers of two
    out = numpy.ones((5, 37), "float32")
    assert rung.weight_only_matmul(a, packed, out=out, alpha=2, beta=3) is out
    numpy.testing.assert_array_equal(out, 2 * expected + 3)
    result = rung.weight_only_matmul(a, packed)
    assert result.dtype == a.dtype
    numpy.testing.assert_array_equal(result, expected.astype("float32").astype(dtype))


def test_they_are_copied_and_pickled():
    elements, scales, zeros, _ = quantized(20, 256, 64, 4, True)
    a = numpy.random.default_rng(1).integers(-2, 3, (3, 256)).astype("float16")
    packed = rung.pack_weights(elements, scales.astype("float32"), zeros)
    result = rung.weight_only_matmul(a, packed)
    for each in (copy.copy(packed), copy.deepcopy(packed), *(pickle.loads(pickle.dumps(packed, p)) for p in (2, 3, 4, 5))):
        assert (each.shape, each.bits, each.group) == (packed.shape, packed.bits, packed.group)
        numpy.testing.assert_array_equal(rung.weight_only_matmul(a, each), result)
    assert copy.deepcopy(packed).memory is not packed.memory
    memory, *description = packed.__getstate__()
    for state in ((memory[:-1], *description), (memory, 2**40, *description[1:]), (memory, -1, *description[1:]),
                  (memory, *description[:-1]), (memory, "n", *description[1:]), (memory.view("int16"), *description)):
        with pytest.raises((ValueError, TypeError), match="rung"):
            rung.PackedWeights.__new__(rung.PackedWeights).__setstate__(state)


def test_errors():
    elements, scales, _, _ = quantized(8, 128, 128, 8, False)
    scales = scales.astype("float32")
    packed = rung.pack_weights(elements, scales, bits=8)
    for call, error, message in (
        (lambda: rung.pack_weights(elements, scales, bits=3), ValueError, "rung: pack_weights: bits is 3"),
        (lambda: rung.pack_weights(elements.view("int16"), scales, bits=8), TypeError, "elements"),
        (lambda: rung.pack_weights(elements[:, ::2], scales, bits=8), ValueError, "elements has gaps"),
        (lambda: rung.pack_weights(elements, scales[0], bits=8), ValueError, "scales is \\(1,\\)"),
        (lambda: rung.pack_weights(elements, scales, elements, bits=4), ValueError, "zeros are \\(8, 128\\)"),
        (lambda: rung.pack_weights(elements, numpy.repeat(scales, 4, 1), bits=8), ValueError, "group is 32"),
        (lambda: rung.weight_only_matmul(elements, packed), ValueError, "A is of another type"),
        (lambda: rung.weight_only_matmul(numpy.ones((2, 64), "float16"), packed), ValueError, "A is 2 x 64"),
    ):
        with pytest.raises(error, match=message):
            call()
