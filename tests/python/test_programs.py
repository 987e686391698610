"""Programs of Numba, Triton and cuda.core under `rung python`: right results, and hazards with lines of the Python source."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import rung._command


def has(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its package
        return False


def needs(*modules):
    missing = [name for name in modules if not has(name)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


@pytest.fixture
def run(tmp_path):
    """Runs a program; returns its output, its messages and its exit code."""

    def start(text):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(text))
        environment = {**os.environ, "RUNG_PYTHON_PROGRAM": sys.executable, "TRITON_CACHE_DIR": str(tmp_path / "triton")}
        done = subprocess.run([rung._command.PROGRAM, "python", script], capture_output=True, text=True, env=environment)
        return done.stdout, done.stderr, done.returncode

    start.line_of = lambda text: next(
        i for i, line in enumerate((tmp_path / "program.py").read_text().splitlines(), 1) if text in line)
    return start


NUMBA = """
import numpy as np
from numba import cuda, float32
T = 8
@cuda.jit
def product(A, B, C):
    a, b = cuda.shared.array((T, T), float32), cuda.shared.array((T, T), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    sum = float32(0)
    for i in range(A.shape[1] // T):
        a[ty, tx] = A[y, tx + i * T]
        b[ty, tx] = B[ty + i * T, x]
        cuda.syncthreads()
        for j in range(T):
            sum += a[ty, j] * b[j, tx]
        cuda.syncthreads()  # the second
    C[y, x] = sum
a, b = (np.random.default_rng(i).random((32, 32), np.float32) for i in (1, 2))
c = cuda.device_array((32, 32), np.float32)
product[(4, 4), (T, T)](cuda.to_device(a), cuda.to_device(b), c)
print(np.allclose(c.copy_to_host(), a @ b, rtol=1e-5))
"""


@needs("numba", "numba_cuda")
def test_numba(run):
    out, err, code = run(NUMBA)
    assert (out, code) == ("True\n", 0), err
    out, err, code = run(NUMBA.replace("cuda.syncthreads()  # the second", "pass"))
    assert code == 1, err
    lines = {int(line) for line in re.findall(r"program\.py:(\d+)", err[err.index("shared-memory race"):])}
    assert lines & {run.line_of("a[ty, tx] ="), run.line_of("b[ty, tx] =")} and run.line_of("sum +=") in lines


@needs("numba", "numba_cuda")
def test_a_grid_barrier_of_numba(run):
    out, err, code = run("""
        import numpy as np
        from numba import cuda
        @cuda.jit
        def levels(x):
            grid, i = cuda.cg.this_grid(), cuda.grid(1)
            for step in range(3):
                left = x[(i - 1) % x.size]
                grid.sync()
                x[i] += left
                grid.sync()
        x = np.arange(256)
        right = x.copy()
        for step in range(3):
            right += np.roll(right, 1)
        levels[4, 64](x)
        print(np.array_equal(x, right))
    """)
    assert (out, code) == ("True\n", 0), err


TRITON = """
import ctypes
import numpy as np, triton, triton.language as tl
triton.runtime.driver.active.get_current_device()  # makes its context current
cuda = ctypes.CDLL("libcuda.so.1")
class Array:
    def __init__(self, values):
        pointer = ctypes.c_uint64()
        assert cuda.cuMemAllocManaged(ctypes.byref(pointer), ctypes.c_size_t(values.nbytes), 1) == 0
        self.pointer, self.dtype = pointer.value, str(values.dtype)
        self.values = np.frombuffer((ctypes.c_char * values.nbytes).from_address(self.pointer), values.dtype)
        self.values = self.values.reshape(values.shape)
        self.values[...] = values
    def data_ptr(self):
        return self.pointer
"""


@needs("triton")
def test_triton(run):
    out, err, code = run(TRITON + """
@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, B)
    row = tl.load(x + at, mask=tl.arange(0, B) < n, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + at, e / tl.sum(e, 0), mask=tl.arange(0, B) < n)
@triton.jit
def product(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))
x = np.random.default_rng(1).random((5, 100), np.float32)
y = Array(np.zeros_like(x))
softmax[(5,)](Array(x), y, 100, B=128)
a, b = (np.random.default_rng(i).random((64, 64)).astype(np.float16) for i in (2, 3))
c = Array(np.zeros((64, 64), np.float32))
product[(1,)](Array(a), Array(b), c, N=64)
assert cuda.cuCtxSynchronize() == 0
print(np.allclose(y.values, np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-5))
print(np.allclose(c.values, a.astype(np.float64) @ b, rtol=1e-5))
""")
    assert (out, code) == ("True\nTrue\n", 0), err
    out, err, code = run(TRITON + """
