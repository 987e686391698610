"""The pytest plugin: the fixture `gpu`, and limits for the counters of a test's kernels.

def test_copy(gpu):                       # fails if a kernel of the test has a hazard, also with on_hazard="report"
    ...

@rung.budget(global_load_sectors=128, bank_conflicts=0)
def test_counters(gpu):                   # fails if the sum over the test's launches is larger
    ...

Counters are properties of the test in --junit-xml. With `pytest --rung-schedules N`, each test under the fixture runs again
in N random orders of blocks, warps and operations.
"""

import pytest


class Launches:
    """The value of the fixture `gpu`: the runs of the test so far, and rung.Kernel."""

    def __init__(self):
        from . import _kernel

        self.Kernel = _kernel.Kernel
        self.runs = []

    def counters(self):
        """The sum of each counter over the runs."""
        total = {}
        for run in self.runs:
            for name, value in run.counters.items():
                total[name] = total.get(name, 0) + value
        return total

    def _see(self, kernel, run):
        self.runs.append(run)


def budget(**limits):
    """Limits the counters of a test's launches, by their names in rung.Run.counters: the sums may not be larger."""
    return pytest.mark.rung_budget(**limits)


@pytest.fixture
def gpu(request):
    """The virtual GPU: a test under it fails on hazards of any kernel that it launches."""
    from . import _kernel

    launches = Launches()
    _kernel._observers.append(launches._see)
    _kernel._order = getattr(request, "param", 0)
    request.node._rung_launches = launches
    yield launches
    _kernel._order = 0
    _kernel._observers.remove(launches._see)


def pytest_addoption(parser):
    parser.addoption("--rung-schedules", type=int, default=0, metavar="N",
                     help="run each test with the fixture gpu in N random orders, too (default: 0)")


def pytest_generate_tests(metafunc):
    count = metafunc.config.getoption("rung_schedules")
    if count > 0 and "gpu" in metafunc.fixturenames:
        metafunc.parametrize("gpu", range(count + 1), indirect=True, ids=lambda order: f"order{order}" if order else "usual")


def pytest_configure(config):
    config.addinivalue_line("markers", "rung_budget(**limits): the most that counters of the test's kernels may reach")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    limits = {}
    for mark in reversed(list(pyfuncitem.iter_markers("rung_budget"))):
        limits.update(mark.kwargs)
    if limits and "gpu" not in pyfuncitem.fixturenames:
        pytest.fail("rung.budget: the test does not use the fixture gpu", pytrace=False)
    result = yield
    launches = getattr(pyfuncitem, "_rung_launches", None)
    if launches is None:
        return result
    counters = launches.counters()
    pyfuncitem.user_properties += [(f"rung.{name}", value) for name, value in counters.items() if value]
    for run in launches.runs:
        if not run.ok:
            pytest.fail("\n".join(each["message"] for each in run.hazards), pytrace=False)
    if _order_of(pyfuncitem) == 0:  # waiting loops take other counts in other orders
        _check(limits, counters, launches.runs)
    return result


def _order_of(test):
    callspec = getattr(test, "callspec", None)
    return callspec.params.get("gpu", 0) if callspec is not None else 0


def _check(limits, counters, runs):
    if limits and not runs:
        pytest.fail("rung.budget: the test launches no kernel", pytrace=False)
    for name, most in limits.items():
        if name not in counters:
            pytest.fail(f"rung.budget: no counter '{name}'; they are {', '.join(sorted(counters))}", pytrace=False)
        if counters[name] > most:
            pytest.fail(f"rung.budget: {name} is {counters[name]}, more than {most}{_hottest(name, runs)}", pytrace=False)


def _hottest(name, runs):
    """The line with most of the counter's kind."""
    column = next((each for each in ("global_sectors", "shared_wavefronts", "instructions")
                   if each.partition("_")[0] in name), "shared_wavefronts" if "conflicts" in name else None)
    lines = [line for run in runs for line in run.lines]
    if column is None or not lines:
        return ""
    most = max(lines, key=lambda line: line[column])
    return f"; {most['line']} has {most[column]} {column.replace('_', ' ')}: {most['text'].strip()}"
