"""Rules that tell a candidate that computes nothing from one that is wrong.

- constant: two cases of one shape have other expected results, and the same bits.
- independent: the output does not change with an input that it depends on.
- caching: a call gives the results of an earlier one, or takes less work because an earlier one had its inputs.
- work: fewer bytes are loaded than the inputs have, or none of the work grows with the size.
- forbidden: text or symbols of vendor libraries.
- host-trick: symbols that a kernel's host function has no use for, or that replace those of the system.
- identity: asks for the name of its GPU or the version of its driver, by which it may know its judge.
- clock: reads a clock, by which a result may depend on the time.
- too-fast: a predicted or claimed time is below the roofline's floor.
"""

import re

import numpy as np

from . import host_symbols
from .candidate import code_of, without_comments
from .checks import Finding
from .roofline import floor_seconds

_KEPT_IN_CACHES = 65536  # bytes: constant memory, which is not counted as loads
_MOST_READ_BACK = 4096  # bytes of inputs from which on copies to the host are compared with them; a flag may be read

LIBRARIES = ("cublas", "cudnn", "cusolver", "cusparse", "cufft", "curand", "nvrtc", "thrust::", "cub::", "cutlass",
             "torch::", "at::", "MPSMatrix", "MPSNDArray", "rung::", "rung_gemm", "rung_dot")
# Text by which kernels and host functions read a clock.
_CLOCKS = r"\bclock(?:64)?\s*\(|globaltimer|%clock|\bsteady_clock\b|\bsystem_clock\b|\bhigh_resolution_clock\b"
# Data among instructions, by which a host function makes system calls that no symbol shows.
_HIDDEN = r"(?<!\w)(?:__)?asm(?:__)?\b[^;]*\"[^\"]*(?:\.byte|\.word|\.short|\.long|\.quad|\.incbin|\bsyscall\b)"
# By these a host function tells one GPU or driver from another. It may ask for counts, limits and sizes.
_IDENTITY = (r"\bcudaDeviceProp\b(?=[\s\S]*(?:\.|->)\s*(?:name|uuid|luid|pci(?:Bus|Device|Domain)ID)\b)|"
             r"\bcudaDevAttrPci\w+|\bcu(?:da)?(?:Device(?:GetName|GetUuid|GetLuid|GetPCIBusId|GetByPCIBusId)|"
             r"DriverGetVersion|RuntimeGetVersion)|(?<!\w)(?:rung_|RUNG_)\w+")
_MUCH_LESS = 0.9  # of the instructions of another call of the same shape
_LEAKING_CALLS = 50


def history(results):
    """Findings from all calls: `results` has (call, seen, is_right) in order."""
    found = _constant(results) + _caching(results) + _remembering(results) + _leaking(results)
    return found + ([] if found else _independent(results))


def _bits(seen):
    return b"".join(seen.outputs[name].tobytes() for name in sorted(seen.outputs))


def _differ(case, other):
    """True if the expected results of two cases of one shape differ beyond their bounds."""
    for name, (value, bound) in case.expected.items():
        value2, bound2 = other.expected[name]
        with np.errstate(all="ignore"):
            if value.shape == value2.shape and (np.abs(value - value2) > 2 * (bound + bound2)).any():
                return True
    return False


def _remembering(results):
    """Calls whose inputs were seen before take fewer instructions than those with other inputs of the shape. One thread
    runs all blocks, so that numbers of instructions are those of the candidate."""
    counts = {}
    for call, seen, is_right in results:
        if is_right and call.threads == 1 and call.purpose in ("return", "again", "repeat", "edit", "permute", "independence"):
            counts.setdefault(call.purpose, []).append(
                (seen.counters.get("thread_instructions", 0), call.case.described()))
    if "return" not in counts or "again" not in counts:
        return []
    fresh = [each for name in ("edit", "permute", "independence") for each in counts.get(name, [])]
    known = [counts["return"][0], counts["again"][0], *counts.get("repeat", [])]
    again, before = counts["again"][0], counts["return"][0]
    if fresh and max(known)[0] < _MUCH_LESS * min(fresh)[0]:
        again, before = max(known), min(fresh)
    elif again[0] >= _MUCH_LESS * before[0]:
        return []
    return [Finding("caching", "cheat", f"inputs that an earlier call had take {again[0]} instructions of threads, others of"
                                        f" the shape {before[0]}", again[1])]


