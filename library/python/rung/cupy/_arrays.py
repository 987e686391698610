"""NumPy's arrays with the methods of CuPy's, and NumPy's functions with such results."""

import functools

import numpy


class Address(int):
    """An array's address, which kernels take in its place."""

    def __new__(cls, array):
        address = super().__new__(cls, array.ctypes.data)
        address.array = array
        return address


class MemoryPointer:
    """The value of `ndarray.data`."""

    def __init__(self, array):
        self.ptr, self.device_id = Address(array), 0


class ndarray(numpy.ndarray):
    """A NumPy array with CuPy's methods. Numbers are arrays without dimensions, as in CuPy."""

    def get(self, stream=None, order="C", out=None, blocking=True):
        """The values as a NumPy array of its own."""
        copied = numpy.array(self, order=order)
        if out is None:
            return copied
        out[...] = copied
        return out

    def set(self, array, stream=None):
        """Takes the values of a NumPy array of this shape."""
        self[...] = array

    @property
    def data(self):
        return MemoryPointer(self)

    @property
    def device(self):
        from . import cuda
        return cuda.Device(0)

    def __getitem__(self, index):
        return result(super().__getitem__(index))

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array.view(ndarray)


def result(value):
    """A result of a function of NumPy, with its arrays and numbers as arrays of this module."""
    if isinstance(value, numpy.ndarray) and type(value) is numpy.ndarray:
        return value.view(ndarray)
    if isinstance(value, numpy.generic) and value.dtype.names is None:
        return numpy.asarray(value).view(ndarray)
    if type(value) in (tuple, list):
        return type(value)(result(each) for each in value)
    return value


def returned(function):
    """A function of NumPy with results of this module; types and constants as they are."""
    if isinstance(function, type) or not callable(function):
        return function

    @functools.wraps(function, updated=())
    def call(*args, **named):
        named.pop("stream", None)
        return result(function(*args, **named))

    return call


class Functions:
    """A module within NumPy."""

    def __init__(self, module, name):
        self._module = getattr(module, name)

    def __getattr__(self, name):
        return returned(getattr(self._module, name))


class RandomFunctions(Functions):
    """numpy.random, whose functions take a `dtype`, too."""

    def __getattr__(self, name):
        function = getattr(self._module, name)
        if name in ("RandomState", "default_rng", "Generator"):
            return lambda *args, **named: _Generator(function(*args, **named))
        return _typed(function)


class _Generator:
    def __init__(self, generator):
        self._generator = generator

    def __getattr__(self, name):
        return _typed(getattr(self._generator, name))


def _typed(function):
    """A function that takes a dtype, by which its results are converted."""
    if not callable(function):
        return function

    @functools.wraps(function, updated=())
    def call(*args, dtype=None, **named):
        values = function(*args, **named)
        return result(values if dtype is None else numpy.asarray(values, dtype))

    return call
