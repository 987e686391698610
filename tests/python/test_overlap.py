"""Operands and results that are views of the same memory: the result must equal that of separate operands."""

import ctypes

import numpy
import pytest
from conftest import dtype_of
from numpy.lib.stride_tricks import as_strided

import rung
from rung import Epilogue


class Memory:
    """Random floats, and random views of them."""

    def __init__(self, random):
        self.random, self.floats = random, random.integers(-4, 5, 900).astype("float32")

    def view(self, *shape, rows_only=False):
        """A view with non-overlapping elements: row-major or column-major, with gaps between lines and sometimes
        between elements."""
        order = list(range(len(shape)))
        if not rows_only and len(shape) > 1 and self.random.random() < 0.5:
            order[-2:] = order[:-3:-1]
        strides, step = [0] * len(shape), 1 if rows_only else int(self.random.integers(1, 3))
        for i in reversed(order):
            strides[i] = 4 * step
            step = step * shape[i] + int(self.random.integers(0, 3))
        start = int(self.random.integers(0, self.floats.size - step))
        return as_strided(self.floats[start:], shape, strides)


def check(memory, out, call, expected):
    """Checks that the call writes `expected`, computed from the values before the call, to `out` and nothing else."""
    after = memory.floats.copy()
    place = out.__array_interface__["data"][0] - memory.floats.__array_interface__["data"][0]
    as_strided(after[place // 4:], out.shape, out.strides)[...] = expected
    assert call() is out
    assert numpy.array_equal(memory.floats, after)  # exact, as the values are small integers


@pytest.fixture(params=range(60))
def memory(request):
    return Memory(numpy.random.default_rng(request.param))


def extents(memory):
    return (int(each) for each in memory.random.integers(1, 9, 3))


def test_products(memory):
    m, n, k = extents(memory)
    a, b, out = memory.view(m, k), memory.view(k, n), memory.view(m, n)
    check(memory, out, lambda: rung.matmul(a, b, out=out, alpha=2, beta=-1), 2 * (a @ b) - out)


def test_batches(memory):
    m, n, k = extents(memory)
    a, b, out = memory.view(3, m, k), memory.view(*([3] if m % 2 else []), k, n), memory.view(3, m, n)
    check(memory, out, lambda: rung.matmul(a, b, out=out, beta=1), a @ b + out)


def test_groups(memory):
    m, n, k = extents(memory)
    a, b, out = memory.view(m, k), memory.view(2, k, n), memory.view(m, n)
    cut = m // 2
    expected = numpy.concatenate([a[:cut] @ b[0], a[cut:] @ b[1]])
    check(memory, out, lambda: rung.grouped_matmul(a, b, [0, cut, m], out=out), expected)


def test_groups_of_what_is_summed_over(memory):
    m, n, k = extents(memory)
    a, b, out = memory.view(m, k), memory.view(k, n), memory.view(2, m, n)
    cut = k // 2
    expected = numpy.stack([a[:, :cut] @ b[:cut], a[:, cut:] @ b[cut:]])
    check(memory, out, lambda: rung.grouped_matmul(a, b, [0, cut, k], out=out), expected)


def test_parts_of_an_epilogue(memory):
    m, n, k = extents(memory)
    a, b, out = memory.view(m, k, rows_only=True), memory.view(k, n, rows_only=True), memory.view(m, n, rows_only=True)
    parts = {
        "row_scale": memory.view(m, rows_only=True), "column_scale": memory.view(n, rows_only=True),
        "row_bias": memory.view(m, rows_only=True), "column_bias": memory.view(n, rows_only=True),
        "scale_a": memory.view(1), "result_scale": memory.view(1),
        "residual": out if memory.random.random() < 0.3 else memory.view(m, n, rows_only=True),
    }
    parts = {name: part for name, part in parts.items() if memory.random.random() < 0.6}
    one = numpy.float32(1)
    t = (a @ b) * parts.get("scale_a", one) * parts.get("row_scale", numpy.ones(m))[:, None] * parts.get("column_scale", one)
    t = t + 2 * out + parts.get("row_bias", numpy.zeros(m))[:, None] + parts.get("column_bias", 0)
    expected = (t + parts.get("residual", 0)) * parts.get("result_scale", one)
    check(memory, out, lambda: rung.matmul(a, b, out=out, beta=2, epilogue=Epilogue(**parts)), expected)


def test_a_large_product_with_an_epilogue():
    a = numpy.random.default_rng(1).integers(-4, 5, (200, 200)).astype("float32")
    b = numpy.random.default_rng(2).integers(-4, 5, (200, 200)).astype("float32")
    expected = numpy.maximum(a @ b + a[3], 0) + b
    rung.matmul(a, b, out=a, epilogue=Epilogue(column_bias=a[3], activation="relu", residual=b))
    assert numpy.array_equal(a, expected)


def test_aux_and_amax_are_written():
    memory = numpy.arange(64, dtype="float32")
    a, aux, out = memory[:16].reshape(4, 4), memory[8:24].reshape(4, 4), memory[32:48].reshape(4, 4)
    expected = a @ a
    rung.matmul(a, a, out=out, epilogue=Epilogue(aux=aux, column_bias=aux[1]))
    assert numpy.array_equal(aux, out) and not numpy.array_equal(out, expected)  # with the bias
    for parts, message in (
        (Epilogue(aux=out), "aux and out overlap"), (Epilogue(amax=out[3, 3:]), "amax and out overlap"),
        (Epilogue(aux=aux, amax=aux[0, :1]), "amax and aux overlap"),
    ):
        with pytest.raises(ValueError, match=message):
            rung.matmul(a, a, out=out, epilogue=parts)


def test_packed_weights_and_block_scales(memory):
    packed = rung.pack_weights(numpy.ones((16, 128), "int8"), numpy.ones((16, 2), "float32"), bits=8)
    with pytest.raises(ValueError, match="out is in the memory of the weights"):
        rung.weight_only_matmul(numpy.ones((1, 128), "float16"), packed, out=packed.memory[:64].view("float32")[None])
    random = numpy.random.default_rng(3)
    halves = random.integers(-2, 3, 640).astype("float16")
    a, out = halves[:256].reshape(2, 128), halves[100:132].reshape(2, 16)
    expected = a.astype("float32").sum(1, keepdims=True).repeat(16, 1)
    assert numpy.array_equal(rung.weight_only_matmul(a, packed, out=out), expected)

    e4m3 = dtype_of("float8_e4m3fn")
    floats = random.integers(-3, 4, 512).astype("float32")
    a, b = numpy.ones((4, 128), e4m3), numpy.ones((128, 8), e4m3)
    a_scales, b_scales, out = floats[7:11].reshape(4, 1), floats[30:31].reshape(1, 1), floats[:32].reshape(4, 8)
    expected = 128 * a_scales * b_scales.copy() * numpy.ones((4, 8), "float32")
    assert numpy.array_equal(rung.block_scaled_matmul(a, a_scales, b, b_scales, out=out), expected)


def test_dot_into_an_operand():
    x, y = numpy.arange(5, dtype="float32"), numpy.ones(5, "float32")
    assert rung.dot(x, y, out=x[2:3])[0] == 10


@pytest.mark.parametrize("shape, strides, is_apart", [
    ((4, 3), (0, 1), False), ((4, 3), (2, 1), False), ((1, 3), (0, 1), True), ((4, 3), (1, 4), True), ((4, 3), (3, -1), True),
    ((3, 2), (2, 3), True), ((4, 3), (2, 3), False), ((2, 4, 3), (6, 3, 1), False), ((2, 4, 3), (12, 3, 1), True), ((0, 3), (0, 0), True),
])
def test_an_out_that_overlaps_itself_is_refused(shape, strides, is_apart):
    out = as_strided(numpy.zeros(100, "float32")[50:], shape, [4 * stride for stride in strides])
    ones = numpy.ones((*shape[:-1], 2), "float32"), numpy.ones((2, shape[-1]), "float32")
    if is_apart:
        assert (rung.matmul(*ones, out=out) == 2).all()
        return
    calls = [lambda: rung.matmul(*ones, out=out)]
    if len(shape) == 2:
        calls.append(lambda: rung.grouped_matmul(*ones, [0, 2], out=out[None]))
        calls.append(lambda: rung.matmul(*ones, out=out, epilogue=Epilogue()))
    for call in calls:
        with pytest.raises(ValueError, match="out is .* with strides of .* share memory"):
            call()


def test_arrays_of_ctypes():
    pairs = (ctypes.c_float * 2 * 3)((1, 2), (3, 4), (5, 6))
    square = (ctypes.c_double * 2 * 2)((1, 2), (3, 4))
    assert rung.matmul(pairs, numpy.eye(2, dtype="float32")).tolist() == [[1, 2], [3, 4], [5, 6]]
    rung.matmul(numpy.eye(2), numpy.eye(2), out=square)
    assert [list(row) for row in square] == [[1, 0], [0, 1]]
    row = (ctypes.c_float * 4)(1, 2, 3, 4)
    assert rung.dot(row, row) == 30 and rung.dot(memoryview(row)[::2], memoryview(row)[1::2]) == 14
    assert rung.matmul((ctypes.c_int32 * 0)(), numpy.zeros((0, 3), "int32")).tolist() == [0, 0, 0]


def test_masked_arrays_are_refused():
    a = numpy.ones((2, 2), "float32")
    masked = numpy.ma.masked_array(a, mask=a > 0)
    for arguments in ((masked, a), (a, masked)):
        with pytest.raises(TypeError, match="is MaskedArray; it must be an array"):
            rung.matmul(*arguments)
    with pytest.raises(TypeError, match="out is MaskedArray"):
        rung.matmul(a, a, out=masked)
