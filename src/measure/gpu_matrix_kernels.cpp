#include "measure/gpu_matrix_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>

namespace rung {
namespace {

/// One mma.sync of PTX, and what it takes in a thread.
struct Mma {
  std::string_view entry;
  std::string_view text;  // "mma.sync.aligned…"
  std::string_view in;    // type of an input register
  std::string_view one;   // such a register full of ones
  std::string_view sum;   // type of an accumulator
  std::string_view zero;
  int a, b, c;  // registers of each
  int flops;    // of a warp
  int sum_bytes;
};

constexpr Mma mma_f16 = {"mma_f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                         "b32",     "0x3C003C00",
                         "f32",     "0f00000000",
                         4,         2,
                         4,         2 * 16 * 8 * 16,
                         4};
constexpr Mma mma_bf16 = {"mma_bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                          "b32",      "0x3F803F80",
                          "f32",      "0f00000000",
                          4,          2,
                          4,          2 * 16 * 8 * 16,
                          4};
constexpr Mma mma_f64 = {"mma_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
                         "f64",     "0d3FF0000000000000",
                         "f64",     "0d0000000000000000",
                         1,         1,
                         2,         2 * 8 * 8 * 4,
                         8};
// Faster than the small one, where it exists.
constexpr Mma mma_f64_large = {"mma_f64_large",
                               "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
                               "f64",
                               "0d3FF0000000000000",
                               "f64",
                               "0d0000000000000000",
                               8,
                               4,
                               4,
                               2 * 16 * 8 * 16,
                               8};

std::string registers(char prefix, int first, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("%{}{}", prefix, first + i));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

std::string head(std::string_view entry, std::string_view bounds) {
  return fmt::format(R"(
.visible .entry {}(.param .align 8 .b8 argument[16]) {}
{{
  .reg .u32 %thread, %block, %threads, %index;
  .reg .s32 %left;
  .reg .u64 %sums;
  .reg .pred %more;
  ld.param.u64 %sums, [argument];
  ld.param.s32 %left, [argument+8];
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %index, %block, %threads, %thread;
)",
                     entry, bounds);
}

/// The loop around `body`, and the sum of `count` accumulators %c0, %c1, … stored.
std::string loop(const std::string& body, int count, std::string_view type, int bytes) {
  std::string text =
      "  setp.gt.s32 %more, %left, 0;\n"
      "  @!%more bra done;\n"
      "again:\n" +
      body +
      "  sub.s32 %left, %left, 1;\n"
      "  setp.gt.s32 %more, %left, 0;\n"
      "  @%more bra again;\n"
      "done:\n";
  for (int i = 1; i < count; ++i) text += fmt::format("  add.{} %c0, %c0, %c{};\n", type, i);
  return text + fmt::format(
                    "  mad.wide.u32 %sums, %index, {}, %sums;\n"
                    "  st.global.{} [%sums], %c0;\n"
                    "  ret;\n"
                    "}}\n",
                    bytes, type);
}

std::string kernel_of(const Mma& mma) {
  const int accumulators = mma_chains * mma.c;
  std::string text = head(mma.entry, "");
  text += fmt::format("  .reg .{} %a<{}>, %b<{}>;\n  .reg .{} %c<{}>;\n", mma.in, mma.a, mma.b,
                      mma.sum, accumulators);
  for (int i = 0; i < mma.a; ++i) text += fmt::format("  mov.{} %a{}, {};\n", mma.in, i, mma.one);
  for (int i = 0; i < mma.b; ++i) text += fmt::format("  mov.{} %b{}, {};\n", mma.in, i, mma.one);
  for (int i = 0; i < accumulators; ++i) {
    text += fmt::format("  mov.{} %c{}, {};\n", mma.sum, i, mma.zero);
  }
  std::string body;
  for (int step = 0; step < mma_unroll; ++step) {
    for (int chain = 0; chain < mma_chains; ++chain) {
      const std::string c = registers('c', chain * mma.c, mma.c);
      body += fmt::format("  {} {}, {}, {}, {};\n", mma.text, c, registers('a', 0, mma.a),
                          registers('b', 0, mma.b), c);
    }
  }
  return text + loop(body, accumulators, mma.sum, mma.sum_bytes);
}

// wgmma.m64n256k16: A (64 x 64) and B (256 x 64) lie in shared memory, rows of 128 bytes, swizzled.
constexpr int wgmma_accumulators = 128;
constexpr int wgmma_unroll = 16;
constexpr int wgmma_flops = 2 * 64 * 256 * 16;
constexpr std::int64_t wgmma_block = 256;  // two groups of four warps: one waits, one works

/// type: "f16" or "bf16"; the sign and the significand of a pair of them; 0.5 as a pair.
std::string wgmma_kernel(std::string_view type, std::string_view random, std::string_view half) {
  constexpr int a_bytes = 64 * 128, b_bytes = 256 * 128;
  std::string text = head(fmt::format("wgmma_{}", type), fmt::format(".maxntid {}", wgmma_block));
  // Descriptors (PTX ISA, "Matrix Descriptor Format"): address / 16, 1024 bytes from eight rows to
  // the next eight, swizzle of 128 bytes.
  text += fmt::format(R"(  .shared .align 1024 .b8 tiles[{}];
  .reg .b32 %word, %high, %at, %base, %end;
  .reg .b64 %a, %b, %a_step, %b_step;
  .reg .f32 %c<{}>;
  .reg .pred %add;
  mov.u32 %base, tiles;
  add.u32 %end, %base, {};
  mad.lo.u32 %at, %thread, 4, %base;
fill:
  mul.lo.u32 %word, %at, 0x9E3779B1;
  shr.u32 %high, %word, 13;
  xor.b32 %word, %word, %high;
  and.b32 %word, %word, {};
  or.b32 %word, %word, {};
  st.shared.b32 [%at], %word;
  add.u32 %at, %at, {};
  setp.lt.u32 %more, %at, %end;
  @%more bra fill;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %base, %base, 4;
  cvt.u64.u32 %a, %base;
  or.b64 %a, %a, 0x4000004000010000;
  add.u64 %b, %a, {};
  setp.eq.u32 %add, 0, 0;
)",
                      a_bytes + b_bytes, wgmma_accumulators, a_bytes + b_bytes, random, half,
                      4 * wgmma_block, a_bytes / 16);
  for (int i = 0; i < wgmma_accumulators; ++i)
    text += fmt::format("  mov.f32 %c{}, 0f00000000;\n", i);
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < wgmma_unroll; ++step) {
    const int k = 2 * (step % 4);  // 16 elements further in a row, in units of 16 bytes
    body += fmt::format(
        "  add.u64 %a_step, %a, {0};\n"
        "  add.u64 %b_step, %b, {0};\n"
        "  wgmma.mma_async.sync.aligned.m64n256k16.f32.{1}.{1} {2}, %a_step, %b_step, %add, 1, 1, "
        "0, 0;\n",
        k, type, registers('c', 0, wgmma_accumulators));
  }
  body +=
      "  wgmma.commit_group.sync.aligned;\n"
      "  wgmma.wait_group.sync.aligned 0;\n";
  return text + loop(body, wgmma_accumulators, "f32", 4);
}

/// An image of its own for each architecture: a driver compiles all of an image or nothing.
const cuda::Image& image_80() {
  static const std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n" +
                                  kernel_of(mma_f16) + kernel_of(mma_bf16) + kernel_of(mma_f64);
  static const cuda::Image image = {"matrix ceilings", cuda::Code::clang_ptx, 80, text};
  return image;
}

const cuda::Image& image_90() {
  static const std::string text =
      ".version 7.8\n.target sm_90\n.address_size 64\n" + kernel_of(mma_f64_large);
  static const cuda::Image image = {"matrix ceilings", cuda::Code::clang_ptx, 90, text};
  return image;
}

const cuda::Image& image_90a() {
  static const std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" +
                                  wgmma_kernel("f16", "0x83FF83FF", "0x38003800") +
                                  wgmma_kernel("bf16", "0x807F807F", "0x3F003F00");
  static const cuda::Image image = {"matrix ceilings", cuda::Code::clang_ptx, 90, text};
  return image;
}

GpuMatrixKernel describe(const cuda::Image& image, const Mma& mma) {
  constexpr double warp = 32;
  return {&image, mma.entry.data(), mma.flops * mma_chains * mma_unroll / warp, mma.sum_bytes, 256,
          4};
}

GpuMatrixKernel describe_wgmma(const char* entry) {
  constexpr double group = 128;
  return {&image_90a(), entry, wgmma_flops * wgmma_unroll / group, 4, wgmma_block, 1};
}

}  // namespace

std::vector<GpuMatrixKernel> gpu_matrix_kernels(Dtype dtype, int arch, int cuda_version) {
  std::vector<GpuMatrixKernel> kernels;
  if (arch < 80) return kernels;
  const bool has_wgmma = arch == 90 && cuda_version >= 12000;
  switch (dtype) {
    case Dtype::f16_f16:
    case Dtype::f16:
      kernels.push_back(describe(image_80(), mma_f16));
      if (has_wgmma) kernels.push_back(describe_wgmma("wgmma_f16"));
      break;
    case Dtype::bf16_bf16:
    case Dtype::bf16:
      kernels.push_back(describe(image_80(), mma_bf16));
      if (has_wgmma) kernels.push_back(describe_wgmma("wgmma_bf16"));
      break;
    case Dtype::f64:
      kernels.push_back(describe(image_80(), mma_f64));
      if (arch >= 90) kernels.push_back(describe(image_90(), mma_f64_large));
      break;
    default: break;
  }
  return kernels;
}

}  // namespace rung