@triton.jit
def shift(x):
    i = tl.arange(0, 128)
    tl.store(x + i, tl.load(x + i + 1))  # the race
shift[(1,)](Array(np.zeros(129, np.float32)))
""")
    assert code == 1 and f"program.py:{run.line_of('# the race')}" in err, err


@needs("triton", "torch")
def test_triton_on_tensors_of_pytorch(run):
    out, err, code = run("""
        import torch, triton, triton.language as tl
        @triton.jit
        def add(x, y, z, n, B: tl.constexpr):
            i = tl.program_id(0) * B + tl.arange(0, B)
            tl.store(z + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)
        x, y = torch.rand(1000, device="cuda"), torch.rand(1000).cuda()
        z = torch.empty_like(x)
        assert x.is_cuda
        add[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, y, z, 1000, B=256)
        print(torch.equal(z, x + y))
        add[(4,)](x, y, z[:900], 1001, B=256)  # one too many
    """)
    assert out == "True\n" and code != 0 and "out of bounds" in err, err


@needs("torch", "ninja")
def test_an_extension_of_pytorch(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    out, err, code = run("""
        import torch
        from torch.utils.cpp_extension import load_inline
        source = r'''
            #include <torch/extension.h>
            #include <c10/cuda/CUDAException.h>
            __global__ void twice(const float* x, float* y, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) y[i] = 2 * x[i];
            }
            torch::Tensor twice_of(torch::Tensor x, int beyond) {
              TORCH_CHECK(x.is_cuda());
              auto y = torch::empty_like(x, torch::TensorOptions().device(torch::kCUDA));
              twice<<<4, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel() + beyond);
              C10_CUDA_KERNEL_LAUNCH_CHECK();
              return y;
            }
        '''
        module = load_inline("twice", "torch::Tensor twice_of(torch::Tensor x, int beyond);", source, functions=["twice_of"])
        x = torch.rand(1000, device="cuda")
        print(torch.equal(module.twice_of(x, 0), x + x))
        module.twice_of(x, 1)  # one too many
    """)
    assert out == "True\n" and code != 0 and "out of bounds" in err, err


SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="scaled", ext_modules=[CUDAExtension("scaled", ["scaled.cpp", "kernels.cu"])], cmdclass={"build_ext": BuildExtension})
"""

SCALED_CPP = """
#include <torch/extension.h>
torch::Tensor scaled(torch::Tensor x, double by) { return by * x + 1000; }  // that of the CPU must not run
TORCH_LIBRARY(scaled, m) { m.def("scaled(Tensor x, float by) -> Tensor"); }
TORCH_LIBRARY_IMPL(scaled, CPU, m) { m.impl("scaled", &scaled); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}
"""

