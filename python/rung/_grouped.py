"""rung.grouped_matmul()"""


def grouped_matmul(a, b, offsets, *, out=None, alpha=1, beta=0, math="ieee", threads=0, stream=None):
    """Products of groups of rows: out[s:e] = alpha * (a[s:e] @ b[g]) + beta * out[s:e], from s = offsets[g] to
    e = offsets[g + 1].

    Each group is one call of the library. On a GPU it enqueues its work and returns.

    Parameters
    ----------
    a : array of shape (rows, k)
        The rows of all groups, one group after the other.
    b : array of shape (groups, k, n), of the same dtype and on the same device
    offsets : sequence of groups + 1 integers
        From 0 to the number of rows, in ascending order; a group may be empty. Read on the CPU: an array on a
        GPU waits for its work.
    out : array of shape (rows, n), optional
        Written in place and returned. If beta is 0 it is not read.
    alpha, beta, math, threads, stream
        As for matmul.

    Returns
    -------
    out, or a new array of the library of a, of the dtype that matmul has.

    Raises
    ------
    ValueError
        If the offsets do not fit, and as matmul does.

    >>> import numpy, rung
    >>> a, b = numpy.ones((3, 2), "float32"), numpy.array([[[1], [1]], [[5], [5]]], "float32")
    >>> rung.grouped_matmul(a, b, [0, 2, 3])
    array([[ 2.],
           [ 2.],
           [10.]], dtype=float32)
    """
    from ._core import _new_result, matmul

    if len(a.shape) != 2 or len(b.shape) != 3:
        raise ValueError(f"rung: grouped_matmul: a is {tuple(a.shape)}, b is {tuple(b.shape)}; they must have two and "
                         "three dimensions")
    ends = [int(each) for each in offsets]
    if len(ends) != b.shape[0] + 1:
        raise ValueError(f"rung: grouped_matmul: there are {len(ends)} offsets; b has {b.shape[0]} matrices, which "
                         f"need {b.shape[0] + 1}")
    if ends[0] != 0 or ends[-1] != a.shape[0] or ends != sorted(ends):
        raise ValueError(f"rung: grouped_matmul: the offsets are {ends}; they must ascend from 0 to the {a.shape[0]} "
                         "rows of a")
    shape = (a.shape[0], b.shape[2])
    if out is None:
        if beta != 0:
            raise ValueError(f"rung: grouped_matmul: beta is {beta}, and there is no out to scale; pass out, or 0")
        out = _new_result(a, shape)
    elif tuple(out.shape) != shape:
        raise ValueError(f"rung: grouped_matmul: out is {tuple(out.shape)}; the product is {shape}")
    for group, (start, end) in enumerate(zip(ends, ends[1:])):
        if start != end:
            matmul(a[start:end], b[group], out=out[start:end], alpha=alpha, beta=beta, math=math, threads=threads,
                   stream=stream)
    return out
