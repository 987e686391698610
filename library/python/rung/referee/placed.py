"""Arrays at a chosen distance from an aligned address."""

import numpy as np


class Placed(np.ndarray):
    """An array that rung.Kernel places `offset` bytes into an allocation of its own, and always copies back.

    Attributes
    ----------
    memory : numpy.ndarray of uint8
        The allocation: `offset` bytes, then the array.
    offset : int
    is_read_only : bool
        A kernel that writes it fails.
    is_written : bool
        Otherwise the allocation has no value: reading it is a hazard.
    """

    def __new__(cls, shape, dtype, offset):
        memory = np.empty(offset + int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8)
        placed = super().__new__(cls, shape, dtype, memory, offset)
        placed.memory, placed.offset, placed.is_written, placed.is_read_only = memory, offset, False, False
        return placed

    def __array_finalize__(self, source):
        self.memory = None  # views are ordinary arrays
