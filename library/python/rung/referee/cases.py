"""The calls of a judgement: shapes, inputs and the purpose of each, drawn from one seed."""

import dataclasses

import numpy as np

from . import distributions, literals, shapes
from .task import Task

_WORK = 1.5e7  # of one hidden case; the virtual GPU takes some 10 ms for it
_ORDERED_WORK = 1e6  # of a case in random orders, which run without machine code
_ORDERS = 6
# Other GPUs of the same architecture. A grid that waits for all of its blocks may not fit on the small one.
SMALL_DEVICE, _LARGE_DEVICE = ",multiprocessors=5,memory_bytes=17179869184", ",multiprocessors=228"
_MOST_AROUND = 40  # shapes around numbers of the candidate's text
_SKIPPED = (1000, 10_000, 1_000_000)  # calls that are not made: variables that count them are set as if they were
_REPEATS = 200  # of the smallest case: kernels may count their calls


@dataclasses.dataclass
class Case:
    """Inputs, and what a right candidate computes of them."""

    task: Task
    name: str
    sizes: dict
    distribution: str
    inputs: dict
    _expected: dict = None

    @property
    def expected(self):
        if self._expected is None:
            self._expected = self.task.expected(self.inputs, self.sizes, self.distribution)
        return self._expected

    def described(self):
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return f"{self.name} ({sizes}; {self.distribution})"


@dataclasses.dataclass
class Call:
    """One call of the candidate.

    Attributes
    ----------
    purpose : str
        "shape", or what a later call asks: "repeat", "edit", "permute", "return", "again", "independence", "graph",
        "overlap", "many", "later", "order", "device".
    offsets : dict of str to int
        Bytes from an aligned address to each array.
    about : str
        The input that an "independence" call has drawn again.
    reuses : bool
        The arrays have the addresses of the previous call.
    overlaps : bool
        The next call of a host function with a stream begins, on another stream, before anything waits for this one.
    threads : int
        CPU threads, among which the blocks are scheduled: one, so that verdicts are reproducible; 0 for all.
    order : int
        The seed of a random order of blocks, warps and operations; 0 for the usual order.
    skips, reaches : int
        Calls that a host function shall believe to have been made before, or the number of calls that it shall count.
    gpu : str
        Another virtual GPU than the task's, of its architecture; empty for the task's.
    """

    case: Case
    purpose: str
    offsets: dict
    about: str = ""
    reuses: bool = False
    overlaps: bool = False
    threads: int = 1
    order: int = 0
    gpu: str = ""
    skips: int = 0
    reaches: int = 0


def _draw(task, rng, sizes, distribution):
    made = {}
    inputs = [each for each in task.arrays if each.role == "in"]
    # Products of two precise numbers would be too long for exact sums.
    precise = int(rng.integers(len(inputs))) if distribution == "precise" and inputs else None
    for index, array in enumerate(inputs):
        below = sizes.get(array.below) if array.below else None
        name = "integers" if precise not in (None, index) else distribution
        made[array.name] = distributions.draw(name, rng, task.shape_of(array, sizes), array.dtype, below)
    return made


def drawn(task, rng, name, sizes, distribution):
    """A case with new inputs."""
    return Case(task, name, sizes, distribution, _draw(task, rng, sizes, distribution))


def _is_possible(task, sizes):
    least = [(extent, 0 if text in sizes else 1) for array in task.arrays if not callable(array.shape)
             for text, extent in zip(array.shape, task.shape_of(array, sizes))]  # n-k+1 is at least 1, n may be 0
    return all(extent >= at_least for extent, at_least in least) and all(
        sizes[array.below] > 0 for array in task.arrays if array.below)