def _leaking(results):
    """Each of the last calls of one case leaves more device memory allocated, or more streams, events and graphs."""
    last = [seen for call, seen, _ in results if call.purpose == "many"][-_LEAKING_CALLS - 1:]
    for counts, what in (([seen.device_bytes for seen in last], "bytes of device memory allocated"),
                         ([seen.live_objects for seen in last], "streams, events or graphs behind")):
        grown = [after - before for before, after in zip(counts, counts[1:])]
        if len(grown) >= _LEAKING_CALLS and min(grown) > 0:
            return [Finding("leak", "wrong", f"each call leaves {min(grown)} {what}")]
    return []


def _has_result(seen):
    return seen.error is None and any(each.size for each in seen.outputs.values())


def _constant(results):
    by_shape = {}
    for call, seen, is_right in results:
        key = tuple(call.case.sizes.values())
        for other, bits, was_right in by_shape.get(key, []):
            if not (is_right and was_right) and call.purpose == other.purpose == "shape" and _has_result(seen) and (
                    bits == _bits(seen) and _differ(call.case, other.case)):
                return [Finding("constant", "cheat", f"the output has the same bits as for {other.case.described()},"
                                                     " whose inputs and results are others", call.case.described())]
        if _has_result(seen) and call.purpose == "shape":
            by_shape.setdefault(key, []).append((call, _bits(seen), is_right))
    return []


def _caching(results):
    """A call has the bits of the previous call's case, and that is wrong; or it is wrong only when it is repeated."""
    for (before, earlier, was_right), (call, seen, is_right) in zip(results, results[1:]):
        if is_right or not was_right or not _has_result(seen) or not _has_result(earlier):
            continue
        if call.purpose in ("edit", "permute", "graph", "return") and (
                _bits(seen) == _bits(earlier) and _differ(call.case, before.case)):
            how = {"edit": "one element of each input has changed", "permute": "the elements of each input are in another order",
                   "graph": "a replayed graph has new inputs",
                   "return": "the inputs are others again"}[call.purpose]
            return [Finding("caching", "cheat", f"the output is that of the previous call, although {how}",
                            call.case.described())]
    first = {}
    for call, seen, is_right in results:
        if call.purpose in ("repeat", "return", "many", "later") and not is_right and first.get(id(call.case)):
            return [Finding("state", "wrong", "a call is right at first, and wrong with the same inputs later",
                            f"{call.case.described()}, {call.purpose}")]
        first.setdefault(id(call.case), is_right)
    return []


def _independent(results):
    base = next((each for each in results if each[0].purpose == "repeat"), None)
    for call, seen, is_right in results:
        if call.purpose == "independence" and base is not None and not is_right and _has_result(seen) and (
                _has_result(base[1]) and _bits(seen) == _bits(base[1]) and _differ(call.case, base[0].case)):
            return [Finding("independent", "cheat", f"the output does not depend on {call.about}", call.case.described())]
    return []


def work(task, results, grants_constant_memory):
    """Findings from counters: each byte of an input is loaded at least once. Outputs may be filled without a kernel."""
    for call, seen, is_right in results:
        if call.purpose == "overlap" or seen.launches < 0:
            continue  # whose launches may count for the other, or are not known
        sizes, where = call.case.sizes, call.case.described()
        if not is_right or min(sizes.values(), default=1) < 1:
            continue
        if seen.launches == 0 and task.operation.name != "copy":
            return [Finding("work", "cheat", "no kernel is launched, but the results are right: the host computes them", where)]
        if call.case.distribution in ("sparse", "constant"):
            continue  # kernels may skip what a zero multiplies, and load a constant once
        read = seen.host_bytes
        everything = sum(each.nbytes for each in call.case.inputs.values())
        if everything >= _MOST_READ_BACK and 2 * read > everything:
            return [Finding("work", "cheat", f"{read} bytes could reach the host, by copies or in its own memory, and the"
                                             f" inputs have {everything}: the host computes the results", where)]
        count = seen.counters
        loaded = 32 * (count["global_load_sectors"] + count["bulk_load_sectors"]) + 16 * count["global_atomics"]
        granted = _KEPT_IN_CACHES if grants_constant_memory else 0
        wanted = sum(each.nbytes for each in call.case.inputs.values()) - granted
        if loaded < 0.99 * wanted:
            return [Finding("work", "cheat", f"the kernels load {loaded} bytes, and the inputs have at least {wanted} that"
                                             " no constant memory holds: the results come from elsewhere", where)]
    return _growth(task, results)


