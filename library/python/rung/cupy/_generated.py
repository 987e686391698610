"""CuPy's classes for kernels that are made of expressions: ElementwiseKernel and ReductionKernel."""

import functools
import re

import numpy

from ._arrays import ndarray
from ._kernels import compiled

_THREADS = 256
_MOST_BLOCKS = 1024
_HEAD = '#include <cstddef>\n#include <cupy/carray.cuh>\n'
_C_TYPES = {"bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
            "int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long", "float16": "float16",
            "float32": "float", "float64": "double", "complex64": "complex<float>", "complex128": "complex<double>"}


class _Parameter:
    """A parameter as "raw T x": a type's name or a placeholder of one letter."""

    def __init__(self, text):
        words = text.split()
        self.is_raw, self.is_mutable = "raw" in words, "_non_const" in words
        if len(words) - words.count("raw") - words.count("_non_const") != 2:
            raise ValueError(f"rung.cupy: parameter '{text.strip()}': expected [raw] TYPE NAME")
        self.type, self.name = words[-2:]
        self.is_placeholder = len(self.type) == 1


def _parameters(text):
    return [_Parameter(each) for each in text.split(",") if each.strip()]


def _c_type(dtype):
    try:
        return _C_TYPES[numpy.dtype(dtype).name]
    except KeyError:
        raise TypeError(f"rung.cupy: kernels have no type for dtype {dtype}; expected {', '.join(_C_TYPES)}") from None


def _resolved(name, parameters, values):
    """{type of a parameter: dtype}: arrays decide placeholders, and then numbers."""
    found = {}
    for is_array in (True, False):
        for parameter, value in zip(parameters, values):
            if value is None or not parameter.is_placeholder or isinstance(value, numpy.ndarray) != is_array:
                continue
            dtype = value.dtype if is_array else numpy.result_type(value)
            known = found.setdefault(parameter.type, dtype)
            if is_array and known != dtype:
                raise TypeError(f"{name}: {parameter.type} is {known} and, by {parameter.name}, {dtype}; convert one of the arrays")
    for parameter in parameters:
        if not parameter.is_placeholder:
            found[parameter.type] = numpy.dtype(parameter.type)
        elif parameter.type not in found:
            raise TypeError(f"{name}: no argument says what type {parameter.type} is")
    return found


_compiled = functools.lru_cache(512)(compiled)


def _identifier(name):
    return re.sub(r"\W", "_", name.partition("<")[0]) or "kernel"


class _Generated:
    """Parameters, types and contiguous arrays of both classes."""

    def __init__(self, inputs, outputs, name, preamble, options):
        self.in_params, self.out_params = _parameters(inputs), _parameters(outputs)
        self.name, self._preamble, self._options = _identifier(name), preamble, tuple(options)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.cached_code = None

    def _values(self, arguments):
        """The arguments, with None for outputs that are not given."""
        if len(arguments) not in (self.nin, self.nin + self.nout):
            raise TypeError(f"{self.name}: expected {self.nin} arguments, or {self.nin + self.nout} with the outputs; got"
                            f" {len(arguments)}")
        values = [each if isinstance(each, numpy.ndarray) and (each.ndim or index >= self.nin) else
                  each[()] if isinstance(each, numpy.ndarray) else each for index, each in enumerate(arguments)]
        return values + [None] * (self.nin + self.nout - len(values))

    def _run(self, text, given, blocks, threads, new):
        """Launches the text's kernel on the arrays and numbers; `new` are the names of outputs without a value."""
        self.cached_code = text
        _compiled(text, self.name, self._options)(*given, grid=max(1, blocks), block=threads, poison=list(new))


def _contiguous(array):
    return array if array.flags.c_contiguous else numpy.ascontiguousarray(array)


