"""rung.matmul on NumPy arrays."""

import array
import itertools

import numpy
import pytest
from conftest import LAYOUTS, check_product, dtype_of, expected, matrix

import rung

SIZES = [(1, 1, 1), (2, 3, 5), (4, 4, 4), (17, 9, 31), (64, 65, 63), (1, 40, 7), (40, 1, 7), (100, 100, 130)]
RESULT = {"float32": "float32", "float64": "float64", "int32": "int32", "bfloat16": "float32", "float16": "float32"}


@pytest.mark.parametrize("size", SIZES)
def test_every_dtype_and_layout(dtype, layout, size):
    m, n, k = size
    a, b = layout(matrix((m, k), dtype, 1)), layout(matrix((k, n), dtype, 2))
    result = rung.matmul(a, b)
    assert result.dtype == RESULT[str(dtype)]
    check_product(result, a, b)


@pytest.mark.parametrize("left, right", list(itertools.product(LAYOUTS, LAYOUTS)))
def test_layouts_mixed(left, right):
    a, b = LAYOUTS[left](matrix((12, 7), "float32", 3)), LAYOUTS[right](matrix((7, 9), "float32", 4))
    check_product(rung.matmul(a, b), a, b)


def test_out_of_every_layout(layout):
    a, b = matrix((6, 7), "float64", 1), matrix((7, 5), "float64", 2)
    out = layout(matrix((6, 5), "float64", 3))
    before = out.copy()
    assert rung.matmul(a, b, out=out, alpha=2, beta=-3) is out
    assert numpy.allclose(out, 2 * (a @ b) - 3 * before, rtol=1e-13, atol=1e-13)


def test_beta_of_zero_does_not_read_out():
    a, b, out = matrix((3, 4), "float32", 1), matrix((4, 2), "float32", 2), numpy.full((3, 2), numpy.nan, "float32")
    check_product(rung.matmul(a, b, out=out), a, b)
    out = numpy.full((2, 3), numpy.nan, "float32").T[:, ::-1]
    check_product(rung.matmul(a, b, out=out), a, b)


@pytest.mark.parametrize("m, n, k", list(itertools.product([0, 3], repeat=3)))
def test_sizes_of_zero(m, n, k, dtype):
    result = rung.matmul(numpy.ones((m, k), dtype), numpy.ones((k, n), dtype))
    assert result.shape == (m, n)
    assert numpy.all(result == k)


def test_scales_of_integers():
    a, b, out = matrix((3, 4), "int32", 1), matrix((4, 2), "int32", 2), numpy.ones((3, 2), "int32")
    rung.matmul(a, b, out=out, alpha=-2, beta=5)
    assert numpy.array_equal(out, -2 * (a @ b) + 5)
    with pytest.raises(ValueError, match="alpha is 0.5.*whole number"):
        rung.matmul(a, b, alpha=0.5)


