"""rung.Kernel: arguments of every type, hazards, refusals, sources of CUDA C++ and PTX."""

import array
import pickle

import ml_dtypes
import numpy as np
import pytest

import rung
import rung.metal
from kernel_texts import METAL, RACY, SAXPY, TYPES, needs_clang

pytestmark = needs_clang


@pytest.fixture(scope="module")
def saxpy():
    return rung.Kernel(SAXPY, "saxpy")


def test_arrays_are_updated_in_place(saxpy):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    for run in (saxpy[4, 256](np.float32(2), x, y, 1000), saxpy(2, x, y, 1000, grid=(4,), block=(256, 1, 1)),
                saxpy[(4, 1), (256,), 0](2, x, n=np.int64(1000), y=y)):
        assert run.ok and run.hazards == [] and run.printed == ""
    np.testing.assert_array_equal(y, 1 + 6 * np.arange(1000, dtype=np.float32))
    assert run.counters["global_store_sectors"] == 125
    assert any(line["line"] == "saxpy.cu:4" and "y[i] += a * x[i]" in line["text"] for line in run.lines)
    assert saxpy.signature == ["float a", "const float* x", "float* y", "int n"]


def test_predicted_time(saxpy):
    y = np.ones(4096, np.float32)
    run = saxpy[16, 256](1, y.copy(), y, 4096)
    before = y.copy()
    assert 0 < run.predicted("h200") < 1e-3
    assert run.explained("a100")["occupancy"]
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("type_,dtype,value", [
    ("float", "float32", 0.5), ("double", "float64", 0.1), ("int", "int32", -3), ("unsigned", "uint32", 3),
    ("long long", "int64", -(2**40)), ("unsigned long long", "uint64", 2**63), ("short", "int16", 7),
    ("unsigned char", "uint8", 5), ("signed char", "int8", -5), ("__half", "float16", 0.25),
    ("__nv_bfloat16", "bfloat16", 0.25)])
def test_types(type_, dtype, value):
    dtype = np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)
    kernel = rung.Kernel(TYPES, f"add<{type_}>")
    x, y = np.arange(10).astype(dtype), np.zeros(10, dtype)
    for each in (value, dtype.type(value)):
        y[:] = 0
        kernel[1, 32](x, y, each, 10)
        np.testing.assert_array_equal(y, x + dtype.type(value))
    other = np.zeros(10, "int16" if dtype != np.int16 else "float32")
    with pytest.raises(TypeError, match=rf"add<.*>: x \(.*\): expected dtype {dtype.name}( or uint8)?, got {other.dtype.name}"):
        kernel[1, 32](other, y, value, 10)


def test_numbers_that_do_not_fit(saxpy):
    x = np.ones(4, np.float32)
    for n, error in ((2**31, ValueError), (1.5, TypeError), ("4", TypeError), (float("nan"), TypeError)):
        with pytest.raises(error, match=r"saxpy: n \(int\)"):
            saxpy[1, 4](1, x, x.copy(), n)
    with pytest.raises(TypeError, match=r"saxpy: a \(float\): expected a number, got"):
        saxpy[1, 4]("1", x, x.copy(), 4)
    with pytest.raises(ValueError, match="does not fit float32"):
        saxpy[1, 4](1e39, x, x.copy(), 4)


def test_templates_in_namespaces():
    x, out = np.arange(12, dtype=np.float64), np.zeros(3)
    rung.Kernel(TYPES, "ops::sum_<double, 4>")[3, 1](x, out)
    assert out.tolist() == [6, 22, 38]
    with pytest.raises(ValueError, match="has no kernel 'sums'"):
        rung.Kernel(TYPES, "sums")
    with pytest.raises(ValueError, match="kernel.cu has 3 kernels, such as fields; name one"):
        rung.Kernel(TYPES)


def test_structs_and_vectors():
    kernel = rung.Kernel(TYPES, "fields")
    record = np.zeros((), np.dtype([("rows", "i4"), ("scale", "f8"), ("flags", "u1", 2)], align=True))
    record["rows"], record["scale"], record["flags"] = 3, 0.5, (1, 2)
    for sizes in ((3, 0.5, (1, 2)), {"rows": 3, "scale": 0.5, "flags[0]": 1, "flags[1]": 2},
                  {"rows": 3, "scale": 0.5, "flags": np.array([1, 2])}, record):
        out = np.zeros(4)
        kernel[1, 1](sizes, (1, 2, 3, 4), out)
        assert out.tolist() == [3, 0.5, 2, 3]
    with pytest.raises(ValueError, match=r"fields: s \(Sizes\): flags: expected 2 numbers, got 3"):
        kernel[1, 1]({"rows": 3, "scale": 0.5, "flags": [1, 2, 3]}, (1, 2, 3, 4), out)
    with pytest.raises(ValueError, match=r"fields: s \(Sizes\): expected 4 numbers \(rows, scale"):
        kernel[1, 1]((3, 0.5), (1, 2, 3, 4), out)
    for values in (np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32).view(np.complex64)):
        out = np.zeros((4, 4), np.float32)
        rung.Kernel(TYPES, "vectors")[1, 4](values, out)
        assert out[3].tolist() == [6, 7, 0, 1]
    with pytest.raises(ValueError, match=r"in \(const float2\*\): the array has 12 bytes"):
        rung.Kernel(TYPES, "vectors")[1, 1](np.zeros(3, np.float32), out)
    numbers = array.array("i", [1, 2, 3])
    rung.Kernel(TYPES, "raw")[1, 3](numbers, numbers)
    assert numbers.tolist() == [2, 3, 4]