class ElementwiseKernel(_Generated):
    """The interface of cupy.ElementwiseKernel.

    Parameters
    ----------
    in_params, out_params : str
        Parameters as "T x, raw float32 y, int32 n": a dtype, or one letter for any. Elements of arrays that are not raw are
        broadcast to one shape.
    operation : str
        CUDA C++ for one element, whose index is `i` of `n`; `_ind.get()` has its indices by axis.
    name, preamble, no_return, return_tuple, options, loop_prep, after_loop
        As in CuPy. `reduce_dims` has no effect.
    """

    def __init__(self, in_params, out_params, operation, name="kernel", reduce_dims=True, preamble="", no_return=False,
                 return_tuple=False, *, options=(), loop_prep="", after_loop="", **named):
        super().__init__(in_params, out_params, name, preamble, options)
        self._operation, self._prepare, self._after = operation, loop_prep, after_loop
        self._returns_nothing, self._returns_tuple = no_return, return_tuple

    def __call__(self, *args, size=None, block_size=-1, stream=None):
        """The outputs: one array or a tuple. `size` is needed if no array has the number of elements."""
        parameters, values = [*self.in_params, *self.out_params], self._values(args)
        types = _resolved(self.name, parameters, values)
        shaped = [each for parameter, each in zip(parameters, values)
                  if isinstance(each, numpy.ndarray) and not parameter.is_raw]
        shape = numpy.broadcast_shapes(*(each.shape for each in shaped))
        if not shaped and all(each.is_raw for each in parameters) and size is None:
            raise ValueError(f"{self.name}: all parameters are raw; pass size=")
        if size is not None:
            shape = (int(size),)
        given, copies, new, outputs = [], [], [], []
        for index, (parameter, value) in enumerate(zip(parameters, values)):
            dtype = types[parameter.type]
            if index >= self.nin and value is None:
                if parameter.is_raw:
                    raise ValueError(f"{self.name}: {parameter.name} is raw, so its array must be given")
                value = numpy.empty(shape, dtype).view(ndarray)
                new.append(f"_{parameter.name}")
            if index >= self.nin:
                outputs.append(value)
            given.append(self._given(index, parameter, value, dtype, shape, copies))
        count = int(numpy.prod(shape))
        sizes = [count, *shape, *(each for array in given if isinstance(array, numpy.ndarray) for each in array.shape)]
        threads = block_size if block_size > 0 else _THREADS
        self._run(self._text(parameters, given, types, len(shape)), [*given, numpy.array(sizes, numpy.int64)],
                  min(_MOST_BLOCKS, -(-count // threads)), threads, new)
        for target, source in copies:
            target[...] = source
        if self._returns_nothing:
            return None
        return outputs[0] if len(outputs) == 1 and not self._returns_tuple else tuple(outputs)

    def _given(self, index, parameter, value, dtype, shape, copies):
        """A parameter's argument: a contiguous array of its type, or a number. Adds to `copies` what must be copied back."""
        if not isinstance(value, numpy.ndarray):
            return dtype.type(value)
        if value.dtype != dtype:
            raise TypeError(f"{self.name}: {parameter.name} has dtype {value.dtype}, expected {dtype}")
        is_output = index >= self.nin
        if is_output and not parameter.is_raw and value.shape != shape:
            raise ValueError(f"{self.name}: {parameter.name} has shape {value.shape}, expected {shape}")
        made = _contiguous(value if parameter.is_raw or is_output else numpy.broadcast_to(value, shape))
        if made is not value and (is_output or parameter.is_mutable):
            copies.append((value, made))
        return made

    def _text(self, parameters, given, types, ndim):
        """The source. The sizes of all arrays are one more argument: elements, the shape, and each array's shape."""
        declared, before, inside = [], [], []
        at = 1 + ndim
        for index, (parameter, value) in enumerate(zip(parameters, given)):
            c_type, name = _c_type(types[parameter.type]), parameter.name
            if index < self.nin and isinstance(value, numpy.ndarray) and not parameter.is_mutable:
                c_type = f"const {c_type}"
            if not isinstance(value, numpy.ndarray):
                declared.append(f"{c_type} {name}")
                continue
            declared.append(f"{c_type}* _{name}")
            if parameter.is_raw:
                before.append(f"const CArray<{c_type}, {value.ndim}> {name}(_{name}, _sizes + {at});")
            else:
                inside.append(f"{c_type}& {name} = _{name}[i];")
            at += value.ndim
        names = "".join(f"typedef {_c_type(dtype)} {name};\n" for name, dtype in types.items() if len(name) == 1)
        return (f"{_HEAD}{names}{self._preamble}\nextern \"C\" __global__ void {self.name}({', '.join(declared)},"
                f" const long long* _sizes) {{\n  const ptrdiff_t n = _sizes[0];\n  CIndexer<{ndim}> _ind(_sizes + 1);\n"
                f"  {' '.join(before)}\n  {self._prepare};\n  for (ptrdiff_t i = blockIdx.x * (ptrdiff_t)blockDim.x +"
                f" threadIdx.x; i < n; i += (ptrdiff_t)gridDim.x * blockDim.x) {{\n    _ind.set(i);\n    {' '.join(inside)}\n"
                f"    {self._operation};\n  }}\n  {self._after};\n}}\n")


class ReductionKernel(_Generated):
    """The interface of cupy.ReductionKernel: maps elements, reduces them by pairs `a` and `b`, and maps the result `a`.

    Parameters
    ----------
    in_params, out_params : str
        As of ElementwiseKernel, but none is raw.
    map_expr, reduce_expr, post_map_expr, identity : str
    reduce_type : str, optional
        The C++ type of `a` and `b`; otherwise that of the first output.
    name, preamble, options
        As in CuPy. `reduce_dims` has no effect.
    """

    def __init__(self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name="reduce_kernel",
                 reduce_type=None, reduce_dims=True, preamble="", options=()):
        super().__init__(in_params, out_params, name, preamble, options)
        self._map, self._reduce, self._post = map_expr, reduce_expr, post_map_expr
        self._identity, self._type = identity, reduce_type
        raw = next((each for each in [*self.in_params, *self.out_params] if each.is_raw), None)
        if raw is not None:
            raise NotImplementedError(f"{self.name}: rung.cupy.ReductionKernel has no raw parameters, such as {raw.name}")

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        """The outputs: one array or a tuple, reduced along `axis` (default: all)."""
        values = self._values(args if out is None else (*args, out))
        types = _resolved(self.name, [*self.in_params, *self.out_params], values)
        inputs = [numpy.asarray(each, types[parameter.type]) for parameter, each in zip(self.in_params, values)]
        shape = numpy.broadcast_shapes(*(each.shape for each in inputs))
        axes = tuple(range(len(shape))) if axis is None else tuple(numpy.atleast_1d(axis) % max(1, len(shape)))
        kept = tuple(each for each in range(len(shape)) if each not in axes)
        rows, columns = (int(numpy.prod([shape[each] for each in some])) for some in (kept, axes))
        if columns == 0 and self._identity in (None, ""):
            raise ValueError(f"{self.name}: a reduction of no elements needs an identity")
        out_shape = tuple(1 if each in axes else extent for each, extent in enumerate(shape) if keepdims or each in kept)
        outputs = [numpy.empty(out_shape, types[parameter.type]).view(ndarray) if value is None else value
                   for parameter, value in zip(self.out_params, values[self.nin:])]
        for parameter, value in zip(self.out_params, outputs):
            if value.shape != out_shape:
                raise ValueError(f"{self.name}: {parameter.name} has shape {value.shape}, expected {out_shape}")
        made = [numpy.ascontiguousarray(numpy.broadcast_to(each, shape).transpose(kept + axes)) for each in inputs]
        results = [_contiguous(each) for each in outputs]
        threads = min(_THREADS, 1 << max(5, (columns - 1).bit_length()))
        if rows > 0:
            self._run(self._text(types), [*made, *results, columns, rows], min(rows, 1 << 20), threads, ())
        for target, source in zip(outputs, results):
            if target is not source:
                target[...] = source
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _text(self, types):
        of = {parameter: _c_type(types[parameter.type]) for parameter in (*self.in_params, *self.out_params)}
        declared = [f"{'const ' if parameter in self.in_params else ''}{name}* _{parameter.name}" for parameter, name in of.items()]
        inside = " ".join(f"const {of[each]}& {each.name} = _{each.name}[_row * _columns + _at];" for each in self.in_params)
        results = " ".join(f"{of[each]}& {each.name} = _{each.name}[_row];" for each in self.out_params)
        names = "".join(f"typedef {_c_type(dtype)} {name};\n" for name, dtype in types.items() if len(name) == 1)
        kind = self._type or of[self.out_params[0]]
        start = f"_value = _type_reduce({self._identity});" if self._identity not in (None, "") else ""
        return f"""{_HEAD}{names}{self._preamble}
typedef {kind} _type_reduce;
__device__ inline _type_reduce _joined(const _type_reduce a, const _type_reduce b) {{ return ({self._reduce}); }}
extern "C" __global__ void {self.name}({', '.join(declared)}, long long _columns, long long _rows) {{
  __shared__ alignas(16) unsigned char _memory[{_THREADS} * sizeof(_type_reduce)];
  __shared__ bool _has[{_THREADS}];
  _type_reduce* const _values = reinterpret_cast<_type_reduce*>(_memory);
  const CSize _in_ind{{_columns * _rows}}, _out_ind{{_rows}};
  for (ptrdiff_t _row = blockIdx.x; _row < _rows; _row += gridDim.x) {{
    bool _is_first = {'false' if start else 'true'};
    _type_reduce _value;
    {start}
    for (ptrdiff_t _at = threadIdx.x; _at < _columns; _at += blockDim.x) {{
      {inside}
      const _type_reduce _mapped = ({self._map});
      _value = _is_first ? _mapped : _joined(_value, _mapped);
      _is_first = false;
    }}
    if (!_is_first) _values[threadIdx.x] = _value;
    _has[threadIdx.x] = !_is_first;
    __syncthreads();
    for (unsigned _by = blockDim.x / 2; _by > 0; _by /= 2) {{
      if (threadIdx.x < _by && _has[threadIdx.x + _by])
        _values[threadIdx.x] = _joined(_values[threadIdx.x], _values[threadIdx.x + _by]);
      __syncthreads();
    }}
    if (threadIdx.x == 0) {{
      const _type_reduce a = _values[0];
      {results}
      {self._post};
    }}
    __syncthreads();
  }}
}}
"""
