"""The cell magics %%cuda and %%metal, which %load_ext rung adds to a notebook."""

import shlex

from . import metal
from ._kernel import CompileError, Kernel

_KERNELS = {"cuda": Kernel, "metal": metal.Kernel}
_OPTIONS = ("gpu", "std")


def define(shell, language, line, cell):
    """Compiles a cell. Each kernel that the line names, or the only one, becomes a variable of its name."""
    names, options = [], {}
    words = shlex.split(line)
    while words:
        word = words.pop(0)
        name, _, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            names.append(word)
        elif name not in _OPTIONS or not (value or words):
            from IPython.core.error import UsageError
            raise UsageError(f"%%{language}: '{word}' is no option with a value; expected names of kernels, --gpu GPU or"
                             " --std STANDARD")
        else:
            options[name] = value or words.pop(0)
    for name in names or [""]:
        try:
            kernel = _KERNELS[language](cell, name, **options)
        except CompileError as error:
            from IPython.core.error import UsageError
            raise UsageError(str(error)) from None  # without the lines of Python that led to it
        shell.user_ns[kernel.name.partition("<")[0].rpartition("::")[2]] = kernel
        print(kernel)


def load_ipython_extension(shell):
    """%load_ext rung"""
    for language in _KERNELS:
        shell.register_magic_function(
            lambda line, cell, language=language: define(shell, language, line, cell), "cell", language)
