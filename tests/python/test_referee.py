"""rung.referee: bounds of the references, tasks, verdicts, and a sample of the calibration suite."""

import doctest
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rung
import rung.referee
from rung.referee import adapters, calibration, cases, checks, cheats, distributions, literals, shapes
from rung.referee.calibration.__main__ import run, summary
from rung.referee.candidate import read
from rung.referee.distributions import numpy_dtype
from rung.referee.expressions import ExpressionError, evaluate
from rung.referee.host_symbols import is_of_system, is_plain
from rung.referee.object_symbols import symbols_of
from rung.referee.operations import BY_NAME
from rung.referee.run_kernels import Seen
from rung.referee.task import from_table as task_from_table

needs_clang = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang++-19", "clang++-20", "clang++-21")) and not os.environ.get("RUNG_CLANG"),
    reason="no clang 19")

ADD = """
// referee: launch add grid=cdiv(n, 256) block=256
__global__ void add(const float* x, const float* z, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}"""

KERNELBENCH = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, columns, rows):
        super().__init__()
        self.layer = nn.Linear(columns, rows)

    def forward(self, x):
        return self.layer(x)

batch_size = 128
columns = 1024
rows = 512
repeat = 10
shape = (batch_size, columns)  # of other sizes for hidden shapes, too

def get_inputs():
    return [torch.rand(*shape)]

def get_init_inputs():
    return [columns, rows]
