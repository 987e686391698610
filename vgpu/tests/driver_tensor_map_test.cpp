// cuTensorMapEncodeTiled: accepted and rejected arguments, and a map that a kernel uses for a copy.

#include <fmt/format.h>

#include "vgpu/driver/tensor_map_calls.hpp"
#include "vgpu/tests/driver_fixture.hpp"

namespace rung::vgpu {
namespace {

struct Arguments {
  cuda::TensorMapDataType type = cuda::TensorMapDataType::float32;
  unsigned rank = 2;
  std::uint64_t address = 0;
  std::uint64_t sizes[5] = {40, 20, 1, 1, 1};
  std::uint64_t strides[4] = {160, 3200, 3200, 3200};
  std::uint32_t box[5] = {32, 8, 1, 1, 1};
  std::uint32_t steps[5] = {1, 1, 1, 1, 1};
  cuda::TensorMapInterleave interleave = cuda::TensorMapInterleave::none;
  cuda::TensorMapSwizzle swizzle = cuda::TensorMapSwizzle::bytes_128;
};

class DriverTensorMap : public DriverTest {
 protected:
  Result encode(const Arguments& a) {
    return api.cuTensorMapEncodeTiled(&map, a.type, a.rank, reinterpret_cast<void*>(a.address),
                                      a.sizes, a.strides, a.box, a.steps, a.interleave, a.swizzle,
                                      cuda::TensorMapL2Promotion::none, cuda::TensorMapFill::zeros);
  }
  cuda::TensorMap map;
};

TEST_F(DriverTensorMap, RefusesWhatTheHardwareCannotDo) {
  Arguments right;
  right.address = allocate(3200);
  EXPECT_OK(encode(right));
  const auto refuses = [&](const char* message, const auto& change) {
    Arguments wrong = right;
    change(wrong);
    EXPECT_EQ(encode(wrong), Result::invalid_value) << message;
    EXPECT_EQ(virtual_driver_message(), fmt::format("cuTensorMapEncodeTiled: {}", message));
  };
  refuses("rank 6: 1 to 5", [](Arguments& a) { a.rank = 6; });
  refuses("stride [0] of 164 bytes: a multiple of 16 below 2^40",
          [](Arguments& a) { a.strides[0] = 164; });
  refuses("box[1] 257: 1 to 256", [](Arguments& a) { a.box[1] = 257; });
  refuses("box[0] of 12 bytes: a multiple of 16", [](Arguments& a) { a.box[0] = 3; });
  refuses("box[0] of 144 bytes: at most the swizzle's 128", [](Arguments& a) { a.box[0] = 36; });
  refuses("element stride [1] 9: 1 to 8", [](Arguments& a) { a.steps[1] = 9; });
  refuses("size [0] 0: 1 to 2^32", [](Arguments& a) { a.sizes[0] = 0; });
  refuses("box[0] 32: 128 for this type", [](Arguments& a) {
    a.type = cuda::TensorMapDataType::u6_align_16;
    a.sizes[0] = 128;
  });
  refuses("size [0] 40: a multiple of 128 for this type",
          [](Arguments& a) { a.type = cuda::TensorMapDataType::u4_align_16; });
  refuses("box[0] of 128 bytes: at most the swizzle's 64", [](Arguments& a) {
    a.type = cuda::TensorMapDataType::u4_align_8;
    a.swizzle = cuda::TensorMapSwizzle::bytes_64;
    a.box[0] = 256;
  });
  right.address += 8;
  EXPECT_EQ(encode(right), Result::invalid_value);
  right.address -= 8;
  right.interleave = cuda::TensorMapInterleave::bytes_16;
  EXPECT_EQ(encode(right), Result::not_supported);
}

TEST_F(DriverTensorMap, ColumnsOfPixelsHaveTheirLimits) {
  const std::uint64_t sizes[] = {64, 9, 5, 3}, strides[] = {128, 1152, 5760};
  const std::uint32_t steps[] = {1, 1, 1, 1};
  Im2colMap right;
  right.type = cuda::TensorMapDataType::bfloat16;
  right.rank = 4;
  right.address = reinterpret_cast<void*>(allocate(3 * 5760));
  right.sizes = sizes;
  right.strides = strides;
  right.channels_per_pixel = 64;
  right.pixels_per_column = 1024;
  right.steps = steps;
  right.swizzle = cuda::TensorMapSwizzle::bytes_128;
  const int lower[] = {-1, -128}, upper[] = {127, -1}, beyond[] = {-1, 128};
  EXPECT_OK(virtual_encode_im2col(&map, right, lower, upper));
  EXPECT_OK(virtual_encode_im2col_wide(&map, right, -32768, 32767, true));
  const auto refuses = [&](const char* message, const auto& change) {
    Im2colMap wrong = right;
    change(wrong);
    EXPECT_EQ(virtual_encode_im2col_wide(&map, wrong, 0, 0, false), Result::invalid_value)
        << message;
    EXPECT_EQ(virtual_driver_message(), fmt::format("cuTensorMapEncodeIm2colWide: {}", message));
  };
  refuses("rank 2: 3 to 5", [](Im2colMap& it) { it.rank = 2; });
  refuses("box[1] 1025: 1 to 1024", [](Im2colMap& it) { it.pixels_per_column = 1025; });
  refuses("box[0] 257: 1 to 256", [](Im2colMap& it) { it.channels_per_pixel = 257; });
  refuses("expected a swizzle, and none with flipped halves",
          [](Im2colMap& it) { it.swizzle = cuda::TensorMapSwizzle::none; });
  // Corners of four dimensions have 8 bits (PTX ISA, 5.5.4.1).
  EXPECT_EQ(virtual_encode_im2col(&map, right, lower, beyond), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "cuTensorMapEncodeIm2col: corner [1] 128: -128 to 127");
}

TEST_F(DriverTensorMap, KernelsCopyByIt) {
  // The box at (32, 16), with 8 x 4 words inside the tensor, by a map passed as a parameter.
  const cuda::Module module = load(R"(
    .visible .entry k(.param .align 64 .b8 map[128], .param .u64 y) {
      .shared .align 128 .b8 data[1024];
      .shared .align 8 .b8 bar[8];
      .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .pred %p;
      mov.b64 %rd1, map;
      cvta.param.u64 %rd2, %rd1;
      ld.param.u64 %rd3, [y];
      mov.u32 %r1, data;
      mov.u32 %r2, 32;
      mov.u32 %r3, 16;
      mbarrier.init.shared.b64 [bar], 1;
      fence.proxy.async;
      prefetch.tensormap [%rd2];
      mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
      cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r2, %r3}], [bar];
      W: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
      @!%p bra W;
      ld.shared.u32 %r1, [data+4];
      st.global.u32 [%rd3], %r1;
      ret;
    })",
                                   "sm_90a");
  Arguments arguments;
  arguments.address = allocate(3200);
  arguments.swizzle = cuda::TensorMapSwizzle::none;
  std::vector<unsigned> words(800);
  for (unsigned i = 0; i < 800; ++i) words[i] = i;
  EXPECT_OK(api.cuMemcpyHtoD(arguments.address, words.data(), 3200));
  ASSERT_OK(encode(arguments));
  cuda::DevicePointer y = allocate(4);
  EXPECT_OK(launch(function(module, "k"), {&map, &y}));
  EXPECT_OK(api.cuCtxSynchronize());
  EXPECT_EQ(read(y), 16u * 40 + 33);
}

}  // namespace
}  // namespace rung::vgpu
