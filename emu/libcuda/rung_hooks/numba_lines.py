"""Numba's kernels with line tables, so that hazards name the Python line."""

import functools


def prepare(module):
    """`module` is numba.cuda.decorators."""
    jit = module.jit

    @functools.wraps(jit)
    def with_lines(*args, **named):
        if not named.get("debug") and not module.config.CUDA_DEBUGINFO_DEFAULT:
            named.setdefault("lineinfo", True)
        named.setdefault("lto", False)  # link-time optimization drops the tables
        return jit(*args, **named)

    module.jit = with_lines