def test_arrays_that_do_not_fit(saxpy):
    x, y = np.ones((4, 4), np.float32), np.ones((4, 4), np.float32)
    y_const = y.copy()
    y_const.flags.writeable = False
    saxpy[1, 16](1, y_const, y, 16)
    refused = [(x, y.T[:2], "not C-contiguous"), (x, y_const, "read-only"), (x[:, ::2], y, "not C-contiguous"),
               (x.astype(">f4"), y, "byte order"), (np.ma.masked_array(x), y, "masked array"), (x, 3.0, "expected an array"),
               (x.astype(object), y, "not numbers")]
    for one, other, message in refused:
        with pytest.raises((TypeError, ValueError), match=r"saxpy: [xy] \((const )?float\*\): .*" + message):
            saxpy[1, 16](1, one, other, 16)
    with pytest.raises(TypeError, match=r"saxpy: expected 4 arguments \(float a, const float\* x, float\* y, int n\), got 3"):
        saxpy[1, 16](1, x, y)
    with pytest.raises(TypeError, match="saxpy: m is no parameter"):
        saxpy[1, 16](1, x, y, m=3)
    for grid, block in ((0, 16), (1, (16, 0)), (1, (1, 1, 1, 1)), (1, 2048)):
        with pytest.raises(ValueError):
            saxpy[grid, block](1, x, y, 16)
    with pytest.raises(TypeError, match="block= is missing; expected grid= and block=, such as"):
        saxpy(1, x, y, 10, grid=1)
    with pytest.raises(ValueError, match="on_hazard='rais'; expected 'raise' or 'report'"):
        saxpy(1, x, y, 10, grid=1, block=32, on_hazard="rais")
    with pytest.raises(TypeError, match="got 3; n has no value"):
        saxpy(1, x, y, grid=1, block=32)
    with pytest.raises(TypeError, match="grid"):
        saxpy["1", 16](1, x, y, 16)


def test_arrays_that_overlap(saxpy):
    base = np.arange(10, dtype=np.float32)
    with pytest.raises(rung.Hazard, match="global-memory race.*x\\[2\\], parameter x of 10 float"):
        saxpy[1, 8](10, base[2:], base[:8], 8)
    x = np.ones(8, np.float32)
    saxpy[1, 8](1, x, x, 8)
    np.testing.assert_array_equal(x, 2)
    kernel = rung.Kernel("__global__ void copy(const int* a, const int* b, int* c) { c[threadIdx.x] = a[0] + b[0]; }")
    whole = np.arange(6, dtype=np.int32)
    kernel[1, 2](whole[1:3], whole[2:4], whole[4:])
    assert whole.tolist() == [0, 1, 2, 3, 3, 3]
    kernel[1, 2](whole[2:4], whole[:], whole[4:].copy())  # a begins within b


def test_hazards():
    x = np.arange(64, dtype=np.float32)
    kernel = rung.Kernel(RACY, "reverse")
    with pytest.raises(rung.Hazard, match="shared-memory race: .*reverse.cu:5") as caught:
        kernel[1, 64](x)
    assert caught.value.run.hazards[0]["first"]["line"] in (4, 5)
    run = kernel(x, grid=1, block=64, on_hazard="report")
    assert not run.ok and "shared-memory race" in run._repr_html_() and "hazard" in repr(run)
    with pytest.raises(rung.Hazard, match=r"out of bounds.*x\[4\], parameter x of 4 float"):
        rung.Kernel(RACY, "beyond")[1, 1](x[:4].copy(), 4)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert copied.hazards == caught.value.hazards and str(copied) == str(caught.value)


def test_poison():
    kernel = rung.Kernel(RACY, "reads")
    x, out, work = np.ones(4, np.float32), np.zeros(4, np.float32), np.zeros(4, np.float32)
    assert kernel[1, 1](x, out, work, poison=True).unwritten == {"out": 3, "work": 3}
    assert np.isnan(out[1:]).all() and out[0] == 1
    work[:] = 0
    kernel[1, 4](x, out, work, poison="out")
    with pytest.raises(rung.Hazard, match=r"uninitialised.*work\[1\]"):
        kernel[1, 4](x, out, work, poison=True)
    with pytest.raises(ValueError, match="poison: 'in' is no array that it may write; these are out, work"):
        kernel[1, 4](x, out, work, poison="in")


