"""Values of a kernel's parameters, checked against its signature and turned into bytes."""

import ctypes
import json
import operator
import struct

# By the names of scalars that the server uses: NumPy's name, and the code of struct.
SCALARS = {"bool": ("bool", "?"), "char": ("int8", "b"), "uchar": ("uint8", "B"), "short": ("int16", "h"),
            "ushort": ("uint16", "H"), "int": ("int32", "i"), "uint": ("uint32", "I"), "long": ("int64", "q"),
            "ulong": ("uint64", "Q"), "half": ("float16", "e"), "bfloat": ("bfloat16", None), "float": ("float32", "f"),
            "double": ("float64", "d")}
_COMPLEX = {("float", 8): "complex64", ("double", 16): "complex128"}


def extents(name, value):
    """Three positive integers."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    try:
        whole = tuple(operator.index(each) for each in given)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer or a tuple of integers") from None
    if not 1 <= len(whole) <= 3 or any(not 0 < each < 1 << 31 for each in whole):
        raise ValueError(f"{name}: {value!r} is not 1 to 3 positive integers below 2**31")
    return whole + (1,) * (3 - len(whole))


def _array_of(value):
    """A NumPy array of the same memory; None if the value is not an array."""
    import numpy

    if isinstance(value, numpy.ndarray):
        return value
    if isinstance(value, (numpy.generic, str, bytes, int, float, dict, tuple, list)):
        return None
    if hasattr(value, "__dlpack__"):
        if hasattr(value, "detach") and "bfloat16" in str(getattr(value, "dtype", "")):  # PyTorch's
            import ml_dtypes
            return numpy.from_dlpack(value.detach().view(_torch_int16(value))).view(ml_dtypes.bfloat16)
        return numpy.from_dlpack(value.detach() if hasattr(value, "detach") else value)
    try:
        return numpy.asarray(memoryview(value))
    except TypeError:
        return None


def _torch_int16(value):
    import sys
    return sys.modules[type(value).__module__.partition(".")[0]].int16


def _is_sequence(value):
    return isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) > 0


def _leaves(values):
    """The numbers of nested sequences, in order."""
    return [each for value in values for each in (_leaves(value) if _is_sequence(value) else [value])]


class Parameter:
    """One parameter: `bind` turns a value into bytes."""

    def __init__(self, kernel, facts):
        self.kernel = kernel
        self.label, self.kind, self.type = facts["label"], facts["kind"], facts["type"]
        self.is_const, self.bytes, self.scalar, self.fields = (
            facts["const"], facts["bytes"], facts["scalar"], facts["fields"])
        self.is_optional = facts.get("optional", False)  # a function constant of Metal may leave it out
        # The pointers and textures within a struct, by the names of its fields.
        self.members = {name: Parameter(kernel, of) for name, of in facts.get("members", {}).items()}
        self.is_raw = self.type.startswith(".")  # of PTX, which names no types
        dtype, code = SCALARS.get(self.scalar, (None, None))
        self.dtype = dtype
        self.is_number = dtype is not None and len(self.fields) == 1
        self.pack = struct.Struct("=" + code).pack if code and self.is_number else None
        self.is_scalar = len(self.fields) == 1 or self.bytes == 0
        self.known = None  # a dtype that check() has accepted
        self.is_real = self.scalar in ("half", "bfloat", "float", "double")

    def fail(self, error, reason):
        raise error(f"{self.kernel}: {self.label} ({self.type}): {reason}")

    def number(self, value):
        """The bytes of a number."""
        if self.pack is not None and (type(value) in (int, float) or not self.is_real):
            try:
                return self.pack(value)
            except (struct.error, OverflowError, TypeError):
                pass
        if hasattr(value, "dtype") and getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):
            value = value.item()  # of NumPy
        if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
            self.fail(TypeError, f"expected a number, got {type(value).__name__}")
        return self.store(self.scalar, value)

    def store(self, scalar, value):
        dtype, code = SCALARS[scalar]
        if scalar == "bfloat":
            import ml_dtypes
            return ml_dtypes.bfloat16(value).tobytes()
        if scalar not in ("half", "float", "double") and not isinstance(value, bool):
            if isinstance(value, float) and not value.is_integer() or value != value:
                self.fail(TypeError, f"{value!r} is not an integer")
            value = int(value)
        try:
            return struct.pack("=" + code, value)
        except (struct.error, OverflowError):
            self.fail(ValueError, f"{value!r} does not fit {dtype}")

    def value(self, value):
        """The bytes of an argument that is passed by value."""
        if self.is_number and not isinstance(value, (dict, tuple, list, bytes, bytearray)):
            return self.number(value)
        if isinstance(value, dict):
            names = [name for name, _, _ in self.fields]
            given = self.named(value, names)
            if set(given) != set(names):
                self.fail(ValueError, f"expected the fields {', '.join(names)}; got {', '.join(map(str, given))}")
            return self.record([given[name] for name in names])
        if isinstance(value, (tuple, list)):
            return self.record(value)
        if isinstance(value, (bytes, bytearray)) or hasattr(value, "tobytes"):
            data = bytes(value) if isinstance(value, (bytes, bytearray)) else value.tobytes()
            if len(data) == self.bytes:
                return data
            self.fail(ValueError, f"expected {self.bytes} bytes, got {len(data)}")
        if isinstance(value, int) and self.is_raw:
            return (value & (1 << 8 * self.bytes) - 1).to_bytes(self.bytes, "little")
        what = "numpy.float32 or another scalar of its size" if self.is_raw else "a dict or a tuple of its fields"
        self.fail(TypeError, f"expected {what}, got {type(value).__name__}")

    def named(self, value, names, prefix=""):
        """The numbers of a dict by the names of fields: members that are structs, arrays or vectors are nested."""
        given = {}
        for name, each in value.items():
            name = f"{prefix}{name}"
            if name in self.members:
                given[name] = each
            elif isinstance(each, dict):
                given |= self.named(each, names, f"{name}.")
            elif _is_sequence(each):
                parts = [full for full in names if full.startswith((f"{name}[", f"{name}."))]
                numbers = list(each) if set(parts) & set(self.members) else _leaves(each)
                if len(numbers) != len(parts):
                    self.fail(ValueError, f"{name}: expected {len(parts)} numbers, got {len(numbers)}")
                given |= zip(parts, numbers)
            else:
                given[name] = each
        return given

    def without_arrays(self, value):
        """A struct's value with None for the arrays of its pointers, and those: (field, its Parameter, array)."""
        names = [name for name, _, _ in self.fields]
        if isinstance(value, dict):
            given = self.named(value, names)
        elif isinstance(value, (tuple, list)) and len(value) == len(names):
            given = dict(zip(names, value))
        else:
            return value, []
        arrays = []
        for field, name in enumerate(names):
            member = self.members.get(name)
            array = member.array(given[name]) if member and given.get(name) is not None else None
            if array is not None:
                arrays.append((field, member, array))
                given[name] = None
        return given, arrays

    def record(self, values):
        values = _leaves(values)
        if len(values) != len(self.fields):
            names = [name for name, _, _ in self.fields if name]
            if not names and len(self.fields) == 1:
                self.fail(ValueError, f"expected one number, got {len(values)}; pass a NumPy array of them")
            self.fail(ValueError, f"expected {len(self.fields)} numbers ({', '.join(names)}), got {len(values)}")
        data = bytearray(self.bytes)
        for value, (name, offset, scalar) in zip(values, self.fields):
            if scalar is None and value is not None:
                self.members[name].fail(TypeError, f"expected an array or None, got {type(value).__name__}")
            if scalar is not None:
                stored = self.store(scalar, value.item() if hasattr(value, "item") else value)
                data[offset:offset + len(stored)] = stored
        return bytes(data)

    def array(self, value):
        """The array of a pointer, checked; None if the value is not an array."""
        if self.kind not in ("buffer", "texture"):
            return None
        import numpy
        if type(value) is numpy.ndarray and value.dtype is self.known and value.flags.c_contiguous and (
                self.is_const or value.flags.writeable) and (self.is_scalar or value.nbytes % self.bytes == 0):
            return value
        try:
            array = _array_of(value)
        except (BufferError, ImportError, RuntimeError, TypeError) as error:
            self.fail(TypeError, f"no array on the CPU: {error}")
        if array is not None:
            self.check(array)
            self.known = array.dtype
        return array

    def writes(self, array):
        """True if the kernel may write the array."""
        return not self.is_const and array.flags.writeable

    def no_array(self, value):
        """JSON and bytes of a pointer's value that is not an array."""
        if self.kind == "threadgroup":
            return f'["threadgroup",{operator.index(value)}]', b""
        if self.kind == "sampler":
            if value is not None and not isinstance(value, str):
                self.fail(TypeError, f"expected properties of a sampler, such as 'linear,repeat'; got {type(value).__name__}")
            return f'["sampler",{json.dumps("nearest" if value is None else value)}]', b""
        if value is None:
            return '["null"]', b""
        if self.kind == "texture":
            self.fail(TypeError, f"expected an array, such as one of float32 with shape (height, width, 4),"
                                 f" got {type(value).__name__}")
        if self.is_raw:
            return '["value",8]', self.eight_bytes(value)
        if not self.is_const or not self.fields:
            self.fail(TypeError, f"expected an array, got {type(value).__name__}")
        data = self.value(value)
        return f'["buffer",{len(data)},[1],true,false,0]', data

    def eight_bytes(self, value):
        """The bytes of an integer or a scalar of NumPy, which PTX does not distinguish from pointers."""
        if isinstance(value, int):
            return (value & (1 << 64) - 1).to_bytes(8, "little")
        if hasattr(value, "tobytes") and value.nbytes == 8:
            return value.tobytes()
        self.fail(TypeError, f"expected an array or an integer of 64 bits, got {type(value).__name__}")

    def check(self, array):
        """Raises unless the array fits this pointer."""
        import numpy

        if isinstance(array, numpy.ma.MaskedArray):
            self.fail(TypeError, "a masked array; pass its data, as in x.filled(0)")
        if not array.flags.c_contiguous:
            self.fail(ValueError, f"the array is not C-contiguous: shape {array.shape}, strides {array.strides};"
                                  " pass numpy.ascontiguousarray of it")
        if not array.dtype.isnative:
            self.fail(TypeError, f"the array has dtype {array.dtype.str}, of another byte order")
        if array.dtype.hasobject:
            self.fail(TypeError, f"the array has dtype {array.dtype}, which is not numbers")
        if not self.is_const and not self.is_raw and not array.flags.writeable:
            self.fail(ValueError, "the array is read-only, and the kernel may write it; pass a copy, or make the"
                                  " parameter const")
        if self.kind == "texture":
            return  # the launch checks shape and dtype
        if self.dtype is not None and self.bytes > 0:
            wanted = [self.dtype]
            if (self.scalar, self.bytes) in _COMPLEX:
                wanted.append(_COMPLEX[self.scalar, self.bytes])
            same_bytes = array.dtype.itemsize == self.bytes and array.dtype.kind == "V"
            is_fp8 = self.bytes == 1 and "fp8" in self.type and array.dtype.itemsize == 1
            if self.dtype == "int8":  # char* is how kernels address bytes
                wanted.append("uint8")
            if array.dtype.name not in wanted and not same_bytes and not is_fp8:
                self.fail(TypeError, f"expected dtype {' or '.join(wanted)}, got {array.dtype.name};"
                                     f" pass an array of {wanted[0]}, such as x.astype('{wanted[0]}')")
        if self.bytes > 1 and array.nbytes % self.bytes:
            self.fail(ValueError, f"the array has {array.nbytes} bytes, no multiple of the {self.bytes} of an element")


