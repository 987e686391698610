"""Symbols that a host function which launches kernels may use, and those that it must not define."""

import ctypes
import functools
import re

# Mangled names are of the standard library, but for threads, files, clocks and randomness.
_PLAIN = re.compile(r"cuda[A-Z]\w*|__cuda\w*|cu[A-Z]\w*|nv\w*|_Z\w*|__(?:cxa|gxx|gcc|dso)_\w*|_Unwind_\w*|__stack_chk_fail|"
                    r"_GLOBAL_OFFSET_TABLE_|__(?:start|stop)_rung_\w+|rung_emu_locate|rung_emu_is_missing\w*|__errno_location|__assert_fail|__once_proxy|__tls_get_addr|"
                    r"mem(?:cpy|move|set|cmp|chr)|str(?:n?len|n?cmp|n?cpy|n?cat|r?chr|str|dup|error|to\w+)|ato[ifl]l?|"
                    r"v?(?:f|s|sn)?printf|__v?(?:f|s|sn)?printf_chk|__(?:mem|str)\w+_chk|f?put[cs]|putchar|fwrite|fflush|perror|"
                    r"std(?:err|out)|[mc]alloc|realloc|free|aligned_alloc|posix_memalign|abort|exit|_Exit|qsort|bsearch|l?l?abs|"
                    r"l?l?div|atexit|pthread_(?:mutex|once|rwlock)\w*|__pthread_key_create|"
                    r"(?:a?(?:sin|cos|tan)h?|atan2|sincos|exp(?:2|10|m1)?|log(?:2|10|1p|b)?|pow|sqrt|cbrt|hypot|erfc?|[lt]gamma|"
                    r"ceil|floor|trunc|l{0,2}round|l{0,2}rint|nearbyint|fabs|fmod|remainder|copysign|nextafter|fdim|fma|fmax|"
                    r"fmin|ldexp|scalbl?n|ilogb|frexp|modf)[fl]?")
_PARTS = ("St6thread", "St5async", "basic_ifstream", "basic_ofstream", "basic_fstream", "basic_filebuf", "filesystem",
          "St6chrono", "random_device", "St13_Fwd_", "this_thread")
_NOT_PLAIN = ("cudaLaunchHostFunc", "cudaStreamAddCallback", "cudaHostRegister", "cuLaunchHostFunc", "cuStreamAddCallback",
              "cuMemHostRegister", "cuMemHostRegister_v2", "cudaDeviceReset", "cuDevicePrimaryCtxReset",
              "cuDevicePrimaryCtxReset_v2", "cudaGetDriverEntryPoint", "cuGetProcAddress", "cuGetProcAddress_v2")


@functools.cache
def _libraries():
    found = []
    for name in ("libc.so.6", "libstdc++.so.6"):
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            pass  # of another system
    return found


def _has(library, name):
    try:
        return bool(getattr(library, name))
    except AttributeError:
        return False


def is_plain(name):
    """True if a host function may call it."""
    if name in _NOT_PLAIN or any(part in name for part in _PARTS):
        return False
    return _PLAIN.fullmatch(name) is not None


def is_of_system(name):
    """True if the system's libraries or CUDA's define it; not instances of templates."""
    if re.match(r"cuda[A-Z]|__cuda[A-Z]|cu[A-Z]|rung_|_Zn[wa]|_Zd[la]|main$", name):
        return True
    return not name.startswith("_Z") and any(_has(each, name) for each in _libraries())