def test_compile_errors():
    with pytest.raises(rung.CompileError, match="^saxpy.cu:3:.*error: use of undeclared identifier 'j'") as caught:
        rung.Kernel(SAXPY.replace("int i", "int k = j; int i"), "saxpy")
    assert caught.value.line == 3
    with pytest.raises(rung.CompileError, match="error") as caught:
        rung.metal.Kernel(METAL.replace("sizes.columns", "sizes.columnz"), "scale", constants={"FACTOR": 2})
    assert caught.value.line == 8
    with pytest.raises(rung.CompileError, match="k.ptx:|kernel.ptx:"):
        rung.Kernel(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { nonsense.u32 %r1; }\n")


def test_constants_headers_and_standards(tmp_path):
    (tmp_path / "two.h").write_text("constexpr int two = 2;\n")
    text = '#include "two.h"\ntemplate <class T> concept any = true;\n__global__ void k(int* x) { *x = two * N + WIDE; }\n'
    x = np.zeros(1, np.int32)
    kernel = rung.Kernel(text, "k", include=[str(tmp_path)], constants={"N": 5, "WIDE": True}, std="c++20")
    kernel[1, 1](x)
    assert x[0] == 11
    file = tmp_path / "file.cu"
    file.write_text(text)
    for source in (file, str(file)):
        rung.Kernel(source, "k", constants={"N": 6, "WIDE": False}, std="c++20")[1, 1](x)
        assert x[0] == 12
    with pytest.raises(ValueError, match="does not end in .cu, .metal or .ptx"):
        rung.Kernel(tmp_path / "file.txt")
    with pytest.raises(ValueError, match="gpu: 'nothing'"):
        rung.Kernel(SAXPY, gpu="nothing")


def test_ptx():
    text = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 n, .param .align 4 .b8 s[8]) {
  .reg .b64 %rd<3>; .reg .f32 %f<4>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [s+4];
  add.u32 %r1, %r1, %r2;
  cvt.rn.f32.u32 %f2, %r1;
  ld.global.f32 %f3, [%rd1];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd1], %f3;
  ret;
}
"""
    x = np.ones(1, np.float32)
    kernel = rung.Kernel(text)
    kernel[1, 1](0.5, x, 3, np.array([0, 1], np.int32).tobytes())
    assert x[0] == 3
    assert kernel.signature == ["float 0", ".u64 1", ".u64 2", ".b8[8] 3"]


def test_printf_and_globals(capsys):
    kernel = rung.Kernel('#include <cstdio>\n__device__ int calls;\n'
                         '__global__ void count() { calls += 1; printf("call %d\\n", calls); }')
    assert kernel[1, 1]().printed == "call 1\n"
    kernel[1, 1]()
    assert capsys.readouterr().out == "call 1\ncall 2\n"


@pytest.fixture
def no_clang(monkeypatch):
    from rung import _kernel_server, _nvrtc

    if _nvrtc._library() is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("RUNG_CLANG", raising=False)
    _kernel_server.server().stop()
    yield
    _kernel_server.server().stop()


def test_nvrtc_where_there_is_no_clang(no_clang):
    text = """
    template <class T, int N> __global__ void scale(const T* __restrict__ x, T* y, T a, unsigned int n) {
      int i = blockIdx.x * N + threadIdx.x;
      if (i < n) y[i] = a * x[i];
    }"""
    k = rung.Kernel(text, "scale<float, 128>")
    assert "NVRTC" in k.code and k.signature == ["const float* x", "float* y", "float a", "unsigned int n"]
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    run = k[8, 128](x, y, a=2, n=1000)
    assert np.array_equal(y, 2 * x) and "y[i] = a * x[i]" in {line["text"].partition(") ")[2].rstrip(";") for line in run.lines}
    with pytest.raises(TypeError, match="y .*expected dtype float32, got float64"):
        k[8, 128](x, y.astype(np.float64), 2, 1000)
    with pytest.raises(rung.Hazard, match="out of bounds.*scale.cu:4, x.1000., parameter x of 1000"):
        k[9, 128](x, y, 2, 2000)
    with pytest.raises(rung.CompileError) as error:
        rung.Kernel(text.replace("a * x[i]", "b"), "scale<float, 128>")
    assert error.value.line == 4


def test_kernels_of_a_source_can_share_their_variables():
    text = """
    __device__ int kept[4];
    extern "C" __global__ void put(const int* x) { kept[threadIdx.x] = x[threadIdx.x]; }
    extern "C" __global__ void get(int* y) { y[threadIdx.x] = kept[threadIdx.x]; }"""
    put = rung.Kernel(text, "put")
    get, other = rung.Kernel(text, "get", beside=put), rung.Kernel(text, "get")
    x, y, z = np.arange(4, dtype=np.int32), np.zeros(4, np.int32), np.ones(4, np.int32)
    put[1, 4](x)
    get[1, 4](y)
    other[1, 4](z)
    assert list(y) == [0, 1, 2, 3] and list(z) == [0, 0, 0, 0]
