"""The rest of the package: devices, the bench, the command, stubs, and the documentation."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

import rung
import rung._command

PACKAGE = pathlib.Path(rung.__file__).parent


def test_devices():
    cpu, *gpus = rung.devices()
    assert (cpu.kind, cpu.index, cpu.memory) == ("cpu", 0, None)
    assert cpu.name and cpu.processors == len(os.sched_getaffinity(0))
    assert all(gpu.kind == "cuda" and gpu.memory > 0 for gpu in gpus)


def test_functions_are_pickled_by_name():
    for name in rung.__all__:
        assert pickle.loads(pickle.dumps(getattr(rung, name))) is getattr(rung, name)


def test_bench():
    results = rung.bench("gemm/cpu/05", "gemm/cpu/06", sizes=[16, 24], seconds=0.01, vs="none", dtype="f64")
    assert {(each["rung"][:11], each["m"], each["dtype"]) for each in results["results"]} == {
        (rung, size, "f64") for rung in ("gemm/cpu/05", "gemm/cpu/06", "library") for size in (16, 24)}


def test_bench_of_what_is_not_there():
    with pytest.raises(ValueError, match="rung: .*gemm/cpu/99"):
        rung.bench("gemm/cpu/99")
    with pytest.raises(ValueError, match="--nothing"):
        rung.bench("gemm/cpu/05", nothing=1)


def test_the_command():
    command = [sys.executable, "-m", "rung"]
    said = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, f"rung {rung.__version__}\n")
    assert subprocess.run([*command, "nothing"], capture_output=True).returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="of ELF")
def test_the_extension_exports_what_is_looked_up():
    listing = ["nm", "-D", "--defined-only", "--format=posix", rung._core.__file__]
    said = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    assert {line.split()[0] for line in said.splitlines()} == {
        "PyInit__core", "rung_jax_matmul_cpu", "rung_jax_matmul_cuda"}


def test_stubs_name_what_is_there():
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    public = {name for name in dir(rung._core) if not name.startswith("_")}
    assert public == functions.keys() | classes
    for name, node in functions.items():
        parameters = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
        of_inspect = inspect.signature(getattr(rung, name)).parameters
        assert list(of_inspect) == parameters
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
            found = of_inspect[argument.arg]
            assert (found.kind, found.default) == (found.KEYWORD_ONLY, ast.literal_eval(default))


TYPED = """
import numpy, rung, rung.metal, rung.referee
x = numpy.ones(3, numpy.float32)
run = rung.Kernel("…", "f<float, 3>", constants={"N": 3}, include=["."], std="c++20")[1, (32, 1)](2.0, x, n=3)
sectors: int = run.counters["global_load_sectors"]
seconds: float = rung.metal.Kernel("…")(x, grid=(3, 4), group=(1, 2), poison=["x"]).predicted("h200")
results: dict[str, object] = rung.bench("gemm/cpu/05", n=64)
kinds: list[str] = [device.kind for device in rung.devices()]
product: object = rung.matmul(x, x, math="ieee")
line = rung.CompileError().line
assert line is None or line + 1
verdict: str = rung.referee.judge("x.cu", rung.referee.Task("gemm", hidden=3), seed=3).verdict
@rung.budget(bank_conflicts=0)
def test(gpu: object) -> None:
    try:
        pass
    except rung.Hazard as hazard:
        print(hazard.run.hazards[0]["message"])
"""


def test_types(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "user.py").write_text(TYPED)
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(tmp_path / "user.py")])
    assert status == 0, said + errors
    (tmp_path / "user.py").write_text(TYPED + 'rung.Kernel(3)\nrung.matmul(x, x, math="fast")\nrun.counter\n')
    assert "Found 3 errors" in api.run(["--strict", "--cache-dir", str(tmp_path), str(tmp_path / "user.py")])[0]


def test_stubs_have_the_public_names():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    names = {alias.asname for node in stub.body for alias in node.names}
    assert names == {*rung.__all__, "__version__", "budget", "metal", "referee"}


@pytest.mark.parametrize("name", ["rung", "rung._core", "rung._devices", "rung._bench"])
def test_documentation(name):
    module = importlib.import_module(name)
    tests = doctest.DocTestFinder(exclude_empty=True).find(module)
    if name == "rung._core":  # doctest does not find the functions of extensions
        parser = doctest.DocTestParser()
        tests = [parser.get_doctest(getattr(module, each).__doc__, {}, each, None, 0) for each in ("matmul", "grouped_matmul", "dot")]
    examples = [test for test in tests if test.examples]
    assert examples
    for test in examples:
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_first_lines_of_the_page_run():
    page = pathlib.Path(__file__).parents[2] / "docs/python.md"
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL).group(1), {})


def test_every_public_name_is_documented():
    for name in rung.__all__:
        assert inspect.getdoc(getattr(rung, name)), name


def test_modules_that_documents_name_need_no_import_of_their_own():
    done = subprocess.run([sys.executable, "-c", "import rung; rung.metal.Kernel, rung.referee.judge, rung.cupy.RawKernel"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
