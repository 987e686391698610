"""Metal kernels on arrays, run by the virtual GPU: a Kernel class, and the interfaces of MLX and PyTorch.

>>> import numpy as np, rung.metal
>>> double = rung.metal.Kernel('''
... #include <metal_stdlib>
... kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }''')
>>> x = np.arange(5, dtype=np.float32)
>>> double(x, grid=5, group=5).hazards
[]
>>> x
array([0., 2., 4., 6., 8.], dtype=float32)
"""

from . import _kernel

__all__ = ["Kernel", "compile_shader", "metal_kernel"]


class Kernel(_kernel.Kernel):
    """rung.Kernel for Metal text: the grid is in threads, as dispatchThreads takes it, unless `groups` gives it.

    Positions such as [[thread_position_in_grid]] are no arguments. A threadgroup parameter takes its bytes. A
    reference takes a number, or a dict or tuple of a struct's fields; the fields of an argument buffer that are pointers
    or textures take arrays.

    A texture takes an array of (width,), (height, width) or (depth, height, width), with the elements of an array or the
    faces of a cube first, and 1 to 4 components as an optional last axis: float32, float16 or float64, or uint8 for the
    range 0 to 1, for textures of float and half; integers of at most 32 bits for the others. Components that it lacks are
    0, and 1 for the fourth. A texture that the kernel writes updates the array; shorter integers saturate. A sampler takes
    its properties by Metal's names, such as "linear,repeat"; None or "nearest" is the default.
    """

    _language = "metal"


class compile_shader:
    """The interface of torch.mps.compile_shader: kernels are attributes, functions of arrays and numbers.

    Parameters of a call: `threads`, by default one for each element of the first array, and `group_size`.

    >>> import numpy as np, rung.metal
    >>> library = rung.metal.compile_shader('''
    ... kernel void fill(device float* out, constant float& value, uint i [[thread_position_in_grid]]) {
    ...   out[i] = value;
    ... }''')
    >>> out = np.zeros(3, np.float32)
    >>> library.fill(out, 1.5).ok, out
    (True, array([1.5, 1.5, 1.5], dtype=float32))
    """

    def __init__(self, source):
        self._source = source

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        kernel = Kernel(self._source, name)

        def launch(*arguments, threads=None, group_size=None, **options):
            if threads is None:
                threads = next(_size(each) for each in arguments if hasattr(each, "shape"))
            return kernel(*arguments, grid=threads, group=group_size or _usual_group(threads), **options)

        setattr(self, name, launch)
        return launch


def _size(array):
    size = 1
    for extent in array.shape:
        size *= extent
    return size


def _usual_group(threads):
    first = threads[0] if isinstance(threads, (tuple, list)) else threads
    return min(max(first, 1), 256)


# The positions that a function's text may use, as in MLX, with their types.
_POSITIONS = {"dispatch_quadgroups_per_threadgroup": "uint", "dispatch_simdgroups_per_threadgroup": "uint",
              "dispatch_threads_per_threadgroup": "uint3", "grid_origin": "uint3", "grid_size": "uint3",
              "quadgroup_index_in_threadgroup": "uint", "quadgroups_per_threadgroup": "uint",
              "simdgroup_index_in_threadgroup": "uint", "simdgroups_per_threadgroup": "uint",
              "thread_execution_width": "uint", "thread_index_in_quadgroup": "uint", "thread_index_in_simdgroup": "uint",
              "thread_index_in_threadgroup": "uint", "thread_position_in_grid": "uint3",
              "thread_position_in_threadgroup": "uint3", "threadgroup_position_in_grid": "uint3",
              "threadgroups_per_grid": "uint3", "threads_per_grid": "uint3", "threads_per_simdgroup": "uint",
              "threads_per_threadgroup": "uint3"}
_TYPES = {"bool": "bool", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int",
          "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half", "bfloat16": "bfloat",
          "float32": "float"}