def _offsets(task, rng, plain):
    """Every array starts where the task's alignment allows: at 256 bytes, or at an odd multiple of the alignment."""
    if plain or task.alignment >= 256:
        return {array.name: 0 for array in task.arrays}
    found = {}
    for array in task.arrays:
        step = max(task.alignment, distributions.numpy_dtype(array.dtype).itemsize)
        found[array.name] = step * (1 + 2 * int(rng.integers(0, 128 // step // 2 or 1)))
    return found


def _hidden_shapes(task, rng):
    limits = {**task.operation.sizes, **task.limits}
    smallest = {name: task.choices.get(name, [task.multiples.get(name, 1)])[0] for name in limits}
    found = shapes.hidden(rng, 3 * task.hidden, limits, task.zeros, task.multiples, task.choices, task.work, _WORK)
    found = [each for each in found if _is_possible(task, each)] or [smallest]
    return found[:task.hidden], _long_shapes(task, limits, smallest) if task.hidden else []


def _long_shapes(task, limits, smallest):
    """Each extent of a public, timed or claimed shape that is beyond the limits, or of the operation's long ones if the
    task has no limits, the others as small as they may be."""
    found = []
    for name, most in limits.items():
        longest = max((shape[name] for shape in [*task.public, *task.timed, *task.claims]), default=0)
        if not task.limits and name not in (*task.multiples, *task.choices):
            longest = max(longest, task.operation.long.get(name, 0))
        shape = {**smallest, name: longest}
        if longest > most and task.work(shape) <= _WORK and _is_possible(task, shape):
            found.append(shape)
    return found


def calls(task, seed, text=""):
    """Yields the calls of a judgement, in order. The same seed and text of a candidate give the same calls."""
    rng = np.random.default_rng([seed, 57])
    public = public_shapes(task)
    kinds = [each for each in task.distributions if each != "precise" or not task.tf32]
    made = []

    def new(label, sizes, distribution):
        made.append(drawn(task, rng, label, sizes, distribution))
        return made[-1]

    # All distributions on the first public shape, then one for each shape.
    for index, distribution in enumerate(kinds):
        yield Call(new("public 1", public[0], distribution), "shape", _offsets(task, rng, index == 0))
    for index, sizes in enumerate(public[1:], 2):
        yield Call(new(f"public {index}", sizes, kinds[index % len(kinds)]), "shape", _offsets(task, rng, index % 2))
    hidden, long = _hidden_shapes(task, rng)
    for index, sizes in enumerate(hidden + long, 1):
        yield Call(new(f"hidden {index}", sizes, kinds[(index - 1) % len(kinds)]), "shape",
                   _offsets(task, rng, index % 4 == 0))
    if "constant" in kinds:  # which a counter or an address has most often
        for sizes in long:
            yield Call(new("long", sizes, "constant"), "shape", _offsets(task, rng, True))
    yield from _around_numbers(task, np.random.default_rng([seed, 58]), text, public[0], made)
    yield from _history(task, rng, _sensitive(task, made, public[0]))
    yield from _many(task, rng, made)
    yield from _later(task, rng, made, literals.sizes_in(text))
    yield from _in_orders(task, rng, made)
    yield from _on_another(task, rng, made)


def _around_numbers(task, rng, text, public, made):
    """Shapes and values at the numbers of the candidate's text, where it may change its way."""
    limits = {**task.operation.sizes, **task.limits}
    found = []
    free = {name: most for name, most in limits.items() if name not in task.choices}
    for shape in literals.shapes_around(rng, literals.sizes_in(text), free):
        shape = {name: int(rng.choice(task.choices[name])) if name in task.choices else
                 max(1, shape[name] // task.multiples.get(name, 1)) * task.multiples.get(name, 1) for name in limits}
        if task.work(shape) <= _WORK and _is_possible(task, shape) and shape not in found:
            found.append(shape)
    for index, shape in enumerate(found[:_MOST_AROUND], 1):
        kind = task.distributions[index % len(task.distributions)]
        if task.operation.is_linear:  # where every term shows
            kind = next((each for each in task.distributions if each in distributions.EXACT), kind)
        made.append(drawn(task, rng, f"by the text {index}", shape, kind))
        yield Call(made[-1], "shape", _offsets(task, rng, index % 2))
    for value in literals.values_in(text, _most_value(task)):
        for way in (literals.around, literals.below):
            inputs = _draw(task, rng, public, task.distributions[0])
            for name, each in inputs.items():
                if each.dtype.kind not in "iu":
                    inputs[name] = way(rng, each.shape, value).astype(each.dtype)
            case = Case(task, "by the text", public, f"{way.__name__} {value:g}", inputs)
            yield Call(case, "shape", _offsets(task, rng, False))


def _most_value(task):
    """Operations that only move elements take any number; others are drawn no larger numbers elsewhere."""
    if "extreme" in task.distributions:
        return 6e4 if task.dtype == "float16" else 1e38
    return 60 if task.dtype in ("float16", "bfloat16") else 1e5


def public_shapes(task):
    """The task's public shapes; one of a quarter of the limits if it has none."""
    return [dict(each) for each in task.public] or [_default_public(task)]


def _default_public(task):
    sizes = {}
    for name, most in {**task.operation.sizes, **task.limits}.items():
        step = task.multiples.get(name, 1)
        sizes[name] = int(task.choices.get(name, [max(step, min(most, 1 << max(0, most.bit_length() - 2)) // step * step)])[0])
    return sizes


def _sensitive(task, made, sizes):
    """A case of the first public shape, with an exact result if there is one: there, one other element always shows."""
    cases = [each for each in made if each.sizes == sizes]
    return next((each for each in cases if task.operation.is_linear and each.distribution == "integers"), cases[0])


def _many(task, rng, made):
    """The smallest case, again and again."""
    case = min((each for each in made if min(each.sizes.values(), default=1) > 0), key=lambda each: task.work(each.sizes),
               default=None)
    for _ in range(_REPEATS if case is not None else 0):
        yield Call(case, "many", _offsets(task, rng, True))


def _later(task, rng, made, numbers):
    """The smallest case after many more calls, which a host function's counters then show."""
    case = min((each for each in made if min(each.sizes.values(), default=1) > 0), key=lambda each: task.work(each.sizes),
               default=None)
    if case is None:
        return
    for number in numbers:
        yield Call(case, "later", _offsets(task, rng, True), reaches=number)
        yield Call(case, "later", _offsets(task, rng, True))
    for skipped in _SKIPPED:
        yield Call(case, "later", _offsets(task, rng, True), skips=skipped)


def _in_orders(task, rng, made):
    """The largest case of a bounded size, in random orders of blocks, warps and operations."""
    case = max((each for each in made if task.work(each.sizes) <= _ORDERED_WORK), key=lambda each: task.work(each.sizes),
               default=None)
    for order in range(1, _ORDERS + 1 if case is not None else 1):
        yield Call(case, "order", _offsets(task, rng, True), order=order)


def _on_another(task, rng, made):
    """The largest case of a bounded size, on a GPU with few multiprocessors and little memory, and on one with many."""
    case = max((each for each in made if task.work(each.sizes) <= _WORK), key=lambda each: task.work(each.sizes), default=None)
    for other in (SMALL_DEVICE, _LARGE_DEVICE) if case is not None else ():
        yield Call(case, "device", _offsets(task, rng, True), gpu=task.gpu + other)


def _history(task, rng, case):
    """Calls that tell whether earlier ones matter, and whether each input does."""
    same = _offsets(task, rng, True)
    yield Call(case, "repeat", same)
    yield Call(case, "repeat", _offsets(task, rng, False), threads=0)
    # One element changes, at the same addresses: fingerprints of inputs miss it.
    edited = {name: each.copy() for name, each in case.inputs.items()}
    for array in task.arrays:
        if array.role == "in" and edited[array.name].size:
            flat = edited[array.name].reshape(-1)
            at = int(rng.integers(flat.size // 3, flat.size))
            flat[at] = _other(rng, flat, at, case.sizes.get(array.below) if array.below else None)
    yield Call(Case(task, "edited", case.sizes, case.distribution, edited), "edit", same, reuses=True)
    yield Call(case, "return", same, reuses=True)
    yield Call(case, "again", same, reuses=True)
    # Sums over all elements stay as they are.
    permuted = {name: rng.permutation(each.reshape(-1)).reshape(each.shape) for name, each in case.inputs.items()}
    yield Call(Case(task, "permuted", case.sizes, case.distribution, permuted), "permute", same, reuses=True)
    for array in task.arrays:
        if array.role == "in":
            fresh = _draw(task, rng, case.sizes, case.distribution)[array.name]
            other = Case(task, f"other {array.name}", case.sizes, case.distribution, {**case.inputs, array.name: fresh})
            yield Call(other, "independence", same, about=array.name)
    yield Call(drawn(task, rng, "replayed", case.sizes, case.distribution), "graph", same, reuses=True)
    yield Call(case, "overlap", same, overlaps=True)
    yield Call(drawn(task, rng, "overlapped", case.sizes, case.distribution), "overlap", _offsets(task, rng, False))


def _other(rng, flat, at, below):
    if flat.dtype.kind in "iu":
        return (int(flat[at]) + 1) % (below or 1 << 30)
    return -flat[at] if abs(float(flat[at])) > 0.5 else 1.5