@pytest.mark.parametrize("shapes", [
    ((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((5, 2, 4), (4, 3)), ((2, 4), (5, 4, 3)),
    ((5, 2, 4), (5, 4, 3)), ((6, 1, 2, 4), (5, 4, 3)), ((5, 2, 4), (4,)), ((4,), (5, 4, 3)),
    ((0, 2, 4), (4, 3)), ((2, 3, 0, 4), (1, 4, 3)),
])
def test_batches_and_vectors_as_in_numpy(shapes):
    a, b = (matrix(shape, "float64", i) for i, shape in enumerate(shapes))
    result = rung.matmul(a, b)
    assert result.shape == numpy.matmul(a, b).shape
    assert numpy.allclose(result, numpy.matmul(a, b), rtol=1e-13, atol=1e-13)
    out = numpy.zeros(result.shape[::-1]).T
    if out.ndim > 0:
        rung.matmul(a, b, out=out)
        assert numpy.array_equal(out, result) or numpy.allclose(out, result, rtol=1e-13)


@pytest.mark.parametrize("arrange", [
    lambda a: a, lambda a: a[:, ::-1], lambda a: numpy.asfortranarray(a), lambda a: numpy.repeat(a, 2, 0)[::2],
    lambda a: numpy.repeat(a, 2, 1)[:, ::2], lambda a: a.transpose(1, 0, 2).copy().transpose(1, 0, 2),
])
def test_a_batch_with_one_b(arrange):
    a, b = arrange(matrix((3, 4, 5), "float64", 1)), matrix((5, 2), "float64", 2)
    assert numpy.allclose(rung.matmul(a, b), a @ b, rtol=1e-13, atol=1e-13)
    out = arrange(numpy.ones((3, 4, 2)))
    rung.matmul(a, b, out=out, beta=1)
    assert numpy.allclose(out, a @ b + 1, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_a_batch_over_itself(shift):
    memory = matrix((4, 3, 3), "float64", 1)
    first, b = max(0, shift), matrix((3, 3), "float64", 2)
    a, out = memory[first : first + 3], memory[first - shift : first - shift + 3]
    right = a @ b
    rung.matmul(a, b, out=out)
    assert numpy.allclose(out, right, rtol=1e-13, atol=1e-13)
    memory[...] = matrix((4, 3, 3), "float64", 3)
    right = b @ a[:, ::-1]
    rung.matmul(b, a[:, ::-1], out=out)
    assert numpy.allclose(out, right, rtol=1e-13, atol=1e-13)


def test_broadcast_views_are_read():
    a = numpy.broadcast_to(numpy.arange(4, dtype="float32"), (3, 4))
    b = matrix((4, 5), "float32", 1)
    check_product(rung.matmul(a, b), a, b)


def test_read_only_operands():
    a, b = matrix((3, 4), "float32", 1), matrix((4, 5), "float32", 2)
    a.flags.writeable = b.flags.writeable = False
    check_product(rung.matmul(a, b), a, b)
    out = numpy.zeros((3, 5), "float32")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        rung.matmul(a, b, out=out)
    assert not out.any()


def test_out_may_be_an_operand():
    a = matrix((40, 40), "float64", 1)
    square = expected(a, a)[0]
    assert numpy.allclose(rung.matmul(a, a, out=a), square, rtol=1e-12, atol=1e-12)


def test_misaligned_memory():
    a, b = matrix((5, 6), "float32", 1), matrix((6, 3), "float32", 2)
    memory = bytearray(1 + a.nbytes)
    odd = numpy.frombuffer(memory, "float32", 30, 1).reshape(5, 6)
    odd[...] = a
    check_product(rung.matmul(odd, b), a, b)


def test_other_buffers():
    a = memoryview(array.array("d", [1, 2, 3, 4])).cast("B").cast("d", (2, 2))
    assert rung.matmul(a, a).tolist() == [[7, 10], [15, 22]]


def test_threads():
    a = matrix((300, 300), "float32", 1)
    check_product(rung.matmul(a, a, threads=1), a, a)
    with pytest.raises(ValueError, match="threads is -1"):
        rung.matmul(a, a, threads=-1)


@pytest.mark.parametrize("a, b, error, message", [
    ((2, 3), (4, 5), ValueError, r"a is \(2, 3\), b is \(4, 5\); the columns of a"),
    ((3,), (4,), ValueError, r"a is \(3,\), b is \(4,\)"),
    ((), (4,), ValueError, r"a is \(\), b is \(4,\); each must have at least one"),
    ((2, 4, 3), (5, 3, 4), ValueError, r"a is \(2, 4, 3\), b is \(5, 3, 4\); their batches"),
    ((1,) * 9, (1, 1), ValueError, "a has 9 dimensions; at most 8"),
])
def test_shapes_that_differ(a, b, error, message):
    with pytest.raises(error, match="rung: .*" + message):
        rung.matmul(numpy.zeros(a, "float32"), numpy.zeros(b, "float32"))


@pytest.mark.parametrize("shape_a, shape_b", [((7, 30), (30, 5)), ((30,), (30, 5)), ((3, 7, 30), (3, 30, 5))])
def test_bfloat16_by_float32_rounds_nothing(shape_a, shape_b):
    bfloat16 = __import__("ml_dtypes").bfloat16
    narrow, wide = matrix(shape_a, "float32", 1).astype(bfloat16), matrix(shape_b, "float32", 2) + numpy.float32(2**-20)
    got = rung.matmul(narrow, wide)
    assert got.dtype == numpy.float32
    numpy.testing.assert_array_equal(got, rung.matmul(narrow.astype("float32"), wide))
    if len(shape_a) == 2:
        numpy.testing.assert_array_equal(rung.matmul(wide.T, narrow.T), rung.matmul(wide.T, narrow.T.astype("float32")))
    with pytest.raises(TypeError, match="a is bfloat16, b is float32; they must have the same dtype"):
        rung.matmul(narrow, wide, math="tf32")


def test_types_that_differ():
    single, double = numpy.zeros((2, 2), "float32"), numpy.zeros((2, 2))
    with pytest.raises(TypeError, match="a is float32, b is float64; they must have the same dtype"):
        rung.matmul(single, double)
    with pytest.raises(ValueError, match="C is f64; with A and B of f32 it must be f32"):
        rung.matmul(single, single, out=double)
    with pytest.raises(TypeError, match="a is of int64; it must be an array of float32, "):
        rung.matmul(numpy.zeros((2, 2), "int64"), double)
    with pytest.raises(TypeError, match="b is of >f4"):
        rung.matmul(single, single.astype(">f4"))
    with pytest.raises(TypeError, match="a is of complex64"):
        rung.matmul(single.astype("complex64"), single)
    with pytest.raises(TypeError, match="b is list"):
        rung.matmul(single, [[1, 2]])
    with pytest.raises(TypeError, match="a is of float8_e4m3;"):  # not the OCP format
        rung.matmul(single.astype(__import__("ml_dtypes").float8_e4m3), single)


def test_out_of_another_shape():
    a = numpy.zeros((2, 3), "float32")
    with pytest.raises(ValueError, match=r"out is \(2, 3\); the product is \(2, 2\)"):
        rung.matmul(a, a.T, out=a)
    with pytest.raises(ValueError, match="beta is 1.*there is no out"):
        rung.matmul(a, a.T, beta=1)


def test_modes():
    a = numpy.zeros((2, 2), "float32")
    with pytest.raises(ValueError, match="math is 'fast'; it must be 'ieee', 'split', 'reproducible', 'batch_invariant' or 'tf32'"):
        rung.matmul(a, a, math="fast")
    with pytest.raises(TypeError, match="math is 'tf32', a is float64"):
        rung.matmul(a.astype("float64"), a.astype("float64"), math="tf32")


def test_reproducible_bits_do_not_depend_on_the_batch():
    random = numpy.random.default_rng(3)
    a = random.standard_normal((3, 17, 70)).astype("float32")
    b = random.standard_normal((70, 9)).astype("float32")
    together = rung.matmul(a, b, math="reproducible")
    for i in range(3):
        alone = rung.matmul(a[i, 4:5], b, math="reproducible", threads=1)
        assert (alone.view("uint32") == together[i, 4:5].view("uint32")).all()
    numpy.testing.assert_allclose(together, a.astype("float64") @ b, atol=1e-4)
    with pytest.raises(rung.UnavailableError, match="this mode is for f32, i32 and i8"):
        rung.matmul(a.astype("float64"), b.astype("float64"), math="reproducible")


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_8_bit_floats_on_cpus_have_exact_products(name):
    a = numpy.arange(-7, 8, dtype="float32").reshape(3, 5)
    narrow = a.astype(dtype_of(name))
    product = rung.matmul(narrow, narrow.T)
    assert product.dtype == numpy.float32
    assert (product == a @ a.T).all()


def test_int8_is_exact():
    a = numpy.arange(-60, 60, dtype="int8").reshape(10, 12)
    product = rung.matmul(a, a.T)
    assert product.dtype == numpy.int32
    assert (product == a.astype("int32") @ a.T.astype("int32")).all()


@pytest.mark.parametrize("call, message", [
    (lambda a: rung.matmul(a, a, alpha="1"), "matmul: alpha is '1'; it must be a float"),
    (lambda a: rung.matmul(a, a, beta=None), "matmul: beta is None; it must be a float"),
    (lambda a: rung.matmul(a, a, alpha=numpy.ones((20, 20))), "matmul: alpha is ndarray; it must be a float"),
    (lambda a: rung.matmul(a, a, threads=2.5), "matmul: threads is 2.5; it must be an int"),
    (lambda a: rung.grouped_matmul(a, a, [0, 2], threads=2**40), "grouped_matmul: threads is 1099511627776; it must be an int of 32 bits"),
    (lambda a: rung.matmul(a, a, math=3), "matmul: math is 3; it must be a str"),
    (lambda a: rung.dot(a[0], a[0], mode=None), "dot: mode is None; it must be a str"),
    (lambda a: rung.weight_only_matmul(a, 3), "weight_only_matmul: weights is 3; it must be a rung.PackedWeights"),
    (lambda a: rung.set_num_threads("2"), "set_num_threads: threads is '2'; it must be an int"),
    (lambda a: rung.matmul(a, a, output=a), "matmul: there is no argument output"),
    (lambda a: rung.matmul(a, a, a), "matmul: 3 arguments without a name; it takes at most 2"),
    (lambda a: rung.grouped_matmul(a, a), "grouped_matmul: offsets is missing"),
])
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(TypeError) as raised:
        call(numpy.ones((2, 2), "float32"))
    assert str(raised.value) == "rung: " + message


def test_numbers_of_other_types_are_taken():
    a = numpy.ones((2, 2), "float32")
    assert rung.matmul(a, a, alpha=numpy.float16(3), threads=numpy.int64(1))[0, 0] == 6


def test_keywords_only():
    a = numpy.zeros((2, 2), "float32")
    with pytest.raises(TypeError):
        rung.matmul(a, a, a)