class Signature:
    """The parameters of a kernel."""

    def __init__(self, kernel, parameters):
        self.kernel = kernel
        self.parameters = [Parameter(kernel, facts) for facts in parameters]

    def in_order(self, arguments, named):
        labels = [each.label for each in self.parameters]
        rest = labels[len(arguments):]
        for name in named:
            if name not in rest:
                known = "is given twice" if name in labels else f"is no parameter; it has {', '.join(labels)}"
                raise TypeError(f"{self.kernel}: {name} {known}")
        optional = {each.label for each in self.parameters if each.is_optional}
        missing = [name for name in rest if name not in named and name not in optional]
        if missing:
            raise TypeError(f"{self.kernel}: no value for {', '.join(missing)}")
        return (*arguments, *(named.get(name) for name in rest))

    def bind(self, arguments, poison):
        """The launch's values as JSON ("given" and "members"), their bytes, and the arrays that it writes."""
        parameters = self.parameters
        if len(arguments) != len(parameters):
            raise TypeError(f"{self.kernel}: expected {len(parameters)} arguments"
                            f" ({', '.join(f'{each.type} {each.label}' for each in parameters)}), got {len(arguments)}"
                            + "".join(f"; {each.label} has no value" for each in parameters[len(arguments):][:1]))
        values, arrays = [None] * len(parameters), []  # JSON and bytes of each; arrays with their parameters
        places = []  # parameter and field of each array in a struct
        for index, (parameter, value) in enumerate(zip(parameters, arguments)):
            if parameter.members:
                value, members = parameter.without_arrays(value)
                for field, member, array in members:
                    arrays.append((len(parameters) + len(places), member, array))
                    places.append(f"[{index},{field}]")
            array = None if parameter.kind == "value" or value is None else parameter.array(value)
            if array is not None:
                arrays.append((index, parameter, array))
            elif parameter.kind == "value":
                data = bytes(parameter.bytes) if value is None and parameter.is_optional else parameter.value(value)
                values[index] = f'["value",{len(data)}]', data
            else:
                values[index] = parameter.no_array(value)
        values += [None] * len(places)
        results = self._bind_arrays(arrays, values, self._poisoned(poison) if poison else ())
        given = f'"given":[{",".join([each[0] for each in values])}]'
        if places:
            given += f',"members":[{",".join(places)}]'
        return given, b"".join([each[1] for each in values]), results

    def _poisoned(self, poison):
        every = [of for each in self.parameters for of in (each, *each.members.values())]
        writable = [each.label for each in every if each.kind in ("buffer", "texture") and not each.is_const]
        if poison is True:
            return writable
        names = [poison] if isinstance(poison, str) else list(poison)
        for name in names:
            if name not in writable:
                raise ValueError(f"{self.kernel}: poison: '{name}' is no array that it may write; these are"
                                 f" {', '.join(writable) or 'none'}")
        return names

    @staticmethod
    def _bind_arrays(arrays, values, poisoned):
        arrays.sort(key=operator.itemgetter(0))
        results = []
        for group in _overlapping(arrays):
            index, parameter, array = group[0]
            texture = next((each for _, each, _ in group if each.kind == "texture"), None)
            if texture is not None and len(group) > 1:
                texture.fail(ValueError, f"shares memory with {next(each.label for _, each, _ in group if each is not texture)}"
                                         ", which textures cannot; pass a copy")
            memory = getattr(array, "memory", None)
            if memory is not None and len(group) == 1:  # rung.referee's, with a place in its allocation
                values[index] = (f'["buffer",{memory.nbytes},[],{"true" if array.is_written else "false"},true,'
                                 f'{array.offset},{"true" if array.is_read_only else "false"}]', memory)
                results.append(memory)
                continue
            is_written = any(each.writes(of) for _, each, of in group)
            offset, shape = 0, ",".join(map(str, array.shape))
            has_value = "true"
            if len(group) == 1:
                if parameter.label in poisoned:
                    has_value = "false"
            else:
                begin = min(of.ctypes.data for _, _, of in group)
                end = max(of.ctypes.data + of.nbytes for _, _, of in group)
                offset, shape = array.ctypes.data - begin, ""
                for other, _, of in group[1:]:
                    values[other] = f'["alias",{index},{of.ctypes.data - begin}]', b""
                array = _memory(begin, end - begin)
            dtype = f',"{array.dtype.str}"' if texture is not None else ""
            values[index] = (f'["{parameter.kind}",{array.nbytes},[{shape}],{has_value},'
                             f'{"true" if is_written else "false"},{offset}{dtype}]', array)
            if is_written:
                results.append(array)
        return results


def _memory(address, size):
    import numpy
    return numpy.frombuffer((ctypes.c_char * size).from_address(address), numpy.uint8)


def _overlapping(arrays):
    """Groups of arrays that share memory, each in the order of the parameters, ordered by their first ones."""
    alone = [[each] for each in arrays]
    if len({id(array) for _, _, array in arrays if array.base is None}) == len(arrays):
        return alone  # all own their memory
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes, item[0], item)
                   for item in arrays for array in item[2:])
    groups, end = [], -1
    for begin, stop, _, item in spans:
        if begin < end and stop > begin:
            groups[-1].append(item)
        else:
            groups.append([item])
        end = max(end, stop)
    for group in groups:
        group.sort(key=operator.itemgetter(0))
    return sorted(groups, key=lambda group: group[0][0])
