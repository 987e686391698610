"""Tools around rung.Kernel: notebooks, the pytest plugin, documentation."""

import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import rung
import rung._kernel
import rung.metal
from kernel_texts import METAL, ORDERS, RACY, SAXPY, needs_clang

pytestmark = needs_clang


def test_display_in_a_notebook():
    """Counters, and the page with the stepper in a frame: escaped, small and without addresses of a network."""
    from html.parser import HTMLParser

    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.all = []

        def handle_starttag(self, tag, attributes):
            self.all.append((tag, dict(attributes)))

    def tags(html):
        parser = Tags()
        parser.feed(html)
        return parser.all

    text = SAXPY.replace("y[i]", "/* </iframe><script>alert(1)</script> */ y[i]", 1)
    x = np.ones(64, np.float32)
    run = rung.Kernel(text, "saxpy")[1, 64](1, x, x.copy(), 64)
    shown = run._repr_html_()
    assert "script" not in {tag for tag, _ in tags(shown)} and len(shown) < 400_000
    frame, = (attributes for tag, attributes in tags(shown) if tag == "iframe")
    assert frame["sandbox"] == "allow-scripts" and frame["srcdoc"] == run.page()
    assert "alert(1)" in frame["srcdoc"] and "<script>alert" not in frame["srcdoc"]
    assert not any(str(value).startswith(("http:", "https:", "//")) for tag, attributes in tags(run.page()) if tag != "a"
                   for name, value in attributes.items() if name in ("src", "href"))
    assert "saxpy.cu" in run.page() and "Steps of a warp" in run.page()


def test_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(f"""
import numpy as np, rung
K = rung.Kernel({SAXPY!r}, "saxpy")
R = rung.Kernel({RACY!r}, "reverse")
x = np.ones(256, np.float32)
def run(): return K[1, 256](1, x, x.copy(), 256)
def test_right(gpu): run()
@rung.budget(global_load_sectors=64, bank_conflicts=0)
def test_within(gpu): run()
@rung.budget(global_load_sectors=63)
def test_beyond(gpu): run()
@rung.budget(sectors=1)
def test_unknown(gpu): run()
@rung.budget(instructions=1)
def test_no_fixture(): run()
def test_hidden(gpu):
    R(np.zeros(64, np.float32), grid=1, block=64, on_hazard="report")
""")
    command = [sys.executable, "-m", "pytest", "-p", "rung.pytest_plugin", "-p", "no:cacheprovider", "-q", "-rA",
               "--junit-xml", tmp_path / "junit.xml", tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    outcomes = dict(reversed(pair) for pair in re.findall(r"^(PASSED|FAILED) test_it.py::(\w+)", said, re.MULTILINE))
    assert outcomes == {"test_right": "PASSED", "test_within": "PASSED", "test_beyond": "FAILED",
                        "test_unknown": "FAILED", "test_no_fixture": "FAILED", "test_hidden": "FAILED"}
    assert "global_load_sectors is 64, more than 63; saxpy.cu:4" in said and "no counter 'sectors'" in said
    assert '"rung.global_load_sectors" value="64"' in (tmp_path / "junit.xml").read_text()


def test_pytest_plugin_in_random_orders(tmp_path):
    (tmp_path / "test_it.py").write_text(f"""
import numpy as np, rung
K = rung.Kernel({ORDERS!r}, "first")
run = K[16, 32]
def order():
    found = np.zeros(16, np.uint32)
    run(np.zeros(1, np.uint32), found)
    return found
def test_any(gpu): assert sorted(order()) == list(range(16))
def test_usual(gpu): assert sorted(order())[0] == 0 and order()[0] == 0
def test_without(): order()
""")
    command = [sys.executable, "-m", "pytest", "-p", "rung.pytest_plugin", "-p", "no:cacheprovider", "-q", "-rA",
               "--rung-schedules", "3", tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    outcomes = dict(reversed(pair) for pair in re.findall(r"^(PASSED|FAILED) test_it.py::(\S+)", said, re.MULTILINE))
    orders = ["usual", "order1", "order2", "order3"]
    assert {name for name in outcomes if "any" in name or "without" in name} == {
        "test_without", *(f"test_any[{each}]" for each in orders)}
    assert outcomes["test_usual[usual]"] == "PASSED"
    assert {each for name, each in outcomes.items() if "any" in name} == {"PASSED"}
    assert "FAILED" in {each for name, each in outcomes.items() if "test_usual[order" in name}


class Shell:
    """The part of IPython that %load_ext needs."""

    def __init__(self):
        self.magics, self.user_ns = {}, {}

    def register_magic_function(self, function, kind, name):
        assert kind == "cell"
        self.magics[name] = function


def test_cells_of_notebooks():
    shell = Shell()
    rung.load_ipython_extension(shell)
    shell.magics["cuda"]("", ORDERS)
    assert shell.user_ns["first"].signature == ["uint* turn", "uint* order"]
    shell.magics["cuda"]("reverse 'beyond' --gpu a100", RACY)
    assert shell.user_ns["reverse"].device != shell.user_ns["first"].device and "beyond" in shell.user_ns
    with pytest.raises(ValueError, match="name one"):
        shell.magics["cuda"]("", RACY)
    shell.magics["metal"]("total", METAL)
    assert shell.user_ns["total"].is_metal


@pytest.mark.parametrize("module", [rung._kernel, rung.metal])
def test_documentation(module):
    tests = [test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples]
    assert tests
    for test in tests:
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_page_runs():
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        try:
            exec(code, {})
        except ModuleNotFoundError as missing:
            assert missing.name in ("jax", "threadpoolctl", "torch")


def test_inspect_signature():
    assert "grid" in inspect.signature(rung.Kernel.__call__).parameters