SCALED_CU = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
__global__ void scale(const float* x, float* y, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
torch::Tensor scaled_cuda(torch::Tensor x, double by) {
  TORCH_CHECK(x.device().type() == at::DeviceType::CUDA);
  auto y = torch::empty_like(x);
  scale<<<4, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), by, x.numel());
  return y;
}
TORCH_LIBRARY_IMPL(scaled, CUDA, m) { m.impl("scaled", &scaled_cuda); }
"""


@needs("torch", "ninja")
def test_an_extension_that_setup_has_built(run, tmp_path, monkeypatch):
    for name, text in (("setup.py", SETUP), ("scaled.cpp", SCALED_CPP), ("kernels.cu", SCALED_CU)):
        (tmp_path / name).write_text(text)
    built = subprocess.run([rung._command.PROGRAM, "python", "setup.py", "build_ext", "--inplace"], cwd=tmp_path,
                           capture_output=True, text=True, env={**os.environ, "RUNG_PYTHON_PROGRAM": sys.executable})
    assert built.returncode == 0, built.stdout + built.stderr
    out, err, code = run("""
        import numpy, torch
        x = torch.rand(1000, device="cuda")
        import scaled
        print(torch.equal(torch.ops.scaled.scaled(x, 3.0), 3 * x))
        for size in range(900, 1000):  # memory of other libraries is freed, and used again with other sizes
            y = torch.from_numpy(numpy.ones(size, numpy.float32)).cuda()
            assert torch.equal(torch.ops.scaled.scaled(y, 2.0), 2 * y)
        print(torch.nn.functional.conv2d(torch.ones(1, 1, 9, 9), torch.ones(1, 1, 3, 3)).max().item())
    """)
    assert (out, code) == ("True\n9.0\n", 0), err


def test_extensions_without_ninja(run):
    """setuptools compiles and links by itself: by rung-nvcc, with the prelude, and objects of CUDA sources last."""
    out, err, code = run("""
        import os, types
        from rung_hooks import torch_extensions
        linked = []
        class BuildExtension:
            extensions = [types.SimpleNamespace(sources=["a/kernels.cu", "a/other.cpp"])]
            compiler = types.SimpleNamespace(link_shared_object=lambda objects, name: linked.append((objects, name)))
            def build_extensions(self):
                self.compiler.link_shared_object(["t/kernels.o", "t/other.o"], "made.so")
        module = types.SimpleNamespace(
            include_paths=None, library_paths=None, _write_ninja_file=None, _prepare_ldflags=None, BuildExtension=BuildExtension,
            _write_ninja_file_and_compile_objects=None, _join_cuda_home=lambda *parts: "/".join(parts),
            _is_cuda_file=lambda path: path.endswith(".cu"),
            CUDAExtension=lambda options: types.SimpleNamespace(libraries=["torch", "torch_cuda"], extra_compile_args=options))
        torch_extensions.prepare(module)
        assert module._join_cuda_home("bin", "nvcc") == os.environ["PYTORCH_NVCC"] and module._join_cuda_home("lib") == "lib"
        made = module.CUDAExtension({"nvcc": ["-O2"]}), module.CUDAExtension(["-O1"])
        for options in (made[0].extra_compile_args["cxx"], made[0].extra_compile_args["nvcc"], made[1].extra_compile_args):
            assert options[0] == "-include" and options[1].endswith("torch_extension.hpp"), options
        module.BuildExtension().build_extensions()
        print(made[0].libraries, made[0].extra_compile_args["nvcc"][2:], linked)
    """)
    assert (out, code) == ("['torch'] ['-O2'] [(['t/other.o', 't/kernels.o'], 'made.so')]\n", 0), err


@needs("torch")
def test_functions_of_torch_cuda(run):
    out, err, code = run("""
        import torch
        functions = [torch.cuda.is_available, torch.cuda.is_bf16_supported, torch.cuda.is_initialized, torch.cuda.memory_allocated,
                     torch.cuda.max_memory_allocated, torch.cuda.memory_reserved, torch.cuda.empty_cache, torch.cuda.init]
        assert len({id(each) for each in functions}) == len(functions)  # torch.compile needs it
        x = torch.ones(4).cuda()
        with torch.cuda.stream(torch.cuda.Stream()) as _, torch.cuda.device(0):
            torch.cuda.nvtx.range_push("x")
            torch.cuda.nvtx.range_pop()
        event = torch.cuda.current_stream().record_event()
        free, total = torch.cuda.mem_get_info()
        assert torch.accelerator.current_device_index() == 0
        assert torch.equal(torch.compile(lambda y: 2 * y + 1, backend="eager")(x), 3 * torch.ones(4))
        print(x.get_device(), torch.cuda.get_arch_list(), event.query(), 0 < free <= total, torch.cuda.device_count())
    """)
    assert (out, code) == ("0 ['sm_90'] True True 1\n", 0), err


def test_cupy_is_the_stand_in(run):
    out, err, code = run("""
        import cupy as cp, cupy.cuda.nvtx as nvtx
        from cupy import RawKernel
        import rung.cupy
        fill = RawKernel('extern "C" __global__ void fill(float* x) { x[threadIdx.x] = threadIdx.x; }', "fill")
        x = cp.zeros(8, dtype=cp.float32)
        fill((1,), (8,), (x,))
        nvtx.RangePush("x")
        print(cp is rung.cupy, (x == cp.arange(8)).all())
    """)
    assert (out, code) == ("True True\n", 0), err


@needs("cuda.core")
def test_cuda_core(run):
    out, err, code = run("""
        import numpy as np
        from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
        device = Device()
        device.set_current()
        stream = device.create_stream()
        text = '''extern "C" __global__ void twice(float* x, unsigned long long n) {
          unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
          if (i < n) x[i] *= 2;
        }'''
        options = ProgramOptions(arch=f"compute_{device.arch}", lineinfo=True)
        kernel = Program(text, code_type="c++", options=options).compile("ptx").get_kernel("twice")
        memory = LegacyPinnedMemoryResource().allocate(4000)
        x = np.from_dlpack(memory).view(np.float32)
        x[:] = np.arange(1000)
        launch(stream, LaunchConfig(grid=4, block=256), kernel, memory.handle, np.uint64(1000))
        stream.sync()
        print(np.array_equal(x, 2 * np.arange(1000, dtype=np.float32)))
    """)
    assert (out, code) == ("True\n", 0), err


def test_the_folder_is_complete():
    folder = pathlib.Path(rung._command.PROGRAM).parents[1] / "lib/rung/emu/cuda"
    assert {each.name for each in folder.iterdir()} >= {"libcuda.so.1", "ptxas", "sitecustomize.py", "rung_hooks"}
    assert os.access(folder / "ptxas", os.X_OK)


KERNEL_ON_A_GPU = """
import numpy as np, rung
text = '''
struct Line { float slope, offset; };
extern "C" __global__ void line(Line l, const float* x, float* y, int n) {
  extern __shared__ float kept[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { kept[threadIdx.x] = l.slope * x[i]; y[i] = kept[threadIdx.x] + l.offset; }
}'''
k = rung.Kernel(text, "line", device="gpu")
x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
run = k((2, 1), x, y, 100, grid=4, block=32, shared=128)
print(np.array_equal(y, 2 * x + 1), run.seconds >= 0, isinstance(run, rung.GpuRun))
z = np.arange(200, dtype=np.float32)
k((1, 0), z[:100], z[100:], n=100, grid=4, block=32, shared=128)
print(np.array_equal(z[100:], x))
for wrong in (lambda: run.counters, lambda: k((2, 1), x, y.astype(np.float64), 100, grid=4, block=32),
              lambda: rung.Kernel(text, "line", device="gpu", gpu="t4"), lambda: rung.Kernel(text, "line", device="fpga")):
    try:
        wrong()
    except (AttributeError, TypeError, ValueError) as error:
        print(error)
