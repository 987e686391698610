"""Judges a candidate: runs all calls, applies all rules."""

from .. import _kernel
from . import cheats
from .cases import SMALL_DEVICE, calls
from .candidate import CandidateError, read
from .checks import MOST_RATIO, Finding, check
from .expressions import ExpressionError
from .roofline import floor_seconds
from .run_function import FunctionRunner
from .run_kernels import KernelRunner
from .task import Task, from_table
from .task import read as read_task
from .verdict import Verdict

_MOST_FAILURES = 5  # calls that fail before a judgement ends


def judge(candidate, task, *, seed=1, quick=False, timing=True):
    """Judges a kernel that somebody or something else wrote, on the virtual GPU, and times it on a GPU if there is one.

    Parameters
    ----------
    candidate : str, os.PathLike or callable
        The text or path of CUDA C++, Metal or PTX, with launch lines in comments (`rung.referee.candidate`) or with the
        task's host function; or a function of the arrays and sizes by name, which launches rung.Kernel objects.
    task : rung.referee.Task, dict, or path of a TOML file
    seed : int
        Draws the hidden shapes and all inputs. The same seed gives the same verdict.
    quick : bool
        Ends at the first call that fails.
    timing : bool
        Whether to time a candidate with launch lines that is right. Times differ from run to run.

    Returns
    -------
    rung.referee.Verdict

    Raises
    ------
    rung.referee.TaskError
        For a task that cannot be judged.
    rung.UnavailableError
        Without clang 19 or the command line's program.
    """
    task = task if isinstance(task, Task) else from_table(task) if isinstance(task, dict) else read_task(task)
    facts = _facts(candidate, task, seed)
    try:
        runner, text = _runner(candidate, task)
    except (_kernel.CompileError, ValueError) as error:  # also a kernel that the text has not
        return _unfit(facts, error)
    if text is not None:
        facts["candidate"] = {"name": text.name, "sha256": text.digest, "kind": runner.kind}
    try:
        verdict = _judged(runner, text, task, facts, seed, quick)
        return _timed(verdict, runner, text, task, seed) if timing and verdict.verdict == "right" else verdict
    except (CandidateError, ExpressionError) as error:
        return _unfit(facts, error)
    finally:
        runner.close()


def _timed(verdict, runner, text, task, seed):
    """The verdict with times on a GPU."""
    from . import timing

    facts = verdict.facts
    if timing.first_gpu() is None:
        return verdict
    if runner.kind != "kernels" or text.language == "metal":
        facts["timing"]["reason"] = "only launch lines of CUDA and PTX are timed"
        return verdict
    device, times, findings = timing.measure(text, task, seed)
    facts["timing"] = device
    facts["times"] += times
    findings = _once([*verdict.findings, *findings])
    return Verdict(_verdict(findings), findings, facts)


def _unfit(facts, error):
    rule = "compile" if isinstance(error, _kernel.CompileError) else "launch"
    return Verdict("unfit", [Finding(rule, "wrong", str(error).strip())], facts)


def _runner(candidate, task):
    if callable(candidate):
        return FunctionRunner(candidate, task), None
    text = read(candidate, task.launch)
    if text.steps:
        return KernelRunner(text, task), text
    from .run_program import ProgramRunner
    return ProgramRunner(text, task), text


def _judged(runner, text, task, facts, seed, quick):
    findings = []
    if text is not None:
        findings = cheats.forbidden(text, task, getattr(runner, "symbols", ()), runner.device_code)
    if not findings and runner.kind == "program":
        findings = cheats.host_tricks(runner.symbols, runner.defined, runner.function.names, text.text)
    if findings and runner.kind == "program":  # which may not even link
        return Verdict("cheating", findings, facts)
    results, worst, failed = [], 0.0, 0
    for call, seen in runner.run(calls(task, seed, text.text if text is not None else "")):
        if call.order and seen.is_undecided:
            continue
        if call.gpu.endswith(SMALL_DEVICE) and (seen.is_undecided or seen.error is not None):
            continue  # such as a grid's barrier of more blocks than that GPU has room for
        found, ratio = check(call, seen)
        worst = max(worst, ratio)
        results.append((call, seen, not found))
        findings += found
        failed += bool(found)
        if failed >= (1 if quick else _MOST_FAILURES) and call.purpose == "shape":
            break
    findings += cheats.history(results)
    findings += cheats.work(task, results, runner.kind != "kernels" or text.language == "metal")
    findings += getattr(runner, "findings", [])
    facts["times"], accused = _times(task, results)
    findings += accused
    facts["calls"].update(run=len(results), right=sum(is_right for _, _, is_right in results),
                          public_shapes=_shapes(results, "public"), hidden_shapes=_shapes(results, "hidden"))
    facts["worst_error_ratio"] = float(f"{worst:.4g}")
    findings = _once(findings)
    return Verdict(_verdict(findings), findings, facts)


def _verdict(findings):
    kinds = {each.severity for each in findings}
    return "cheating" if "cheat" in kinds else "wrong" if "wrong" in kinds else "right"


def _shapes(results, label):
    return len({tuple(call.case.sizes.items()) for call, _, _ in results if call.case.name.startswith(label)})


def _once(findings):
    """Accusations first, and each rule with its first three findings."""
    count, kept = {}, []
    for each in sorted(findings, key=lambda each: ("cheat", "wrong", "note").index(each.severity)):
        count[each.rule] = count.get(each.rule, 0) + 1
        if count[each.rule] <= 3:
            kept.append(each)
    return kept


def _facts(candidate, task, seed):
    from .. import __version__
    name = getattr(candidate, "__name__", "candidate") if callable(candidate) else "candidate"
    return {"candidate": {"name": name, "sha256": None, "kind": "function"},
            "task": {"operation": task.operation.name, "dtype": task.dtype, "gpu": task.gpu,
                     "distributions": list(task.distributions)},
            "seed": seed, "rung": __version__,
            "calls": {"run": 0, "right": 0, "public_shapes": 0, "hidden_shapes": 0},
            "worst_error_ratio": MOST_RATIO, "times": [],
            "timing": {"device": None, "reason": "none was at hand"}}


def _times(task, results):
    """Predicted times of the largest case, and claimed times, with what they are accused of."""
    times, findings = [], []
    largest = max((each for each in results if each[2] and each[1].run is not None and each[1].launches == 1),
                  key=lambda each: task.work(each[0].case.sizes), default=None)  # the first of several
    if largest is not None and not getattr(largest[1].run.kernel, "is_metal", True):
        call, seen, _ = largest
        seconds = seen.run.predicted(task.gpu)
        times.append(_time(task, call.case.sizes, seconds, task.gpu, "predicted"))
        findings += cheats.too_fast(task, call.case.sizes, seconds, task.gpu, "predicted", call.case.described())
    for claim in task.claims:
        sizes = {name: claim[name] for name in task.operation.sizes}
        gpu = claim.get("gpu", task.gpu)
        times.append(_time(task, sizes, claim["seconds"], gpu, "claimed"))
        findings += cheats.too_fast(task, sizes, claim["seconds"], gpu, "claimed", times[-1]["shape"])
    return times, findings


def _time(task, sizes, seconds, gpu, source):
    return {"shape": ", ".join(f"{name}={value}" for name, value in sizes.items()), "source": source, "gpu": gpu,
            "seconds": float(f"{seconds:.6g}"), "floor_seconds": floor_seconds(task, sizes, gpu)[0]}
