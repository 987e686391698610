"""Extensions of PyTorch with CUDA code (load_inline, load, CUDAExtension), compiled by rung-nvcc for the virtual GPU."""

import os
import pathlib

from . import driver

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


def _add_prelude(extension):
    """For builds without ninja, which get all their options from the extension."""
    first = ["-include", str(_PRELUDE)]
    options = extension.extra_compile_args
    if isinstance(options, dict):
        for compiler in ("cxx", "nvcc"):
            options[compiler] = [*first, *options.get(compiler, [])]
    else:
        extension.extra_compile_args = [*first, *(options or [])]


def _order_objects(module):
    """Links the objects of CUDA sources last in builds without ninja, which sort sources by name."""
    build = module.BuildExtension.build_extensions

    def build_extensions(self):
        link = self.compiler.link_shared_object
        stems = {pathlib.Path(source).stem for extension in self.extensions for source in extension.sources
                 if module._is_cuda_file(source)}

        def link_in_order(objects, *args, **named):
            return link(sorted(objects, key=lambda made: pathlib.Path(made).stem in stems), *args, **named)

        self.compiler.link_shared_object = link_in_order
        build(self)

    module.BuildExtension.build_extensions = build_extensions


def prepare(module):
    """`module` is torch.utils.cpp_extension."""
    original = {name: getattr(module, name) for name in (
        "include_paths", "library_paths", "CUDAExtension", "_write_ninja_file", "_prepare_ldflags",
        "_write_ninja_file_and_compile_objects", "_join_cuda_home")}
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

    def compile_objects(sources, objects, *args, **named):
        original["_write_ninja_file_and_compile_objects"](sources, objects, *args, **named)
        # Both devices are the CPU, and of two kernels for it, PyTorch takes that of the object linked last.
        is_cuda = {made: module._is_cuda_file(source) for source, made in zip(sources, objects)}
        objects.sort(key=is_cuda.get)

    def prepare_ldflags(extra_ldflags, with_cuda, *args, **named):
        flags = original["_prepare_ldflags"](extra_ldflags, False, *args, **named)
        return [*flags, f"-L{_RUNTIME}", "-lcudart"] if with_cuda else flags

    def library_paths(device_type="cpu", *args, **named):
        paths = original["library_paths"]("cpu", *args, **named)
        return [*paths, str(_RUNTIME)] if device_type == "cuda" else paths

    def cuda_extension(*args, **named):
        extension = original["CUDAExtension"](*args, **named)
        extension.libraries = [each for each in extension.libraries if each not in ("c10_cuda", "torch_cuda")]
        _add_prelude(extension)
        return extension

    def join_cuda_home(*parts):
        return os.environ["PYTORCH_NVCC"] if parts == ("bin", "nvcc") else original["_join_cuda_home"](*parts)

    module.include_paths, module._write_ninja_file = include_paths, write_ninja_file
    module._prepare_ldflags, module.library_paths, module.CUDAExtension = prepare_ldflags, library_paths, cuda_extension
    module._write_ninja_file_and_compile_objects, module._join_cuda_home = compile_objects, join_cuda_home
    _order_objects(module)
    module._check_cuda_version = lambda compiler_name, compiler_version: None
    module._get_cuda_arch_flags = lambda cflags=None: ["-arch=sm_" + "".join(map(str, driver.capability()))]