"""


def _seen(call, outputs):
    return Seen(outputs=outputs, inputs=call.case.inputs)


@pytest.mark.parametrize("operation", BY_NAME)
def test_bounds_hold_for_rounded_results_and_for_few_others(operation):
    task = rung.referee.Task(operation, hidden=8, limits={name: 40 for name in BY_NAME[operation].sizes})
    for call in cases.calls(task, 3):
        outputs = {}
        for array in task.arrays:
            if array.role == "out":
                value, bound = call.case.expected[array.name]
                assert np.all(np.isfinite(bound)) and np.all(bound >= 0)
                outputs[array.name] = value.astype(numpy_dtype(array.dtype))
        assert checks.check(call, _seen(call, outputs))[0] == [], call.case.described()
        for name, value in outputs.items():
            if value.size:
                wrong = value.copy()
                wrong.reshape(-1)[-1] += 1 + abs(wrong.reshape(-1)[-1]) / 2
                if call.case.distribution == "normal":
                    assert [each.rule for each in checks.check(call, _seen(call, {**outputs, name: wrong}))[0]] == ["results"]


@pytest.mark.parametrize("operation", ["gemm", "sum", "dot", "gemv", "scan", "conv1d", "conv2d", "row_sum"])
def test_one_lost_term_is_seen_at_the_largest_size(operation):
    """Sums of integers are exact, so the bound is zero whatever the length."""
    task = rung.referee.Task(operation, hidden=0, distributions=["integers"])
    call = next(iter(cases.calls(task, 5)))
    (name, (value, bound)), = call.case.expected.items()
    wrong = value.astype(np.float32)
    wrong.reshape(-1)[0] += 1
    assert [each.rule for each in checks.check(call, _seen(call, {name: wrong}))[0]] == ["results"]


def test_float32_sums_in_any_order_are_within_the_bounds():
    task = rung.referee.Task("gemm", hidden=6, limits={"m": 20, "n": 20, "k": 200})
    for call in cases.calls(task, 11):
        a, b = call.case.inputs["a"], call.case.inputs["b"]
        c = np.zeros((a.shape[0], b.shape[1]), np.float32)
        for k in reversed(range(a.shape[1])):
            c += a[:, k:k + 1] * b[k]
        assert checks.check(call, _seen(call, {"c": c}))[0] == []


def test_calls_are_those_of_the_seed():
    def drawn(seed):
        return [(call.purpose, call.case.described(), call.offsets, {name: each.tobytes() for name, each in call.case.inputs.items()})
                for call in cases.calls(rung.referee.Task("softmax", zeros=True), seed)]
    assert drawn(4) == drawn(4) and drawn(4) != drawn(5)
    assert any("=0" in described for _, described, _, _ in drawn(4)), "a shape with an extent of zero"


def test_hidden_shapes_keep_to_the_task():
    task = rung.referee.Task("gemm", hidden=30, limits={"m": 100}, multiples={"k": 8}, choices={"n": [32, 64]})
    sizes = [call.case.sizes for call in cases.calls(task, 1) if call.case.name.startswith("hidden")]
    assert len({tuple(each.items()) for each in sizes}) == 30
    assert all(each["m"] <= 100 and each["k"] % 8 == 0 and each["n"] in (32, 64) for each in sizes)
    assert {each["m"] for each in sizes} >= {1, 100}


def test_expressions_are_arithmetic_alone():
    assert evaluate("(cdiv(n, 16), max(1, n // 32) if n > 3 else 7)", {"n": 33}) == (3, 1)
    for text in ("__import__('os')", "n.real", "[n]", "lambda: n", "q + 1", "n +"):
        with pytest.raises(ExpressionError, match="expected arithmetic on n, cdiv"):
            evaluate(text, {"n": 3})


@pytest.mark.parametrize("text, message", [
    ("operation = 'gem'", "'gem' is unknown; expected one of gemm"),
    ("dtype = 'float32'", 'expected operation = "NAME"'),
    ("operation = 'gemm'\nshapes = 3", "'shapes' is no entry; expected operation"),
    ("operation = 'gemm'\nlimits = {q = 3}", "limits: 'q' is no size; gemm has m, n, k"),
    ("operation = 'gemm'\ndistributions = ['gauss']", "distributions: 'gauss' is unknown"),
    ("operation = 'gemm'\nalignment = 3", "alignment: 3 is not a power of two"),
    ("reference = 'none.py:f'", "'none.py:f' is not FILE.py:FUNCTION"),
    ("operation =", "task.toml:"),
])
def test_tasks_are_refused_in_one_line(tmp_path, text, message):
    pytest.importorskip("tomllib")
    path = tmp_path / "task.toml"
    path.write_text(text)
    with pytest.raises(rung.referee.TaskError) as error:
        rung.referee.read_task(path)
    assert message in str(error.value) and "\n" not in str(error.value) and "task.toml" in str(error.value)


def test_the_task_of_the_page_is_valid():
    tomllib = pytest.importorskip("tomllib")
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    text, = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    task = task_from_table(tomllib.loads(text))
    assert task.operation.name == "gemm" and task.public and task.claims
    named = re.search(r"\*\*Operations\*\*: (.*?)\.", page, re.DOTALL)[1].split(",")
    assert [each.strip() for each in named] == list(BY_NAME)


@needs_clang
def test_the_candidate_of_the_page_is_right():
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    candidate = re.search(r"```cuda\n(// referee:.*?)```", page, re.DOTALL)[1]
    assert rung.referee.judge(candidate, {"operation": "gemm", "hidden": 3}, quick=True).verdict == "right"


def test_a_reference_of_your_own(tmp_path):
    (tmp_path / "own.py").write_text("def shifted(x, n):\n    return x * x + 1\n\n\ndef bounded(x, n):\n    return {'y': (x * x + 1, 1e-3 + 0 * x)}\n")
    table = {"sizes": {"n": 50}, "array": [{"name": "x", "shape": ["n"]}, {"name": "y", "role": "out", "shape": ["n"]}], "hidden": 4}
    for function in ("shifted", "bounded"):
        task = task_from_table({"reference": f"own.py:{function}", **table}, tmp_path)
        for call in cases.calls(task, 2):
            x = call.case.inputs["x"]
            right, near = x * x + np.float32(1), x * x + np.float32(1 + 5e-4)
            assert checks.check(call, _seen(call, {"y": right}))[0] == []
            assert (checks.check(call, _seen(call, {"y": near}))[0] == []) == (function == "bounded" or np.max(np.abs(x)) > 1e3)


def test_a_claim_below_the_roofline_is_accused():
    claim = {"m": 4096, "n": 4096, "k": 4096, "seconds": 3.3e-6}
    task = rung.referee.Task("gemm", claims=[claim])
    found, = cheats.too_fast(task, claim, claim["seconds"], "h200", "claimed", "")
    assert found.rule == "too-fast" and "2051" in found.message.replace(".", "") or "2.05e+03 us" in found.message
    assert cheats.too_fast(task, claim, 2.1e-3, "h200", "claimed", "") == []


def test_forbidden_names_are_of_code_and_symbols_alone():
    task = rung.referee.Task("gemm", forbid=["wmma"])
    text = "// cublas\nvoid f() { const char* s = \"cublas\"; }\n"
    assert cheats.forbidden(read(text), task) == []
    assert cheats.forbidden(read(text + "void g() { cublasCreate(0); }"), task)[0].rule == "forbidden"
    assert cheats.forbidden(read(text + "using namespace nvcuda::wmma;"), task)[0].rule == "forbidden"
    assert cheats.forbidden(read(text + "int my_wmma;"), task) == []
    for code in ("thrust::sort(a, b);", "using namespace thrust;", "namespace own = ::thrust;", "at :: add(x);"):
        assert cheats.forbidden(read(text + code), task)[0].rule == "forbidden"
    for code in ("cudaDriverGetVersion(&v);", "cudaDeviceProp p; f(p.name);", "cudaDeviceProp p; auto* q = &p; if (q->pciBusID) g();",
                 "cudaDeviceGetAttribute(&v, cudaDevAttrPciBusId, 0);"):
        assert cheats.forbidden(read(text + code), task)[0].rule == "identity"
    assert cheats.forbidden(read(text + "struct { int name; } s; s.name = 1; cudaDeviceProp p; f(p.multiProcessorCount);"), task) == []
    for code, rule in (("long long t = clock64();", "clock"), ("asm(\"mov.u64 %0, %globaltimer;\");", "clock"),
                       ("asm(\".byte 0x0f, 0x05\");", "host-trick"),
                       ("asm(\"mov.u32 %0, %%cl\" \"ock;\");", "clock"), ("asm(\"bar.sync 1;\"); // clock()", "")):
        assert [each.rule for each in cheats.forbidden(read(text + code), task)] == [rule] * bool(rule)


def test_undefined_symbols_of_an_object(tmp_path):
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (tmp_path / "a.c").write_text("int system(const char*); int fread(void) { return system(0); } static int own; int* p = &own;")
    subprocess.run([compiler, "-c", "a.c"], cwd=tmp_path, check=True)
    assert symbols_of((tmp_path / "a.o").read_bytes()) == (["system"], ["fread", "p"])
    assert cheats.host_tricks(["cudaMalloc", "memcpy", "sinf", "_ZSt4cerr"], ["solve", "add"], ("solve",)) == []
    for needed, defined in ((["system"], []), (["time"], []), (["_ZNSt6chrono3_V212steady_clock3nowEv"], []), ([], ["fread"]),
                            ([], ["_Znwm"]), ([], ["cudaMemcpy"])):
        assert cheats.host_tricks(needed, defined, ("solve",))[0].rule == "host-trick"
    assert is_plain("__cudaPushCallConfiguration") and not is_plain("readlink") and not is_of_system("gemm")


def test_task_of_gpu_mode(tmp_path):
    pytest.importorskip("yaml")
    (tmp_path / "task.yml").write_text("lang: py\ntests:\n  - {size: 127, seed: 42}\n  - {size: 900, seed: 5}\n")
    task = adapters.gpu_mode(tmp_path / "task.yml", "add", {"size": "n"})
    assert task.public == [{"n": 127}, {"n": 900}]


def test_task_of_kernelbench(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "problem.py").write_text(KERNELBENCH)
    task = adapters.kernelbench(tmp_path / "problem.py", hidden=3)
    assert task.operation.sizes == {"batch_size": 64, "columns": 64, "rows": 64}
    assert [each.name for each in task.arrays] == ["x", "layer_weight", "layer_bias", "out"]
    for call in cases.calls(task, 1):
        x, weight, bias = (each.astype(np.float64) for each in call.case.inputs.values())
        out = (x @ weight.T + bias).astype(np.float32)
        assert out.shape == task.shape_of(task.arrays[-1], call.case.sizes)
        assert checks.check(call, _seen(call, {"out": out}))[0] == []
        assert checks.check(call, _seen(call, {"out": out + 1}))[0] != []


@needs_clang
def test_doctests():
    assert doctest.testmod(rung.referee).failed == 0


@needs_clang
def test_verdict_is_reproducible_and_says_what_is_wrong():
    text = ADD.replace("x[i] + z[i]", "x[i]")
    verdicts = [rung.referee.judge(text, {"operation": "add", "hidden": 3}, seed=9) for _ in range(2)]
    assert verdicts[0].to_json() == verdicts[1].to_json()
    facts = json.loads(verdicts[0].to_json())
    assert list(facts) == ["schema", "verdict", "findings", "candidate", "task", "seed", "rung", "calls", "worst_error_ratio",
                           "times", "timing"]
    assert facts["schema"] == "rung.referee/1" and facts["verdict"] == "wrong" and verdicts[0].exit_code == 1
    assert set(facts["findings"][0]) == {"rule", "severity", "message", "case"}
    assert "add" in verdicts[0].to_markdown() and "are wrong, first y[" in verdicts[0].to_markdown()


@needs_clang
@pytest.mark.parametrize("old, new, message", [
    ("launch add", "launch sub", "sub"),
    ("block=256", "block=blocks", "unknown name 'blocks'"),
    ("block=256", "block=256 args=(x, y)", "2 arguments for 4 parameters"),
    ("// referee: launch add grid=cdiv(n, 256) block=256\n", "", "nor a function solve"),
    ("block=256", "", "expected KERNEL grid"),
])
def test_a_candidate_that_cannot_be_launched_is_unfit(old, new, message):
    verdict = rung.referee.judge(ADD.replace(old, new), {"operation": "add", "hidden": 1})
    assert verdict.verdict == "unfit" and verdict.rules() == ["launch"] and message in verdict.findings[0].message


@needs_clang
def test_a_right_candidate_has_a_predicted_time_above_the_floor():
    facts = rung.referee.judge(ADD, {"operation": "add", "hidden": 3}).as_dict()
    time, = facts["times"]
    assert facts["verdict"] == "right" and time["source"] == "predicted" and time["seconds"] > time["floor_seconds"] > 0


@needs_clang
def test_a_function_of_arrays_is_a_candidate():
    kernel = rung.Kernel(ADD, "add")

    def right(x, z, y, n):
        kernel[-(-n // 256), 256](x, z, y, n)

    assert rung.referee.judge(right, {"operation": "add", "hidden": 3}).verdict == "right"
    assert rung.referee.judge(lambda x, z, y, n: np.add(x, z, out=y), {"operation": "add", "hidden": 3}).rules() == ["work"]


def test_a_function_cannot_change_its_judge():
    def changes(x, z, y, n):
        checks.check = lambda call, seen: ([], 0.0)
        cheats.work = lambda *words: []
        np.abs = lambda *words: 0

    def leaves(x, z, y, n):
        os._exit(0)

    task = {"operation": "add", "hidden": 2}
    assert rung.referee.judge(changes, task).rules() == ["constant", "unwritten"]
    found = rung.referee.judge(leaves, task, quick=True).findings
    assert [each.rule for each in found] == ["failed"] and "process ended" in found[0].message


@needs_clang
def test_command(tmp_path):
    pytest.importorskip("tomllib")
    (tmp_path / "task.toml").write_text('operation = "add"\nhidden = 2\n')
    (tmp_path / "right.cu").write_text(ADD)
    (tmp_path / "broken.cu").write_text(ADD.replace("int i", "it i"))

    def judged(*words):
        done = subprocess.run([sys.executable, "-m", "rung.referee", *words], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    code, out, _ = judged("task.toml", "right.cu", "--json", "-")
    assert code == 0 and json.loads(out)["verdict"] == "right"
    code, out, _ = judged("task.toml", "broken.cu")
    assert code == 1 and "unfit" in out and "broken.cu:4" in out
    code, _, error = judged("task.toml", "none.cu")
    assert code == 2 and error.count("\n") == 1 and "none.cu" in error
    code, _, error = judged("ad", "right.cu")
    assert code == 2 and "'ad' is unknown" in error


def test_calls_that_ask_for_earlier_ones_orders_and_long_shapes():
    task = rung.referee.Task("gemm", claims=[{"m": 4096, "n": 100, "k": 900, "seconds": 1}])
    made = list(cases.calls(task, 1))
    assert [call.order for call in made if call.purpose == "order"] == [1, 2, 3, 4, 5, 6]
    many = [call for call in made if call.purpose == "many"]
    assert len(many) == 200 and len({id(call.case) for call in many}) == 1
    permuted = next(call for call in made if call.purpose == "permute")
    before = made[made.index(permuted) - 1]
    assert before.purpose == "again" and before.case.distribution == "integers" and permuted.reuses
    for name, values in permuted.case.inputs.items():
        assert np.array_equal(np.sort(values, None), np.sort(before.case.inputs[name], None))
        assert not np.array_equal(values, before.case.inputs[name])
    sizes = [call.case.sizes for call in made if call.purpose == "shape"]
    assert {"m": 4096, "n": 1, "k": 1} in sizes and {"m": 1, "n": 1, "k": 900} in sizes
    assert max(each["n"] for each in sizes) <= 150


def test_hidden_extents_are_multiples_of_each_width_of_vectors():
    widths = {2: 0, 4: 0, 8: 0}
    for seed in range(4):
        for shape in shapes.hidden(np.random.default_rng(seed), 30, {"n": 1100}):
            for width in widths:
                widths[width] += shape["n"] % (2 * width) == width
    assert min(widths.values()) >= 4


def test_less_work_for_known_inputs_and_memory_that_stays():
    made = [call for call in cases.calls(rung.referee.Task("add"), 1)]
    assert [call.overlaps for call in made if call.purpose == "overlap"] == [True, False]

    def found(instructions, grows=0, objects=0):
        results = []
        for number, call in enumerate(made):
            seen = Seen(launches=1, counters={"thread_instructions": instructions.get(call.purpose, 1000)},
                        outputs={"y": np.full(1, number)}, device_bytes=grows * number,
                        live_objects=objects * number)
            results.append((call, seen, True))
        return [each.rule for each in cheats.history(results)]

    assert found({}) == found({"again": 950}) == found({"edit": 100}) == []
    assert found({"again": 800}) == ["caching"]
    assert found({"repeat": 500, "return": 500, "again": 500}) == ["caching"]
    assert found({}, grows=512) == found({}, objects=1) == ["leak"]


def test_moved_zeros_keep_their_signs():
    task = rung.referee.Task("copy", hidden=0, distributions=["zeros"])
    call = next(iter(cases.calls(task, 1)))
    x = call.case.inputs["x"]
    assert checks.check(call, _seen(call, {"y": x}))[0] == []
    assert [each.rule for each in checks.check(call, _seen(call, {"y": x + np.float32(0)}))[0]] == ["results"]


def test_copies_to_the_host_are_counted():
    call = next(iter(cases.calls(rung.referee.Task("add"), 1)))
    seen = Seen(launches=1, counters={"global_load_sectors": 4096, "bulk_load_sectors": 0, "global_atomics": 0})
    for read, rules in ((4, []), (sum(each.nbytes for each in call.case.inputs.values()), ["work"])):
        seen.host_bytes = read
        assert [each.rule for each in cheats.work(call.case.task, [(call, seen, True)], False)] == rules


def test_numbers_of_the_text_become_shapes_and_values():
    text = 'if (m % 48 == 0 && x > 88.5f && n <= 2 * 1024u && k < (1 << 14)) y = 1e-5f * 0x20; z = 1.0e9f;  // 777'
    assert literals.sizes_in(text) == [14, 48, 32, 1024, 2048, 16384]
    assert literals.values_in(text, 1e38) == [1e9, 88.5, 1e-5] and literals.values_in(text, 1e5) == [88.5, 1e-5]
    task = task_from_table({"operation": "gemm", "hidden": 2})
    found = [each.case for each in cases.calls(task, 1, text) if each.case.name.startswith("by the text")]
    ways = {tuple(size % 48 == 0 for size in each.sizes.values()) for each in found}
    assert len(ways) == 8  # each extent is a multiple or is not
    values = [each.inputs["a"] for each in found if each.distribution == "below 88.5"]
    assert values and all((each < -88.5).all() for each in values)
    assert not [each for each in cases.calls(task, 1) if each.case.name.startswith("by the text")]


def test_long_extents_are_those_of_a_task_without_limits():
    longest = {limits is None: max(each.case.sizes["n"] for each in cases.calls(task_from_table(
        {"operation": "add", "hidden": 2, **({"limits": limits} if limits else {})}), 1)) for limits in (None, {"n": 900})}
    assert longest == {True: 300001, False: 900}


@pytest.mark.parametrize("shorter", ["float16", "bfloat16"])
def test_precise_sums_are_exact_and_show_shorter_factors(shorter):
    task = task_from_table({"operation": "dot", "hidden": 0})
    case = cases.drawn(task, np.random.default_rng(3), "long", {"n": 40000}, "precise")
    x, y = case.inputs["x"], case.inputs["y"]
    for order in (slice(None), slice(None, None, -1)):
        assert np.cumsum(x[order] * y[order], dtype=np.float32)[-1] == case.expected["result"][0][0]
    with np.errstate(over="ignore"):
        short = [each.astype(numpy_dtype(shorter)).astype(np.float64) for each in (x, y)]
    assert short[0] @ short[1] != case.expected["result"][0][0]
    wide = distributions.draw("precise", np.random.default_rng(3), (1000,), "float64")
    assert (wide.astype(np.float32) != wide).any()


def test_a_text_is_read_as_nvcc_reads_it():
    candidate = read(ADD + "\n#if defined(__clang__) && !__CUDA__\n#elif __CUDA_ARCH__\n#endif\n")
    assert "defined(__rung_not_clang__) && !__rung_not_clang__" in candidate.compiled_text
    assert "__CUDA_ARCH__" in candidate.compiled_text and candidate.text != candidate.compiled_text


def test_clocks_of_ptx_and_descriptors_of_tma():
    task = task_from_table({"operation": "add"})
    found = cheats.forbidden(read(ADD), task, (), "mov.u64 %rd1, %clock64;")
    assert [each.rule for each in found] == ["clock"]
    looks_up = 'cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &r);'
    assert not cheats.host_tricks(["cudaGetDriverEntryPoint"], [], (), looks_up)
    for other in (looks_up.replace("TensorMapEncodeTiled", "MemAlloc"), looks_up + looks_up.replace('"cuT', "name, (\"cuT")):
        assert [each.rule for each in cheats.host_tricks(["cudaGetDriverEntryPoint"], [], (), other)] == ["host-trick"]


@needs_clang
@pytest.mark.parametrize("name", ["thousand-calls", "persisting-l2", "sm-count", "decoy"])
def test_conditions_that_a_program_may_know_its_judge_by(name):
    candidate = next(each for each in calibration.specimens() if each.name == f"condition-{name}")
    rules = {"thousand-calls": "state", "persisting-l2": "state", "sm-count": "failed", "decoy": "work"}
    assert rules[name] in rung.referee.judge(candidate.text, {**candidate.task, "hidden": 2}).rules()


@needs_clang
def test_sample_of_the_calibration():
    """Some of one file of kernels, and a program; the test python.calibration judges more."""
    known = calibration.specimens()
    chosen = [each for each in known if each.name.startswith("sum-atomic")][::3]
    found = summary(run([*chosen, *(each for each in known if each.name == "program-stream/stale-pointers")], jobs=2))
    assert (found["missed"], found["false_alarms"]) == ([], [])
    assert found["caught"] >= 4 and found["right"] >= 1
