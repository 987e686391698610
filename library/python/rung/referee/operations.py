"""The operations that a task can name: arrays, sizes, references, distributions."""

import dataclasses
from typing import Callable

from .references import elementwise, exact, linear, rows


@dataclasses.dataclass(frozen=True)
class Array:
    """An array of the signature. The shape has expressions of the sizes, or is a function of them; the dtype may be "T",
    the task's."""

    name: str
    role: str  # "in" or "out"
    shape: tuple
    dtype: str = "T"
    below: str = None  # of integers: an expression that all are less than


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation that a kernel computes.

    Attributes
    ----------
    arrays : tuple of Array
        In the order of the signature; the sizes follow.
    sizes : dict of str to int
        The largest hidden extent of each size.
    reference : callable
        As described in `references`.
    work : str
        Multiplications and additions, or elements: an expression of the sizes.
    distributions : tuple of str
    is_linear : bool
        Sums of products of integers are exact.
    keeps_signs : bool
        The output has elements of an input, whose zeros keep their signs.
    long : dict of str to int
        Extents beyond `sizes` that kernels usually take, drawn with the others at their least if the task has no limits.
    """

    name: str
    arrays: tuple
    sizes: dict
    reference: Callable
    work: str
    distributions: tuple
    is_linear: bool = False
    keeps_signs: bool = False
    long: dict = dataclasses.field(default_factory=dict)


_SUMS = ("normal", "integers", "spread", "cancelling", "uniform", "constant", "sparse", "denormal", "offset", "small",
         "precise")
_ROWS = ("normal", "offset", "large", "constant", "uniform", "sparse", "integers", "small", "negative")
_ELEMENTS = ("normal", "large", "spread", "denormal", "integers", "uniform", "constant", "small")
_MOVES = ("normal", "integers", "ties", "spread", "denormal", "ordered", "zeros", "extreme")


_LONG = {"n": 300001}
_MANY_ROWS = {"m": 70001}  # more than a grid has along y


def _in(name, *shape, dtype="T", below=None):
    return Array(name, "in", shape, dtype, below)


def _out(name, *shape, dtype="T"):
    return Array(name, "out", shape, dtype)


_ALL = [
    Operation("gemm", (_in("a", "m", "k"), _in("b", "k", "n"), _out("c", "m", "n")), {"m": 150, "n": 150, "k": 200},
              linear.gemm, "2*m*n*k", _SUMS, True),
    Operation("gemm_nt", (_in("a", "m", "k"), _in("b", "n", "k"), _out("c", "m", "n")),
              {"m": 150, "n": 150, "k": 200}, linear.gemm_nt, "2*m*n*k", _SUMS, True),
    Operation("gemv", (_in("a", "m", "n"), _in("x", "n"), _out("y", "m")), {"m": 600, "n": 1100}, linear.gemv, "2*m*n",
              _SUMS, True),
    Operation("dot", (_in("x", "n"), _in("y", "n"), _out("result", "1")), {"n": 40000}, linear.dot, "2*n", _SUMS, True,
              long=_LONG),
    Operation("sum", (_in("x", "n"), _out("result", "1")), {"n": 40000}, rows.sum_, "n", _SUMS, True, long=_LONG),
    Operation("row_sum", (_in("x", "m", "n"), _out("y", "m")), {"m": 300, "n": 1100}, rows.row_sum, "m*n", _SUMS, True,
              long=_MANY_ROWS),
    Operation("scan", (_in("x", "n"), _out("y", "n")), {"n": 5000}, rows.scan, "n", _SUMS, True),
    Operation("softmax", (_in("x", "m", "n"), _out("y", "m", "n")), {"m": 70, "n": 1100}, rows.softmax, "6*m*n", _ROWS,
              long=_MANY_ROWS),
    Operation("layernorm", (_in("x", "m", "n"), _in("w", "n"), _in("b", "n"), _out("y", "m", "n")),
              {"m": 70, "n": 1100}, rows.layernorm, "8*m*n", _ROWS),
    Operation("rmsnorm", (_in("x", "m", "n"), _in("w", "n"), _out("y", "m", "n")), {"m": 70, "n": 1100}, rows.rmsnorm,
              "5*m*n", _ROWS),
    Operation("attention", (_in("q", "m", "d"), _in("k", "n", "d"), _in("v", "n", "d"), _out("o", "m", "d")),
              {"m": 70, "n": 150, "d": 64}, linear.attention, "4*m*n*d", ("normal", "large", "integers", "uniform",
                                                                         "sparse", "constant")),
    Operation("conv1d", (_in("x", "n"), _in("w", "k"), _out("y", "n-k+1")), {"n": 5000, "k": 40}, linear.conv1d,
              "2*(n-k+1)*k", _SUMS, True),
    Operation("conv2d", (_in("x", "h", "w_"), _in("w", "r", "s"), _out("y", "h-r+1", "w_-s+1")),
              {"h": 80, "w_": 100, "r": 7, "s": 7}, linear.conv2d, "2*(h-r+1)*(w_-s+1)*r*s", _SUMS, True),
    Operation("transpose", (_in("x", "m", "n"), _out("y", "n", "m")), {"m": 300, "n": 300}, exact.transpose, "m*n", _MOVES,
              keeps_signs=True),
    Operation("copy", (_in("x", "n"), _out("y", "n")), {"n": 20000}, exact.copy, "n", _MOVES, keeps_signs=True,
              long=_LONG),
    Operation("sort", (_in("x", "n"), _out("y", "n")), {"n": 2100}, exact.sort, "n*16", _MOVES),
    Operation("histogram", (_in("x", "n", dtype="int32", below="bins"), _out("counts", "bins", dtype="int32")),
              {"n": 20000, "bins": 300}, exact.histogram, "n", ("uniform", "constant", "ties", "ordered"),
              long=_LONG),
    *(Operation(name, (_in("x", "n"), _out("y", "n")), {"n": 20000}, getattr(elementwise, name), "n", _ELEMENTS, long=_LONG)
      for name in ("relu", "sigmoid", "silu", "gelu", "tanh")),
    *(Operation(name, (_in("x", "n"), _in("z", "n"), _out("y", "n")), {"n": 20000}, getattr(elementwise, name), "n",
                _ELEMENTS, long=_LONG) for name in ("add", "mul")),
]
BY_NAME = {each.name: each for each in _ALL}