def metal_kernel(name, input_names, output_names, source, header="", ensure_row_contiguous=True, atomic_outputs=False):
    """The interface of mx.fast.metal_kernel: `source` is the body of a function, whose signature follows from a call.

    Parameters
    ----------
    name : str
    input_names, output_names : list of str
    source : str
        The function's body. It may use positions such as thread_position_in_grid, and NAME_shape, NAME_strides (in
        elements) and NAME_ndim of an input.
    header : str
        Text before the function.
    ensure_row_contiguous : bool
        Copy inputs that are not.
    atomic_outputs : bool
        Outputs are of type device atomic<T>*.

    Returns
    -------
    function(inputs, output_shapes, output_dtypes, grid, threadgroup, template=(), init_value=None)
        Returns the list of outputs. Without init_value they have no value, and reading them is a hazard.

    Examples
    --------
    >>> import numpy as np, rung.metal
    >>> square = rung.metal.metal_kernel("square", ["x"], ["y"],
    ...     "uint i = thread_position_in_grid.x; y[i] = T(x[i] * x[i]);")
    >>> square(inputs=[np.arange(4, dtype=np.float32)], template=[("T", np.float32)], output_shapes=[(4,)],
    ...        output_dtypes=[np.float32], grid=(4, 1, 1), threadgroup=(4, 1, 1))
    [array([0., 1., 4., 9.], dtype=float32)]
    """
    import re

    import numpy

    compiled = {}

    def type_of(dtype):
        # MLX prints its dtypes as mlx.core.float32, PyTorch as torch.float32.
        try:
            text = numpy.dtype(dtype).name
        except TypeError:
            text = str(dtype).rpartition(".")[2]
        if text not in _TYPES:
            raise TypeError(f"{name}: dtype {text} has no type in Metal")
        return text

    def text_of(inputs, output_types, template):
        used = set(re.findall(r"\w+", source))
        parameters, facts = [], []
        for each, array in zip(input_names, inputs):
            space = "constant" if array.size < 8 else "device"
            reference = "&" if array.ndim == 0 else "*"
            parameters.append(f"const {space} {_TYPES[type_of(array.dtype)]}{reference} {each}")
            strides = [stride // array.itemsize for stride in array.strides]
            for fact, type_, value in (("shape", "const constant int*", numpy.array(array.shape, numpy.int32)),
                                       ("strides", "const constant long*", numpy.array(strides, numpy.int64)),
                                       ("ndim", "const constant int&", array.ndim)):
                if f"{each}_{fact}" in used and array.ndim > 0:
                    parameters.append(f"{type_} {each}_{fact}")
                    facts.append((len(parameters) - 1, value))
        for each, dtype in zip(output_names, output_types):
            kind = f"atomic<{_TYPES[dtype]}>" if atomic_outputs else _TYPES[dtype]
            parameters.append(f"device {kind}* {each}")
        parameters += [f"{type_} {each} [[{each}]]" for each, type_ in _POSITIONS.items() if each in used]
        constants = "".join(_template_text(each, value, type_of) for each, value in template)
        signature = ",\n    ".join(parameters)
        return (f"#include <metal_stdlib>\nusing namespace metal;\n{header}\n"
                f"kernel void {name}(\n    {signature}) {{\n{constants}{source}\n}}\n"), facts

    def call(*, inputs, output_shapes, output_dtypes, grid, threadgroup, template=(), init_value=None, stream=None,
             verbose=False, **options):
        arrays = [numpy.asarray(each) for each in inputs]
        if ensure_row_contiguous:
            arrays = [each if each.ndim == 0 else numpy.ascontiguousarray(each) for each in arrays]
        types = [type_of(each) for each in output_dtypes]
        text, facts = text_of(arrays, types, template or ())
        if verbose:
            print(text)
        if text not in compiled:
            compiled[text] = Kernel(text, name)
        made = numpy.empty if init_value is None else lambda *at: numpy.full(*at[:1], init_value, dtype=at[1])
        outputs = [made(shape, _numpy_dtype(dtype)) for shape, dtype in zip(output_shapes, types)]
        arguments = [each[()] if each.ndim == 0 else each for each in arrays]
        for at, value in facts:
            arguments.insert(at, value)
        compiled[text](*arguments, *outputs, grid=tuple(grid), group=_within(threadgroup, grid),
                       poison=init_value is None, **options)
        return outputs

    return call


def _within(threadgroup, grid):
    """MLX clips a threadgroup to the grid."""
    return tuple(min(each, all_of) for each, all_of in zip(threadgroup, grid))


def _numpy_dtype(name):
    import numpy

    if name == "bfloat16":
        import ml_dtypes
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name)


def _template_text(name, value, type_of):
    if isinstance(value, bool):
        return f"constexpr bool {name} = {str(value).lower()};\n"
    if isinstance(value, int):
        return f"constexpr int {name} = {value};\n"
    return f"using {name} = {_TYPES[type_of(value)]};\n"
