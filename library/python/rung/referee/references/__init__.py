"""Reference results in float64, each with a bound on the error of a correct kernel.

A reference is a function of (inputs, sizes, numerics): the inputs in float64, the sizes as a dict, and `Numerics`. It
returns {output: (value, bound)}, two arrays of one shape. The bounds are a running error analysis after Higham,
Accuracy and Stability of Numerical Algorithms, chapters 3 and 4: they hold for every order of summation.
"""

import dataclasses

import numpy as np

UNIT = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8, "float32": 2.0 ** -24, "float64": 2.0 ** -53}
_TINY = {"float16": 2.0 ** -24, "bfloat16": 2.0 ** -126, "float32": 2.0 ** -126, "float64": 2.0 ** -1022}


@dataclasses.dataclass(frozen=True)
class Numerics:
    """Roundings that a correct kernel may make.

    Attributes
    ----------
    u : float
        Unit roundoff of intermediate values; 0 where all of them are exact.
    product : float
        Relative error of a factor before it is multiplied: 2^-11 if TF32 is allowed, otherwise 0.
    output : float
        Unit roundoff of the output.
    tiny : float
        Largest number that may be flushed to zero, in an intermediate value or the output.
    """

    u: float
    product: float
    output: float
    tiny: float

    def gamma(self, count):
        """The relative error of `count` roundings in a row."""
        return count * self.u / (1 - count * self.u)

    def rounded(self, value, bound, flushed=1):
        """`bound` with the rounding of the output, and `flushed` terms that may be flushed to zero."""
        return bound * (1 + self.output) + self.output * np.abs(value) + flushed * self.tiny


def numerics(dtype, out, exact, tf32=False):
    """Numerics of inputs of `dtype`, accumulated in float32, or in float64 for float64, and an output of `out`."""
    inner = "float64" if dtype == "float64" else "float32"
    # The reference has the precision of float64 itself, so a float64 kernel is granted its error, too.
    u = 0.0 if exact else UNIT[inner] * (2 if inner == "float64" else 1)
    return Numerics(u, 2.0 ** -11 if tf32 and not exact else 0.0, 0.0 if exact and out == inner else UNIT.get(out, 0.0),
                    max(_TINY.get(inner, 0.0), _TINY.get(out, 0.0)))