def _growth(task, results):
    """Compares the instructions of the smallest and the largest case."""
    counted = [(task.work(call.case.sizes), seen, call) for call, seen, is_right in results
               if call.purpose == "shape" and is_right and seen.error is None]
    if len(counted) < 2:
        return []
    small, large = min(counted, key=lambda each: each[0]), max(counted, key=lambda each: each[0])
    if large[0] < 64 * max(1, small[0]):
        return []
    few, many = (each[1].counters.get("thread_instructions", 0) for each in (small, large))
    # A tile is the least that a kernel does, so a small case may do the work of 128 x 128 x 16 elements.
    if many * 8 < large[0] / 1024 or many == few == 0:
        return [Finding("work", "cheat", f"{large[0]} operations take {many} instructions of threads, and {small[0]} take"
                                         f" {few}: the work does not grow with the size", large[2].case.described())]
    return []


def forbidden(candidate, task, symbols=(), device_code=""):
    """Findings from the text, from the symbols that a compiled host program needs, and from PTX."""
    code = code_of(candidate.text)
    for name in [*([] if task.libraries else LIBRARIES), *task.forbid]:
        is_symbol = any(name.lower() in each.lower() for each in symbols)
        if is_symbol or re.search(r"(?<!\w)" + _spelled(name), code, re.IGNORECASE):
            return [Finding("forbidden", "cheat", f"uses {name.rstrip(':_')}, which the task forbids")]
    text = re.sub(r"(?<!\\)\"\s*\"", "", without_comments(candidate.text))  # adjacent literals are one
    if re.search(_CLOCKS, text) or re.search(r"%clock|%globaltimer", device_code):
        return [Finding("clock", "cheat", "reads a clock, by which its results may depend on the time")]
    if re.search(_HIDDEN, text):
        return [Finding("host-trick", "cheat", "has bytes as instructions, by which a host function calls the kernel")]
    if found := re.search(_IDENTITY, code):
        return [Finding("identity", "cheat", f"asks which GPU or driver runs it ({found[0]}), by which it may know its judge")]
    if re.search(r"\b__builtin_(?:frame|return)_address\b", code):
        return [Finding("host-trick", "cheat", "looks for its caller's memory")]
    if re.search(r"__attribute__\s*\(\(\s*(?:constructor|destructor|ifunc)", code):
        return [Finding("host-trick", "cheat", "has code that runs before the task calls it")]
    return []


def _spelled(name):
    """A pattern of a name; a namespace may also be imported or have an alias."""
    if not name.endswith("::"):
        return re.escape(name)
    space = re.escape(name[:-2])
    return rf"(?:{space}\s*::|(?:using\s+namespace|namespace\s+\w+\s*=)\s*(?:::\s*)?{space}\b)"


def host_tricks(symbols, defined, own, text=""):
    """Findings from what a compiled host function needs from elsewhere, and defines for others beyond `own`."""
    reached = [each for each in symbols if not host_symbols.is_plain(each) and not _encodes_tensor_maps(text, each)]
    if reached:
        return [Finding("host-trick", "cheat", f"calls {min(reached)}, for which a host function that launches kernels has no use")]
    replaced = [each for each in defined if each not in own and host_symbols.is_of_system(each)]
    if replaced:
        return [Finding("host-trick", "cheat", f"defines {min(replaced)}, which replaces that of the system")]
    return []


def _encodes_tensor_maps(text, symbol):
    """True if the text looks up nothing but the functions that make descriptors of TMA."""
    name = re.match(r"cudaGetDriverEntryPoint(?:ByVersion)?", symbol)
    calls = re.findall(r"\bcudaGetDriverEntryPoint\w*\s*\(\s*(\"cuTensorMap\w+\")?", without_comments(text))
    return name is not None and bool(calls) and all(calls)


def too_fast(task, sizes, seconds, gpu, source, described):
    """A time below the roofline's floor, as a list of findings."""
    floor, why = floor_seconds(task, sizes, gpu)
    if floor is None or seconds >= 0.8 * floor:
        return []
    return [Finding("too-fast", "cheat", f"the {source} time of {seconds * 1e6:.3g} us is below {floor * 1e6:.3g} us, the"
                                         f" least of {gpu} for {why}", described)]


