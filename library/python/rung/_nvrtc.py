"""NVIDIA's runtime compiler of the PyPI package nvidia-cuda-nvrtc, for kernels where no clang is installed."""

import ctypes
import functools
import glob
import os
import re

from ._kernel_arguments import SCALARS
from ._kernel_server import CompileError

# Types of C++ by the names of scalars; vectors such as float4 are made of the plain ones.
_TYPES = {"bool": "bool", "char": "char", "signed char": "char", "int8_t": "char", "unsigned char": "uchar",
          "uint8_t": "uchar", "short": "short", "int16_t": "short", "unsigned short": "ushort", "uint16_t": "ushort",
          "int": "int", "int32_t": "int", "unsigned": "uint", "unsigned int": "uint", "uint32_t": "uint", "long": "long",
          "long long": "long", "int64_t": "long", "unsigned long": "ulong", "unsigned long long": "ulong",
          "size_t": "ulong", "uint64_t": "ulong", "half": "half", "__half": "half", "__nv_bfloat16": "bfloat",
          "float": "float", "double": "double"}
_BYTES = {"bool": 1, "char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2, "int": 4, "uint": 4,
          "float": 4, "long": 8, "ulong": 8, "double": 8}


@functools.cache
def _library():
    """The library, and the folders of CUDA's headers beside it; None if it is not installed."""
    try:
        import nvidia
    except ImportError:
        return None
    for folder in nvidia.__path__:
        for path in sorted(glob.glob(os.path.join(folder, "*", "lib", "libnvrtc.so.*")), reverse=True):
            return ctypes.CDLL(path), glob.glob(os.path.join(folder, "*", "include"))
    return None


def compile(text, file, kernel, options, arch):
    """PTX of this text, and the kernel's symbol there; None if NVRTC is not installed.

    `kernel` may be a template with its arguments. `arch` is a compute capability, times ten.
    """
    found = _library()
    if found is None:
        return None
    library, folders = found
    program, name = ctypes.c_void_p(), kernel.encode()
    words = [f"-arch=compute_{arch}{'a' if arch >= 90 else ''}", "-lineinfo", *options, *(f"-I{each}" for each in folders)]
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), file.encode(), 0, None, None)
    try:
        if kernel:
            library.nvrtcAddNameExpression(program, name)
        given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        if library.nvrtcCompileProgram(program, len(words), given) != 0:
            error = CompileError(_of_nvrtc(library, "ProgramLog", program).strip())
            line = re.search(r"\((\d+)\): (?:catastrophic )?error", str(error))
            error.line = int(line[1]) if line else None
            raise error
        symbol = ctypes.c_char_p()
        if kernel and library.nvrtcGetLoweredName(program, name, ctypes.byref(symbol)) != 0:
            raise ValueError(f"{file} has no kernel '{kernel}'")
        return _of_nvrtc(library, "PTX", program), (symbol.value or b"").decode()
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _of_nvrtc(library, what, program):
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, text)
    return text.value.decode()


def names(text, kernel):
    """The names of a kernel's parameters in the source; empty if one has none."""
    found = [name for _, name in _declaration(text, kernel)]
    return found if all(found) else []


def name_parameters(parameters, text, kernel):
    """Adds the names and types of the source's declaration to parameters of PTX, which has neither. Types that are not
    fundamental stay as PTX has them."""
    declared = _declaration(text, kernel)
    if len(declared) != len(parameters):
        return
    for facts, (type_of, name) in zip(parameters, declared):
        facts["label"] = name or facts["label"]
        is_pointer = type_of.endswith("*")
        words = type_of.rstrip("* ").split()
        is_const = "const" in words
        base = " ".join(word for word in words if word not in ("const", "volatile"))
        if is_pointer != (facts["kind"] == "buffer"):
            if is_pointer or facts["bytes"] != 0:  # an integer of 64 bits is no buffer
                continue
        scalar, count = _scalar_of(base)
        if scalar is None or type_of.count("*") > 1:
            if is_pointer:
                facts["const"] = is_const
            continue
        size = _BYTES[scalar]
        facts.update(kind="buffer" if is_pointer else "value", type=type_of, const=is_pointer and is_const,
                     bytes=size * count, scalar=scalar,
                     fields=[["xyzw"[i] if count > 1 else "", i * size, scalar] for i in range(count)])


def _scalar_of(base):
    """The scalar of a type, and how many it has; None for others."""
    if base in _TYPES:
        return _TYPES[base], 1
    vector = re.fullmatch(r"(u?(?:char|short|int|long)|float|double)([1-4])", base)
    return (vector[1], int(vector[2])) if vector and vector[1] in SCALARS else (None, 0)


def _declaration(text, kernel):
    """The types and names of a kernel's parameters, as [("const float*", "x")]."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    base = re.escape(kernel.partition("<")[0].rpartition("::")[2]) if kernel else r"\w+"
    found = re.search(rf"(?:template\s*<([^>]*)>\s*)?(?:extern\s*\"C\"\s*)?\b__global__\b[^;{{}}]*?\b{base}\s*\(([^()]*)\)", text)
    if found is None:
        return []
    names = [re.sub(r"\s*=.*", "", each).split()[-1] for each in (found[1] or "").split(",") if each.strip()]
    values = [each.strip() for each in kernel.partition("<")[2].rpartition(">")[0].split(",")] if names else []
    meanings = dict(zip(names, values))
    declared = []
    for each in filter(str.strip, found[2].split(",")):
        each = re.sub(r"\b__restrict__\b|\b__restrict\b|\b__grid_constant__\b", " ", each).replace("*", " * ")
        *words, name = each.split()
        if not re.fullmatch(r"\w+", name):
            words, name = [*words, name], ""
        declared.append((" ".join(meanings.get(word, word) for word in words).replace(" *", "*"), name))
    return declared
