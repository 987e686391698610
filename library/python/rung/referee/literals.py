"""Numbers in a candidate's text. Code for one size or one range of values has its limits in the text, so that shapes and
inputs around these numbers reach it.
"""

import itertools
import re

import numpy as np

from .candidate import code_of

_MOST_NUMBERS = 6
_MOST_VALUES = 3
_ORDINARY = (0.05, 2.0)  # magnitudes that normal inputs have everywhere
_NUMBER = r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|\d+)(?=[uUlL]*(?![\w.]))"


def sizes_in(text):
    """Integers from 3 on: first those that are no power of two, and also products and shifts of two literals."""
    code = code_of(text)
    found = [int(each, 0) for each in re.findall(_NUMBER, code) if not re.fullmatch(r"0\d+", each)]
    for left, operator, right in re.findall(rf"(?=({_NUMBER})[uUlL]*\s*(\*|<<)\s*({_NUMBER}))", code):
        if operator == "*" or int(right, 0) < 32:
            found.append(int(left, 0) * int(right, 0) if operator == "*" else int(left, 0) << int(right, 0))
    return sorted({each for each in found if each > 2}, key=lambda each: (each & (each - 1) == 0, each))


def shapes_around(rng, numbers, limits):
    """Shapes whose extents are multiples of a number of the text, or just beside one, in every combination."""
    made = []
    for number in [each for each in numbers if each <= max(limits.values(), default=0)][:_MOST_NUMBERS]:
        for way in itertools.islice(itertools.product((0, 1), repeat=len(limits)), 8):
            by = int(rng.choice([-1, 1]))
            made.append({name: _beside(rng, number, most, by * each) for (name, most), each in zip(limits.items(), way)})
    return made


def _beside(rng, number, most, by):
    if number > most:
        return int(rng.integers(1, most + 1))
    times = int(rng.integers(1, min(4, most // number) + 1))
    return max(1, min(most, number * times + by))


def values_in(text, most):
    """Magnitudes of floating-point literals up to `most` that ordinary inputs seldom have, the largest first."""
    literals = re.findall(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?=[fF]?(?![\w.]))", code_of(text))
    found = {float(each) for each in literals}
    low, high = _ORDINARY
    return sorted((each for each in found if 1e-30 < each <= most and not low <= each <= high), reverse=True)[:_MOST_VALUES]


def around(rng, shape, value):
    """Numbers of both signs on both sides of a value."""
    return value * (1 + 0.1 * rng.standard_normal(shape)) * rng.choice([-1, 1], shape)


def below(rng, shape, value):
    """Numbers below the negative of a value, each of them."""
    return -value * (2 + 0.1 * rng.random(shape))
