"""Checks of one call: results within their bounds, inputs unchanged, nothing else written."""

import dataclasses

import numpy as np

MOST_RATIO = 1e30  # of an error and its bound, in verdicts


@dataclasses.dataclass(frozen=True)
class Finding:
    """A rule that a candidate breaks.

    Attributes
    ----------
    rule : str
        A stable name, such as "race", "results", "caching".
    severity : str
        "cheat", "wrong" or "note".
    message : str
    case : str
        Of the call.
    """

    rule: str
    severity: str
    message: str
    case: str = ""


def _failures(got, value, bound, keeps_signs):
    """Elements that are wrong, and the largest |error| / bound of the finite ones. `keeps_signs`: also of zeros."""
    got = got.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(got - value)
        is_finite = np.isfinite(value)
        same = np.where(np.isnan(value), np.isnan(got), got == value)
        right = np.where(is_finite, error <= bound, same)
        if keeps_signs:
            right &= (np.signbit(got) == np.signbit(value)) | np.isnan(value)
        ratio = np.where(error == 0, 0.0, error / np.maximum(bound, 1e-300))
        ratio = np.where(np.isnan(ratio), MOST_RATIO, ratio)[is_finite]
    return ~right, float(min(MOST_RATIO, ratio.max())) if ratio.size else 0.0


def _element(name, at):
    return f"{name}[{', '.join(map(str, at))}]"


def _is_poison(array):
    """Elements whose bytes still have the pattern of unwritten memory."""
    if array.size == 0:
        return np.zeros(array.shape, bool)
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(array.shape + (-1,))
    return (raw == 0xFF).all(axis=-1)


def check(call, seen):
    """(findings, worst ratio of error and bound) of one call."""
    where = call.case.described() + ("" if call.purpose == "shape" else f", on {call.gpu}" if call.gpu else f", {call.purpose}")
    if seen.error is not None:
        return [Finding("failed", "wrong", seen.error, where)], MOST_RATIO
    found = [Finding(_hazard_rule(each), "wrong", each, where) for each in seen.hazards[:3]]
    for name in seen.broken_guards:
        found.append(Finding("out-of-bounds", "wrong", f"writes before the start of {name}", where))
    if seen.changes_state:
        found.append(Finding("state", "wrong", "changes limits of the device, the cache policy of its stream, or the rounding"
                                               " mode of its process", where))
    if seen.by_host is not None:
        found.append(Finding("work", "cheat", f"{seen.by_host} has elements that no kernel has written: the host computes"
                                              " them", where))
    for name, before in call.case.inputs.items():
        if seen.inputs[name].tobytes() != before.tobytes():
            at = np.argwhere(seen.inputs[name].view(np.uint8) != before.view(np.uint8))[0] if before.ndim else [0]
            size = before.dtype.itemsize
            at = [*at[:-1], at[-1] // size]
            found.append(Finding("input-changed", "wrong", f"changes its input {_element(name, at)}", where))
    worst = 0.0
    for name, (value, bound) in call.case.expected.items():
        got = seen.outputs[name]
        wrong, ratio = _failures(got, value, bound, call.case.task.operation.keeps_signs)
        worst = max(worst, ratio)
        if wrong.any():
            found.append(_explained(name, got, value, np.broadcast_to(bound, value.shape), wrong, where))
    return found, worst


def _explained(name, got, value, bound, wrong, where):
    missing = _is_poison(got) & wrong
    if missing.any():
        at = np.argwhere(missing)[0]
        return Finding("unwritten", "wrong", f"leaves {int(missing.sum())} of {got.size} elements of {name} unwritten,"
                                             f" first {_element(name, at)}", where)
    at = tuple(np.argwhere(wrong)[0])
    with np.errstate(all="ignore"):
        error = abs(float(got[at]) - value[at])
    return Finding("results", "wrong", f"{int(wrong.sum())} of {got.size} elements of {name} are wrong, first"
                                       f" {_element(name, at)} = {float(got[at]):.9g}, expected {value[at]:.9g} (error"
                                       f" {error:.3g}, bound {bound[at]:.3g})", where)


_HAZARD_RULES = (("read-only load", "race"), ("read-only", "input-changed"), ("constant memory", "input-changed"),
                 ("unordered operations", "unordered"), ("race", "race"), ("uninitialised", "uninitialised-read"),
                 ("out of bounds", "out-of-bounds"), ("out-of-bounds", "out-of-bounds"), ("misaligned", "misaligned"),
                 ("unaligned vector", "misaligned"),
                 ("barrier", "barrier"), ("after free", "out-of-bounds"), ("leak", "leak"), ("host", "host-access"))


def _hazard_rule(message):
    head = message[:120].lower()
    return next((rule for words, rule in _HAZARD_RULES if words in head), "hazard")
