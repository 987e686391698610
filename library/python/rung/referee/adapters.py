"""Tasks from files of public benchmarks, which are read where the user has them.

A host function `solve` or `solution` with the parameters of LeetGPU or Tensara needs no adapter: its arrays and sizes are
matched by name, or by position.
"""

import ast
import inspect
import os
import types

from .operations import Array
from .task import Task, TaskError, own_operation


def gpu_mode(path, operation, sizes, **options):
    """The task of a task.yml of GPU MODE's reference-kernels.

    Parameters
    ----------
    path : str
    operation : str or Operation
        What reference.py computes; it is not run, since it makes tensors on a GPU.
    sizes : dict of str to str
        The operation's sizes by the file's names, as {"size": "n"}.
    **options
        Other fields of Task.
    """
    try:
        import yaml
    except ImportError:
        raise TaskError("a task.yml needs PyYAML in this Python; pip install pyyaml") from None
    with open(path, encoding="utf-8") as file:
        facts = yaml.safe_load(file)
    task = Task(operation, **options)
    public = []
    for test in facts.get("tests") or []:
        missing = [name for name in sizes if name not in test]
        if missing:
            raise TaskError(f"{path}: a test has no '{missing[0]}'; it has {', '.join(test)}")
        public.append({ours: int(test[theirs]) for theirs, ours in sizes.items()})
    most = {name: 4 * value for name, value in {**task.operation.sizes, **task.limits}.items()}
    task.public = [each for each in public if all(each[name] <= most[name] for name in each)]
    if public and not task.public:
        raise TaskError(f"{path}: all tests are larger than {most}; set limits")
    return task


def kernelbench(path, **options):
    """The task of a problem file of KernelBench: a Model, get_inputs() and get_init_inputs(), which need PyTorch.

    Integers at the file's top level are the sizes; hidden shapes are drawn for those that inputs depend on. The arrays
    are those of forward(), by name, then the parameters of the model, then "out"; the reference is the model in float64.
    """
    try:
        import torch
    except ImportError:
        raise TaskError("a KernelBench problem needs PyTorch in this Python; pip install torch") from None
    module = _module(path)
    for name in ("Model", "get_inputs"):
        if not hasattr(module, name):
            raise TaskError(f"{path}: has no {name}")
    problem = _Problem(module, torch)
    sizes = {name: min(value, 64) for name, value in problem.sizes.items()}
    arrays = [Array(name, "in", problem.shapes(name)) for name in problem.names]
    arrays.append(Array("out", "out", problem.shapes("out")))
    operation = own_operation(problem.reference, arrays, sizes, " * ".join(problem.sizes) or "1")
    return Task(operation, **{"limits": sizes, "hidden": 10, **options})


def _module(path, sizes=None):
    """The module of a problem file, with other integers for some names at its top level. The file may compute shapes of
    them."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = (sizes or {}).get(node.targets[0].id)
            if value is not None and isinstance(node.value, ast.Constant):
                node.value = ast.copy_location(ast.Constant(value), node.value)
    module = types.ModuleType("rung_referee_problem")
    module.__file__ = os.path.abspath(path)
    exec(compile(tree, path, "exec"), vars(module))
    return module


class _Problem:
    """A problem file whose sizes can be changed."""

    def __init__(self, module, torch):
        self.module, self.torch = module, torch
        numbers = {name: value for name, value in vars(module).items()
                   if type(value) is int and not name.startswith("_") and value > 0}
        self.sizes = dict(numbers)
        self.known = {}
        small = self._at({name: min(value, 8) for name, value in numbers.items()})
        # A number that changes no shape, such as a flag or a kernel's width, keeps its value.
        for name in numbers:
            try:
                if self._at({**{each: min(value, 8) for each, value in numbers.items()}, name: 3})[1] == small[1]:
                    del self.sizes[name]
            except Exception:  # the model refuses this value
                del self.sizes[name]
        self.fixed = {name: value for name, value in numbers.items() if name not in self.sizes}
        self.names = [name for name in small[1] if name != "out"]

    def _at(self, sizes):
        """(model in float64, shapes by name) for these sizes."""
        key = tuple(sizes.items())
        if key not in self.known:
            module = _module(self.module.__file__, sizes)
            vars(module).update(sizes)  # also those that the file computes
            inputs = module.get_inputs()
            start = getattr(module, "get_init_inputs", list)()
            model = module.Model(*start).double().eval()
            names = list(inspect.signature(model.forward).parameters)[:len(inputs)]
            if not all(hasattr(each, "shape") and each.is_floating_point() for each in inputs):
                raise TaskError("the referee takes problems whose inputs are floating-point tensors")
            shapes = {name: tuple(each.shape) for name, each in zip(names, inputs)}
            with self.torch.no_grad():
                out = model(*(each.double() for each in inputs))
            shapes.update({name.replace(".", "_"): tuple(each.shape) for name, each in model.named_parameters()})
            shapes["out"] = tuple(out.shape)
            self.known[key] = model, shapes, names
        return self.known[key]

    def shapes(self, name):
        return lambda sizes: self._at({**self.fixed, **sizes})[1][name]

    def reference(self, **values):
        sizes = {name: values.pop(name) for name in self.sizes}
        model, _, names = self._at({**self.fixed, **sizes})
        tensor = self.torch.from_numpy
        with self.torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(tensor(values[name.replace(".", "_")]))
            return model(*(tensor(values[name]) for name in names)).numpy()
