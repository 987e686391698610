"""rung.Kernel: kernels of every language on arrays of every dtype, hazards, refusals, the pytest plugin."""

import array
import doctest
import inspect
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest

import rung
import rung._kernel
import rung.metal

pytestmark = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang++-19", "clang++-20", "clang++-21")) and not os.environ.get("RUNG_CLANG"),
    reason="no clang 19")

SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""

TYPES = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Sizes { int rows; double scale; unsigned char flags[2]; };
template <class T> __global__ void add(const T* x, T* y, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + value;
}
namespace ops {
template <class T, int N> __global__ void sum_(const T* x, T* out) {
  T sum = 0;
  for (int i = 0; i < N; ++i) sum += x[blockIdx.x * N + i];
  out[blockIdx.x] = sum;
}
}
__global__ void fields(Sizes s, float4 v, double* out) {
  out[0] = s.rows; out[1] = s.scale; out[2] = s.flags[1]; out[3] = v.z;
}
__global__ void vectors(const float2* in, float4* out) {
  out[threadIdx.x] = {in[threadIdx.x].x, in[threadIdx.x].y, 0, 1};
}
__global__ void raw(const void* from, void* to) { ((int*)to)[threadIdx.x] = ((const int*)from)[threadIdx.x] + 1; }
"""

RACY = """
__global__ void reverse(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void beyond(float* x, int n) { x[threadIdx.x + n] = 1; }
__global__ void reads(const float* in, float* out, float* work) {
  if (threadIdx.x == 0) work[0] = in[0];
  out[threadIdx.x] = work[threadIdx.x];
}
"""

METAL = """
#include <metal_stdlib>
using namespace metal;
constant int FACTOR [[function_constant(0)]];
struct Sizes { uint rows; uint columns; };
kernel void scale(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  constant Sizes& sizes [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  out[at.y * sizes.columns + at.x] = FACTOR * in[at.y * sizes.columns + at.x];
}
kernel void total(device const float* in, device float* out, threadgroup float* shared,
                  uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  shared[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) { float sum = 0; for (uint k = 0; k < n; ++k) sum += shared[k]; out[0] = sum; }
}
"""


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


def test_metal():
    x, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros((3, 4), np.float32)
    kernel = rung.metal.Kernel(METAL, "scale", constants={"FACTOR": 3})
    kernel(x, out, {"rows": 3, "columns": 4}, grid=(4, 3), group=(2, 2))
    np.testing.assert_array_equal(out, 3 * x)
    kernel(x, out, (3, 4), groups=(2, 3), group=(2, 1))
    with pytest.raises(rung.Hazard, match="out of bounds"):
        kernel(x, out, (3, 4), groups=(2, 4), group=(2, 1))
    with pytest.raises(ValueError, match="expected one number, got 2; pass a NumPy array of them"):
        kernel([1, 2], out, (3, 4), groups=(2, 3), group=(2, 1))
    total = np.zeros(1, np.float32)
    rung.metal.Kernel(METAL, "total", constants={"FACTOR": 3})(x, total, 12 * 4, grid=12, group=12)
    assert total[0] == 66
    with pytest.raises(ValueError, match="no function constant 'OTHER'; it has FACTOR"):
        rung.metal.Kernel(METAL, "scale", constants={"OTHER": 3, "FACTOR": 1})


TEXTURES = """
#include <metal_stdlib>
using namespace metal;
kernel void mirrored(texture2d<half, access::read> in [[texture(0)]],
                     texture2d<half, access::write> out [[texture(1)]], uint2 at [[thread_position_in_grid]]) {
  out.write(2 * in.read(uint2(in.get_width() - 1 - at.x, at.y)), at);
}
kernel void counted(texture1d<uint, access::read_write> line, texture3d<int, access::read> volume,
                    uint i [[thread_position_in_grid]]) {
  line.write(line.read(i) + uint4(volume.read(uint3(i, 1, 2)).x), i);
}
kernel void points(texture2d<float> in, sampler s, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = in.sample(s, float2(i == 0 ? 0.5f : 1.125f, 0.5f)).x;
}
struct Arguments { device const float* x; device float* sums[2]; uint count; texture2d<float, access::write> image; };
kernel void gathered(constant Arguments& args, uint i [[thread_position_in_grid]]) {
  if (i >= args.count) return;
  args.sums[0][i] = args.x[i] + 1;
  args.sums[1][i] = 10 * args.x[i];
  args.image.write(float4(args.x[i]), uint2(i, 0));
}
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 1), (3, 4, 2), (3, 4, 4)])
def test_metal_textures(dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    out = np.full_like(x, 7)
    rung.metal.Kernel(TEXTURES, "mirrored")(x, out, grid=(4, 3), group=(2, 3))
    np.testing.assert_array_equal(out, 2 * x[:, ::-1])


def test_metal_textures_of_integers_and_samplers():
    line, volume = np.array([1, 250, 3], np.uint8), np.arange(24, dtype=np.int32).reshape(3, 2, 4)
    kernel = rung.metal.Kernel(TEXTURES, "counted")
    kernel(line, volume, grid=3, group=3)
    assert line.tolist() == [21, 255, 25]  # bytes saturate
    with pytest.raises(rung.Hazard, match="uninitialised"):
        kernel(line, volume, grid=3, group=3, poison="line")
    ramp, out = np.arange(4, dtype=np.float32).reshape(1, 4), np.zeros(2, np.float32)
    points = rung.metal.Kernel(TEXTURES, "points")
    for sampler, wanted in (("linear", [1.5, 3]), ("linear,repeat", [1.5, 0]), (None, [2, 3])):
        points(ramp, sampler, out, grid=2, group=2)
        assert out.tolist() == wanted
    for value, sampler, message in (
            (ramp.reshape(4), None, "in: the shape 4 is not a texture's; give its rows and columns, and 1 to 4"),
            (np.zeros((2, 2, 5), np.float32), None, "in: the shape 2x2x5 is not a texture's"),
            (ramp.astype(np.int32), None, "in: the elements have type '<i4'; a texture of float takes float32, float16"),
            (ramp, "cubic", "s: 'cubic' is not a property of a sampler; properties are nearest, linear")):
        with pytest.raises(ValueError, match=re.escape(message)):
            points(value, sampler, out, grid=2, group=2)
    with pytest.raises(TypeError, match="expected an array, such as one of float32 with shape"):
        points(1.5, None, out, grid=2, group=2)
    with pytest.raises(TypeError, match="expected properties of a sampler, such as 'linear,repeat'; got int"):
        points(ramp, 3, out, grid=2, group=2)


def test_arrays_in_structs():
    x, sums, image = np.arange(3, dtype=np.float32), np.zeros((2, 3), np.float32), np.zeros((1, 3, 2), np.float16)
    kernel = rung.metal.Kernel(TEXTURES, "gathered")
    kernel({"x": x, "sums": [sums[0], sums[1]], "count": 3, "image": image}, grid=3, group=3)
    np.testing.assert_array_equal(sums, [x + 1, 10 * x])
    np.testing.assert_array_equal(image[0], np.stack([x, x], 1))
    shared = np.ones(1, np.float32)
    kernel((shared, sums[0], shared, 1, image), grid=1, group=1)  # an array in two fields
    assert shared[0] == 10
    with pytest.raises(rung.Hazard, match=re.escape("args.sums[1][2]")):
        kernel({"x": x, "sums": [sums[0], np.zeros(2, np.float32)], "count": 3, "image": image}, grid=3, group=3)
    with pytest.raises(TypeError, match=re.escape("args.x (const float*): expected dtype float32, got int64")):
        kernel((x.astype(int), None, None, 0, None), grid=1, group=1)
    with pytest.raises(TypeError, match=re.escape("args.x (const float*): expected an array or None, got int")):
        kernel((3, None, None, 0, None), grid=1, group=1)
    total = rung.Kernel("""
        struct Args { const float* x; float* sum; int n; };
        __global__ void total(Args args) { for (int i = 0; i < args.n; ++i) *args.sum += args.x[i]; }""", "total")
    sum_ = np.zeros(1, np.float32)
    total[1, 1]({"x": x, "sum": sum_, "n": 3})
    assert sum_[0] == x.sum()


def test_metal_parameters_that_a_function_constant_leaves_out():
    text = """
        constant bool HAS_BIAS [[function_constant(0)]];
        kernel void sum(const device char* x [[buffer(0)]], device float* out [[buffer(1)]],
                        const device float* bias [[buffer(2), function_constant(HAS_BIAS)]],
                        constant float& scale [[buffer(3), function_constant(HAS_BIAS)]],
                        uint i [[thread_position_in_grid]]) {
          out[i] = x[i];
          if (HAS_BIAS) out[i] += scale * bias[i];
        }"""
    x, out = np.arange(4, dtype=np.uint8), np.zeros(4, np.float32)  # bytes for char*
    rung.metal.Kernel(text, "sum", constants={"HAS_BIAS": False})(x=x, out=out, grid=4, group=4)
    np.testing.assert_array_equal(out, x)
    kernel = rung.metal.Kernel(text, "sum", constants={"HAS_BIAS": True})
    kernel(x, out, np.ones(4, np.float32), 2, grid=4, group=4)
    np.testing.assert_array_equal(out, x + 2.0)
    with pytest.raises(rung.Hazard, match="null"):
        kernel(x=x, out=out, grid=4, group=4)


def test_metal_as_mlx_writes_it():
    kernel = rung.metal.metal_kernel("rows", ["a", "s"], ["b"], """
        uint i = thread_position_in_grid.x;
        uint row = i / a_shape[1];
        b[i] = T(a[row * a_strides[0] + i % a_shape[1]] * s + a_ndim + (WIDE ? N : 0));""")
    a = np.arange(12, dtype=np.float16).reshape(3, 4)
    b, = kernel(inputs=[a, np.float16(2)], template=[("T", np.float32), ("WIDE", True), ("N", 5)],
                output_shapes=[a.shape], output_dtypes=[np.float32], grid=(12, 1, 1), threadgroup=(256, 1, 1))
    np.testing.assert_array_equal(b, 2 * a.astype(np.float32) + 7)
    with pytest.raises(rung.Hazard, match="uninitialised"):
        rung.metal.metal_kernel("sums", ["a"], ["b"], "b[0] += a[0];")(
            inputs=[a], output_shapes=[(1,)], output_dtypes=[np.float16], grid=(1, 1, 1), threadgroup=(1, 1, 1))


def test_printf_and_globals(capsys):
    kernel = rung.Kernel('#include <cstdio>\n__device__ int calls;\n'
                         '__global__ void count() { calls += 1; printf("call %d\\n", calls); }')
    assert kernel[1, 1]().printed == "call 1\n"
    kernel[1, 1]()
    assert capsys.readouterr().out == "call 1\ncall 2\n"


def test_in_threads_and_forked_processes(saxpy):
    x = np.ones(64, np.float32)
    ys = [np.zeros(64, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=lambda y=y: [saxpy[1, 64](1, x, y, 64) for _ in range(10)]) for y in ys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((y == 10).all() for y in ys)
    pid = os.fork()
    if pid == 0:
        y = np.zeros(64, np.float32)
        saxpy[1, 64](3, x, y, 64)
        os._exit(0 if (y == 3).all() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    saxpy[1, 64](1, x, ys[0], 64)
    assert (ys[0] == 11).all()


FOREVER = "__global__ void forever(volatile int* x) { while (*x == 0) {} }"


def test_an_interrupt_stops_a_kernel(saxpy):
    forever = rung.Kernel(FOREVER)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            forever[1, 1](np.zeros(1, np.int32))
    finally:
        signal.signal(signal.SIGALRM, before)
    x = np.ones(4, np.float32)
    saxpy[1, 4](1, x, x, 4)
    assert forever[1, 1](np.ones(1, np.int32)).ok and x[0] == 2


def test_after_the_server_ended(saxpy):
    x = np.ones(4, np.float32)
    rung._kernel._kernel_server.server().process.kill()
    with pytest.raises(RuntimeError, match="the virtual GPU's process ended with -9"):
        saxpy[1, 4](1, x, x, 4)
    saxpy[1, 4](1, x, x, 4)
    assert x[0] == 2


def test_the_server_ends_with_a_killed_process():
    program = subprocess.Popen([sys.executable, "-c", f"""if True:
        import numpy as np, rung, rung._kernel_server
        forever = rung.Kernel({FOREVER!r})
        print(rung._kernel_server.server().process.pid, flush=True)
        forever[1, 1](np.zeros(1, np.int32))"""], stdout=subprocess.PIPE, text=True)
    server = pathlib.Path("/proc", program.stdout.readline().strip())

    def processor_time():  # user time in ticks; None after the end
        try:
            fields = (server / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] == "Z" else int(fields[11])

    before = processor_time()
    while processor_time() < before + 20:  # the kernel runs
        assert program.poll() is None
        time.sleep(0.05)
    program.kill()
    program.wait()
    while processor_time() is not None:
        time.sleep(0.05)


def test_adapter_of_pytorch():
    library = rung.metal.compile_shader(METAL.replace("FACTOR *", "2 *"))
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    library.scale(x, out, (1, 6), threads=(6, 1), group_size=(6, 1))
    np.testing.assert_array_equal(out, 2 * x)


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


ORDERS = """
__global__ void first(unsigned* turn, unsigned* order) {
  if (threadIdx.x == 0) order[blockIdx.x] = atomicAdd(turn, 1u);
}"""


def test_random_orders():
    k = rung.Kernel(ORDERS, "first")

    def order(**named):
        turn, found = np.zeros(1, np.uint32), np.zeros(16, np.uint32)
        k[16, 32](turn, found, threads=1, **named)
        assert sorted(found) == list(range(16))
        return list(found)

    assert order() == order(schedule=0) == list(range(16))
    assert order(schedule=1) == order(schedule=1) != order()
    assert len({tuple(order(schedule=seed)) for seed in range(1, 4)}) > 1


def test_a_limit_ends_a_loop():
    k = rung.Kernel('extern "C" __global__ void spin(volatile int* x) { while (*x == 0) {} }', "spin")
    run = k[1, 1](np.zeros(1, np.int32), limit=10_000, on_hazard="report")
    assert [each["kind"] for each in run.hazards] == ["instruction limit"]


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
    section = page[page.index("## Kernels without a GPU"):]
    section = section[:section.index("\n## ", 1)]
    for code in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(code, {})


def test_inspect_signature():
    assert "grid" in inspect.signature(rung.Kernel.__call__).parameters


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


def test_kernels_of_cupy():
    import rung.cupy as cp

    assert doctest.testmod(cp).failed == 0
    module = cp.RawModule(code="""
    template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x + blockIdx.x * blockDim.x] = value * SCALE; }
    """, options=("-DSCALE=2", "--use_fast_math", "--std=c++17"), name_expressions=["fill<double>"])
    x = np.zeros(8)
    module.get_function("fill<double>")((2,), (4,), (x, 1.5))
    assert np.array_equal(x, np.full(8, 3.0))
    with pytest.raises(rung.Hazard):
        module.get_function("fill<double>")((3,), (4,), (x, 1.5))


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


def test_old_sources_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNG_EMU_CACHE", str(tmp_path))
    monkeypatch.setattr(rung._kernel, "_KEPT_SOURCES", 2)
    paths = [rung._kernel._stored(f"// {i}", "k", ".cu") for i in range(3)]
    for path in paths[:2]:
        os.utime(os.path.dirname(path), (1, 1))
    rung._kernel._stored("// 1", "k", ".cu")  # used again
    rung._kernel._stored("// 3", "k", ".cu")
    assert [os.path.exists(path) for path in paths] == [False, True, True]


def test_kernels_that_cupy_makes_of_expressions():
    import rung.cupy as cp

    x, y = cp.arange(10, dtype=np.float32).reshape(2, 5), cp.arange(5, dtype=np.float32)
    squares = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squares")
    assert np.array_equal(squares(x, y), (x - y) ** 2) and squares(x[:, ::2], 3).shape == (2, 3)
    out = np.empty((5, 2), np.float32).T
    assert squares(x, y, out) is out and np.array_equal(out, (x - y) ** 2)
    reverse = cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "reverse")
    assert np.array_equal(reverse(y, y), y + y[::-1])
    counts = np.zeros(3, np.int32)
    cp.ElementwiseKernel("S x", "raw int32 counts", "atomicAdd(&counts[(int)x], 1)")(np.array([0.5, 2.5, 0.1]), counts)
    assert list(counts) == [2, 0, 1]
    doubled = cp.ElementwiseKernel("raw T x, int32 m", "T z", "int at[] = {(int)(i / m), (int)(i % m)}; z = 2 * x[at]")
    assert np.array_equal(doubled(x, 5, size=10), 2 * x.ravel())
    z = np.array([1 + 2j, 3 - 1j], np.complex64)
    turned = cp.ElementwiseKernel("complex64 z", "complex64 w", "w = exp(z) / complex<float>(0, 1)")
    assert np.allclose(turned(z), np.exp(z) / 1j, rtol=1e-5)
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    assert np.allclose(norm(x, axis=1), np.linalg.norm(x, axis=1)) and norm(x, axis=0, keepdims=True).shape == (1, 5)
    assert cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "")(np.arange(1000) - 2000) == -1001
    with pytest.raises(TypeError, match="T is float32 and, by y, float64"):
        squares(x, np.zeros(5))
    with pytest.raises(rung.Hazard, match="nothing has been written"):
        cp.ElementwiseKernel("T x", "T y", "y += x")(y)


def test_arguments_of_cupys_kernels():
    """CuPy passes addresses: of arrays in the order of columns, of unsigned numbers for signed ones, and by data.ptr."""
    import rung.cupy as cp

    scale = cp.RawKernel("""extern "C" __global__ void scale(const int* x, unsigned* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = 2 * x[i];
    }""", "scale")
    x = cp.asfortranarray(cp.arange(12, dtype=cp.uint32).reshape(3, 4))
    y = cp.zeros((3, 4), dtype=cp.int32, order="F")
    scale((1,), (32,), (x, y, x.size), stream=cp.cuda.Stream())
    assert (y == 2 * x).all() and isinstance(y, cp.ndarray)
    y[...] = 0
    scale((1,), (32,), (x.data.ptr, y.data.ptr, x.size))
    assert np.array_equal(y.get(), 2 * x.get())
    with pytest.raises(TypeError, match="expected dtype int32, got float32"):
        scale((1,), (32,), (x.astype(cp.float32), y, 12))
    with pytest.raises(ValueError, match="not C-contiguous"):
        scale((1,), (32,), (x[:, ::2], y, 6))


def test_arrays_of_cupy():
    import rung.cupy as cp

    x = cp.random.rand(5, 3, dtype=cp.float32)
    assert isinstance(x, cp.ndarray) and x.dtype == np.float32
    total = x.sum()
    assert isinstance(total, cp.ndarray) and total.shape == () and type(total.get()) is np.ndarray
    assert isinstance(x[0, 0], cp.ndarray) and isinstance(cp.linalg.norm(x), cp.ndarray) and isinstance(x + 1, cp.ndarray)
    assert cp.get_array_module(x) is cp and cp.get_array_module(x.get()) is np and type(cp.asnumpy(x)) is np.ndarray
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Device(0), cp.cuda.Stream() as stream:
        start.record(stream)
        end.record()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    with pytest.raises(AttributeError, match="'RawKernels' is none of these"):
        cp.RawKernels