"""


def test_a_kernel_on_a_gpu(run):
    """`rung python` gives the driver that a GPU would have."""
    out, err, code = run(KERNEL_ON_A_GPU)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[:2] == ["True True True", "True"], err
    assert "has no 'counters'" in lines[2] and "expected dtype float32, got float64" in lines[3]
    assert "expected one of them" in lines[4] and "device='fpga'" in lines[5]


TIMED = """
import json, rung.referee
text = '''
// referee: workspace sums float32 m*n
// referee: clear c
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int l = 0; l < MOST; ++l) if (i < m && j < n) s += a[i * k + l] * b[l * n + j];
  if (i < m && j < n) c[i * n + j] = s;
}'''
task = {"operation": "gemm", "public": [{"m": 20, "n": 20, "k": 20}], "limits": {"m": 30, "n": 30, "k": 30}, "hidden": 2,
        "distributions": ["normal"], "timed": [{"m": 40, "n": 33, "k": 90}]}
with open("known.cu", "w") as file:
    file.write(text.replace("MOST", "k"))
for most in ("k", "(m < 40 || k < 64 ? k : 64)"):  # the second is wrong for the timed shape alone
    verdict = rung.referee.judge(text.replace("MOST", most), {**task, "baseline": "known.cu"})
    facts = verdict.facts
    print(verdict.verdict, verdict.rules(), [each["source"] for each in facts["times"]], facts["timing"]["reason"],
          facts["times"][-1].get("speedup", 0) > 0)
    print([each.case for each in verdict.findings if each.rule == "results"][:1])
"""


def test_the_referee_times_on_a_gpu(run):
    out, err, code = run("import os\nos.chdir(os.path.dirname(__file__))\n" + TIMED)
    assert code == 0, err
    right, _, wrong, where = out.splitlines()
    assert right.startswith("right") and "'measured'" in right and right.endswith("None True"), out + err
    assert wrong.startswith("wrong ['results']") and "timed" in where, out + err
