"""Extensions of PyTorch with CUDA code (load_inline, load), compiled by rung-nvcc for the virtual GPU."""

import functools
import gc
import os
import pathlib
import sys

from . import driver, torch_tensors

_FOLDER = pathlib.Path(os.path.abspath(__file__)).parent
_RUNTIME = _FOLDER.parent.parent  # libcudart.so and the headers
_PRELUDE = _FOLDER / "torch_extension.hpp"
# The prelude has what extensions use of these; PyTorch's own need its libraries for NVIDIA's GPUs.
_REPLACED = ("c10/cuda/CUDAException.h", "c10/cuda/CUDAFunctions.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAMacros.h",
             "c10/cuda/CUDAStream.h", "ATen/cuda/CUDAContext.h", "ATen/cuda/CUDAContextLight.h", "ATen/cuda/Exceptions.h",
             "ATen/cuda/CUDAGuard.h")


def _write_replaced(root):
    folder = pathlib.Path(root) / "rung"
    for name in _REPLACED:
        header = folder / name
        if not header.exists():
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text("#pragma once\n")
    return str(folder)


def _with_registered_tensors(function, torch):
    """A function of an extension. Memory of other libraries (torch.from_numpy) does not come from PyTorch's allocator."""

    @functools.wraps(function)
    def call(*args, **named):
        for each in (*args, *named.values()):
            if isinstance(each, torch.Tensor):
                torch_tensors.register(each)
        return function(*args, **named)

    return call


def prepare(module):
    """`module` is torch.utils.cpp_extension."""
    import torch

    original = {name: getattr(module, name) for name in (
        "include_paths", "_write_ninja_file", "_prepare_ldflags", "_import_module_from_library")}
    module.CUDA_HOME = str(_RUNTIME)

    def include_paths(device_type="cpu", *args, **named):
        paths = original["include_paths"]("cpu", *args, **named)
        root = module.get_default_build_root()
        return [_write_replaced(root), str(_RUNTIME / "include"), *paths] if device_type == "cuda" else paths

    def write_ninja_file(path, cflags, post_cflags, cuda_cflags, *args, **named):
        if cuda_cflags:
            first = ["-include", str(_PRELUDE)]
            cflags, cuda_cflags = [*first, *cflags], [*first, *cuda_cflags]
        return original["_write_ninja_file"](path, cflags, post_cflags, cuda_cflags, *args, **named)

    def prepare_ldflags(extra_ldflags, with_cuda, *args, **named):
        flags = original["_prepare_ldflags"](extra_ldflags, False, *args, **named)
        return [*flags, f"-L{_RUNTIME}", "-lcudart"] if with_cuda else flags

    def import_module(*args, **named):
        # PyTorch makes NVIDIA's runtime visible to all libraries; the extension's own comes first.
        flags = sys.getdlopenflags()
        sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
        try:
            loaded = original["_import_module_from_library"](*args, **named)
        finally:
            sys.setdlopenflags(flags)
        for tensor in gc.get_objects():
            if issubclass(type(tensor), torch.Tensor):
                torch_tensors.register(tensor)
        for name, value in list(getattr(loaded, "__dict__", {}).items()):
            if callable(value) and not isinstance(value, type) and not name.startswith("__"):
                setattr(loaded, name, _with_registered_tensors(value, torch))
        return loaded

    module.include_paths, module._write_ninja_file = include_paths, write_ninja_file
    module._prepare_ldflags, module._import_module_from_library = prepare_ldflags, import_module
    module._get_cuda_arch_flags = lambda cflags=None: ["-arch=sm_" + "".join(map(str, driver.capability()))]
