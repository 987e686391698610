"""rung.metal: kernels on arrays and textures, and the interfaces of MLX and PyTorch."""

import re

import numpy as np
import pytest

import rung
import rung.metal
from kernel_texts import METAL, needs_clang

pytestmark = needs_clang


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


def test_adapter_of_pytorch():
    library = rung.metal.compile_shader(METAL.replace("FACTOR *", "2 *"))
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    library.scale(x, out, (1, 6), threads=(6, 1), group_size=(6, 1))
    np.testing.assert_array_equal(out, 2 * x)
