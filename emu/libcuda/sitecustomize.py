"""Prepares every Python that `rung python` starts for the virtual GPU.

Python imports this module before the program. When the program imports Numba's CUDA target, Triton or PyTorch, a module
of the folder `rung_hooks` prepares it. `import cupy` is rung.cupy, if the package rung is installed: CuPy itself needs
NVIDIA's driver.
"""

import importlib.machinery
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_HOOKS = {"numba.cuda.cudadrv.driver": "numba_linker", "numba.cuda.decorators": "numba_lines",
          "triton.backends.nvidia.driver": "triton_driver", "torch": "torch_tensors",
          "torch.utils.cpp_extension": "torch_extensions"}


class _Loader:
    """Loads a module as its own loader does, then calls a hook with it."""

    def __init__(self, loader, hook):
        self._loader, self._hook = loader, hook

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        importlib.import_module(f"rung_hooks.{self._hook}").prepare(module)


class _OtherModule:
    """Loads a module under another name."""

    def __init__(self, module):
        self._module = module

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if not hasattr(self._module, "__path__"):
            self._module.__path__ = []  # its parts can be imported
        sys.modules[module.__name__] = self._module  # which the import then returns


def _cupy_spec(name):
    """rung.cupy or a part of it; None if there is no such part or no package rung."""
    if importlib.util.find_spec("rung") is None:
        return None
    found = importlib.import_module("rung.cupy")
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found and importlib.util.spec_from_loader(name, _OtherModule(found), is_package=True)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "cupy":
            return _cupy_spec(name)
        hook = _HOOKS.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Finder else finder.find_spec(name, path, target)
            if spec is not None:
                spec.loader = _Loader(spec.loader, hook)
                return spec
        return None


def _run_hidden():
    """The sitecustomize of the system, which this one hides."""
    path = [each for each in sys.path if os.path.abspath(each) != _FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _Finder)
_run_hidden()
