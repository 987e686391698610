"""rung.grouped_matmul: groups along the rows, and along the dimension that is summed over."""

import numpy
import pytest
from conftest import check_product, matrix
from test_exchange import OnGpu

import rung

RESULT = {"float32": "float32", "float64": "float64", "int32": "int32", "bfloat16": "float32", "float16": "float32"}
OFFSETS = [[0, 2, 2, 7], [0, 0, 0, 7], (0, 7, 7, 7), numpy.array([0, 1, 6, 7], "int32"), numpy.arange(4) * 7 // 3]


def groups_of(offsets):
    return [slice(start, end) for start, end in zip(offsets, offsets[1:])]


@pytest.mark.parametrize("offsets", OFFSETS)
def test_groups_of_rows(offsets, dtype, layout):
    a, b = layout(matrix((7, 4), dtype, 1)), layout(matrix((3, 4, 5), dtype, 2))
    result = rung.grouped_matmul(a, b, offsets)
    assert result.dtype == RESULT[str(dtype)]
    for group, rows in enumerate(groups_of(offsets)):
        check_product(result[rows], a[rows], b[group])


@pytest.mark.parametrize("offsets", OFFSETS)
def test_groups_of_the_sum(offsets, dtype, layout):
    a, b = layout(matrix((4, 7), dtype, 1)), layout(matrix((7, 5), dtype, 2))
    result = rung.grouped_matmul(a, b, offsets)
    assert result.dtype == RESULT[str(dtype)]
    for group, part in enumerate(groups_of(offsets)):
        check_product(result[group], a[:, part], b[part])


def test_scaled_groups():
    a, b, out = matrix((3, 4), "float64", 1), matrix((2, 4, 5), "float64", 2), numpy.ones((3, 5))
    assert rung.grouped_matmul(a, b, [0, 1, 3], out=out, alpha=2, beta=-1) is out
    assert numpy.allclose(out, 2 * numpy.concatenate([a[:1] @ b[0], a[1:] @ b[1]]) - 1, rtol=1e-13, atol=1e-13)
    out = numpy.ones((3, 4, 5))
    assert rung.grouped_matmul(a.T, matrix((3, 5), "float64", 3), [0, 3, 3, 3], out=out, alpha=0, beta=3) is out
    assert numpy.all(out == 3)


@pytest.mark.parametrize("arrange", [
    numpy.asfortranarray, lambda a: numpy.repeat(a, 2, -1)[..., ::2], lambda a: a[::-1].copy()[::-1],
    lambda a: numpy.concatenate([a, a], -1)[..., : a.shape[-1]],
])
def test_results_of_every_layout(arrange):
    a, b = matrix((6, 3), "float64", 1), matrix((2, 3, 4), "float64", 2)
    out = arrange(numpy.ones((6, 4)))
    rung.grouped_matmul(a, b, [0, 5, 6], out=out, beta=1)
    assert numpy.allclose(out, numpy.concatenate([a[:5] @ b[0], a[5:] @ b[1]]) + 1, rtol=1e-13, atol=1e-13)
    out = arrange(numpy.ones((2, 3, 4)))
    rung.grouped_matmul(a.T, matrix((6, 4), "float64", 3), [0, 5, 6], out=out, beta=1)
    b = matrix((6, 4), "float64", 3)
    assert numpy.allclose(out, numpy.stack([a[:5].T @ b[:5], a[5:].T @ b[5:]]) + 1, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shift", [0, 1])
def test_a_result_over_an_operand(shift):
    memory, b = matrix((7, 3), "float64", 1), matrix((2, 3, 3), "float64", 2)
    a, out = memory[: 7 - shift], memory[shift:]
    right = numpy.concatenate([a[:2] @ b[0], a[2:] @ b[1]])
    rung.grouped_matmul(a, b, [0, 2, len(a)], out=out)
    assert numpy.allclose(out, right, rtol=1e-13, atol=1e-13)


def test_without_rows_columns_or_groups():
    a, b = numpy.ones((0, 4), "float32"), numpy.ones((2, 4, 5), "float32")
    assert rung.grouped_matmul(a, b, [0, 0, 0]).shape == (0, 5)
    assert rung.grouped_matmul(a, b[:0], [0]).shape == (0, 5)
    assert rung.grouped_matmul(numpy.ones((3, 4), "float32"), b[..., :0], [0, 1, 3]).shape == (3, 0)
    assert rung.grouped_matmul(a.T, numpy.ones((0, 5), "float32"), [0]).shape == (0, 4, 5)
    assert not rung.grouped_matmul(a.T, numpy.ones((0, 5), "float32"), [0, 0]).any()
    assert not rung.grouped_matmul(numpy.ones((3, 0)), numpy.ones((2, 0, 5)), [0, 1, 3]).any()


def test_on_a_gpu_nothing_is_asked_of_it_for_an_empty_result():
    a, b = OnGpu(numpy.empty((0, 3), "float32")), OnGpu(numpy.empty((2, 3, 4), "float32"))
    out = OnGpu(numpy.empty((0, 4), "float32"))
    assert rung.grouped_matmul(a, b, [0, 0, 0], out=out) is out


@pytest.mark.parametrize("change, message", [
    ({"a": numpy.ones(3)}, r"a is \(3,\), b is \(2, 4, 5\); a must have two dimensions, and b three, or two"),
    ({"b": numpy.ones(4)}, r"a is \(3, 4\), b is \(4,\); a must have two dimensions"),
    ({"offsets": [0, 3]}, "there are 2 offsets; b has 2 matrices, which need 3"),
    ({"offsets": [0, 2, 4]}, r"the offsets are \[0, 2, 4\]; they must ascend from 0 to the 3 rows of a"),
    ({"offsets": [0, 4, 3]}, "must ascend"),
    ({"offsets": [1, 2, 3]}, "must ascend"),
    ({"offsets": [0, -1, 3]}, "an offset is -1; it must be from 0 to 2147483647"),
    ({"offsets": [0, 2**70, 3]}, "an offset is 1180591620717411303424; it must be from 0 to 2147483647"),
    ({"offsets": []}, "there are no offsets"),
    ({"b": numpy.ones((4, 5)), "offsets": [0, 3]}, r"the offsets are \[0, 3\]; they must ascend from 0 to the 4 columns"),
    ({"out": numpy.ones((3, 4))}, r"out is \(3, 4\); the product is \(3, 5\)"),
    ({"beta": 1}, "beta is 1, and there is no out"),
    ({"math": "exact"}, "math is 'exact'"),
    ({"a": numpy.ones((3, 6))}, r"a is \(3, 6\), b is \(2, 4, 5\); the columns of a must be as many"),
])
def test_groups_that_do_not_fit(change, message):
    arguments = {"a": numpy.ones((3, 4)), "b": numpy.ones((2, 4, 5)), "offsets": [0, 1, 3], **change}
    with pytest.raises(ValueError, match="rung: grouped_matmul: .*" + message):
        rung.grouped_matmul(**arguments)


@pytest.mark.parametrize("change, message", [
    ({"offsets": [0.0, 1.0, 3.0]}, "'float' object cannot be interpreted as an integer"),
    ({"b": numpy.ones((2, 4, 5), "float32")}, "a is float64, b is float32; they must have the same dtype"),
    ({"a": [[1.0]]}, "a is list; it must be an array"),
])
def test_what_has_no_right_type(change, message):
    arguments = {"a": numpy.ones((3, 4)), "b": numpy.ones((2, 4, 5)), "offsets": [0, 1, 3], **change}
    with pytest.raises(TypeError, match=message):
        rung.grouped_matmul(**arguments)
