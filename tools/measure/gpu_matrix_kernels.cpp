#include "tools/measure/gpu_matrix_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>

#include "core/dtype_traits.hpp"

namespace rung {
namespace {

std::string_view zero_of(std::string_view type) {
  return type == "f64" ? "0d0000000000000000" : type == "f32" ? "0f00000000" : "0";
}

/// An mma.sync instruction in PTX. All elements of A and B are 1.
struct Mma {
  const char* entry;
  std::string_view types;  // of D, A, B and C
  int m, n, k;
  int element_bytes;     // of A and B
  std::string_view one;  // register contents for elements of 1

  constexpr std::string_view sum() const { return types.substr(0, 3); }
  constexpr int sum_bytes() const { return sum() == "f64" ? 8 : 4; }
  constexpr std::string_view in() const { return sum() == "f64" ? "f64" : "b32"; }
  // Registers per thread, 1/32 of a warp's.
  constexpr int a_count() const { return m * k * element_bytes / (32 * sum_bytes()); }
  constexpr int b_count() const { return n * k * element_bytes / (32 * sum_bytes()); }
  constexpr int c_count() const { return m * n / 32; }
};

constexpr Mma mma_f16 = {"mma_f16", "f32.f16.f16.f32", 16, 8, 16, 2, "0x3C003C00"};
constexpr Mma mma_bf16 = {"mma_bf16", "f32.bf16.bf16.f32", 16, 8, 16, 2, "0x3F803F80"};
constexpr Mma mma_tf32 = {"mma_tf32", "f32.tf32.tf32.f32", 16, 8, 8, 4, "0x3F800000"};
constexpr Mma mma_i8 = {"mma_i8", "s32.s8.s8.s32", 16, 8, 32, 1, "0x01010101"};
constexpr Mma mma_f64 = {"mma_f64", "f64.f64.f64.f64", 8, 8, 4, 8, "0d3FF0000000000000"};
// Faster than the small shape on GPUs that support it.
constexpr Mma mma_f64_large = {"mma_f64_large",     "f64.f64.f64.f64", 16, 8, 16, 8,
                               "0d3FF0000000000000"};

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

/// Initializes %c0, %c1, … to zero.
std::string zeros(std::string_view type, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("  mov.{} %c{}, {};\n", type, i, zero_of(type));
  return text;
}

/// The loop around `body`, followed by storing the sum of `count` accumulators %c0, %c1, ….
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
  const int a = mma.a_count(), b = mma.b_count(), c = mma.c_count();
  const int accumulators = mma_chains * c;
  std::string text = head(mma.entry, "");
  text += fmt::format("  .reg .{} %a<{}>, %b<{}>;\n  .reg .{} %c<{}>;\n", mma.in(), a, b, mma.sum(),
                      accumulators);
  for (int i = 0; i < a; ++i) text += fmt::format("  mov.{} %a{}, {};\n", mma.in(), i, mma.one);
  for (int i = 0; i < b; ++i) text += fmt::format("  mov.{} %b{}, {};\n", mma.in(), i, mma.one);
  text += zeros(mma.sum(), accumulators);
  std::string body;
  for (int step = 0; step < mma_unroll; ++step) {
    for (int chain = 0; chain < mma_chains; ++chain) {
      const std::string sums = registers('c', chain * c, c);
      body += fmt::format("  mma.sync.aligned.m{}n{}k{}.row.col.{} {}, {}, {}, {};\n", mma.m, mma.n,
                          mma.k, mma.types, sums, registers('a', 0, a), registers('b', 0, b), sums);
    }
  }
  return text + loop(body, accumulators, mma.sum(), mma.sum_bytes());
}

// wgmma.m64n256: A (64 rows) and B (256 rows) are in shared memory, as swizzled rows of 128 bytes.
// An instruction reads 32 bytes of each row.
constexpr int wgmma_accumulators = 128;
constexpr int wgmma_unroll = 16;
constexpr int wgmma_bytes = 32;
constexpr std::int64_t wgmma_block = 256;  // two warpgroups: one waits while the other computes

/// A wgmma instruction in PTX. Operands are random: words of shared memory have random bits where
/// `random` is set, and 1 where `constant` is set. Floating-point elements are between 0.5 and 1
/// with either sign.
struct Wgmma {
  const char* entry;
  std::string_view types;  // of accumulator, A and B: "f32.bf16.bf16"
  int element_bytes;       // of A and B
  std::uint32_t random, constant;
  std::string_view modifiers;  // after the predicate: scale factors of A and B, transposition flags

  constexpr int k() const { return wgmma_bytes / element_bytes; }
  constexpr std::string_view sum() const { return types.substr(0, 3); }
};

constexpr Wgmma wgmma_f16 = {"wgmma_f16", "f32.f16.f16", 2, 0x83FF83FF, 0x38003800, ", 1, 1, 0, 0"};
constexpr Wgmma wgmma_bf16 = {"wgmma_bf16", "f32.bf16.bf16", 2,
                              0x807F807F,   0x3F003F00,      ", 1, 1, 0, 0"};
constexpr Wgmma wgmma_tf32 = {"wgmma_tf32", "f32.tf32.tf32", 4, 0x807FE000, 0x3F000000, ", 1, 1"};
constexpr Wgmma wgmma_i8 = {"wgmma_i8", "s32.s8.s8", 1, 0xFFFFFFFF, 0, ""};
constexpr Wgmma wgmma_e4m3 = {"wgmma_e4m3", "f32.e4m3.e4m3", 1, 0x87878787, 0x30303030, ", 1, 1"};
constexpr Wgmma wgmma_e5m2 = {"wgmma_e5m2", "f32.e5m2.e5m2", 1, 0x83838383, 0x38383838, ", 1, 1"};

std::string kernel_of(const Wgmma& wgmma) {
  constexpr int a_bytes = 64 * 128, b_bytes = 256 * 128;
  std::string text = head(wgmma.entry, fmt::format(".maxntid {}", wgmma_block));
  // Descriptors (PTX ISA, "Matrix Descriptor Format"): address / 16, a stride of 1024 bytes between
  // groups of eight rows, 128-byte swizzle.
  text += fmt::format(R"(  .shared .align 1024 .b8 tiles[{0}];
  .reg .b32 %word, %high, %offset, %at, %base;
  .reg .b64 %a, %b, %a_step, %b_step;
  .reg .{1} %c<{2}>;
  .reg .pred %add;
  mov.u32 %base, tiles;
  shl.b32 %offset, %thread, 2;
fill:
  mul.lo.u32 %word, %offset, 0x9E3779B1;
  shr.u32 %high, %word, 13;
  xor.b32 %word, %word, %high;
  and.b32 %word, %word, {3:#x};
  or.b32 %word, %word, {4:#x};
  add.u32 %at, %base, %offset;
  st.shared.b32 [%at], %word;
  add.u32 %offset, %offset, {5};
  setp.lt.u32 %more, %offset, {0};
  @%more bra fill;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %base, %base, 4;
  cvt.u64.u32 %a, %base;
  or.b64 %a, %a, 0x4000004000010000;
  add.u64 %b, %a, {6};
  setp.eq.u32 %add, 0, 0;
)",
                      a_bytes + b_bytes, wgmma.sum(), wgmma_accumulators, wgmma.random,
                      wgmma.constant, 4 * wgmma_block, a_bytes / 16);
  text += zeros(wgmma.sum(), wgmma_accumulators);
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < wgmma_unroll; ++step) {
    const int along = step % 4 * wgmma_bytes / 16;  // offset in the rows, in units of 16 bytes
    body += fmt::format(
        "  add.u64 %a_step, %a, {0};\n"
        "  add.u64 %b_step, %b, {0};\n"
        "  wgmma.mma_async.sync.aligned.m64n256k{1}.{2} {3}, %a_step, %b_step, %add{4};\n",
        along, wgmma.k(), wgmma.types, registers('c', 0, wgmma_accumulators), wgmma.modifiers);
  }
  body +=
      "  wgmma.commit_group.sync.aligned;\n"
      "  wgmma.wait_group.sync.aligned 0;\n";
  return text + loop(body, wgmma_accumulators, wgmma.sum(), 4);
}

/// A separate image per architecture, because a driver compiles either all of an image or nothing.
const cuda::Unit& module_80() {
  static const std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n" +
                                  kernel_of(mma_f16) + kernel_of(mma_bf16) + kernel_of(mma_tf32) +
                                  kernel_of(mma_i8) + kernel_of(mma_f64);
  static const cuda::Unit module = {{}, text};
  return module;
}

const cuda::Unit& module_90() {
  static const std::string text =
      ".version 7.8\n.target sm_90\n.address_size 64\n" + kernel_of(mma_f64_large);
  static const cuda::Unit module = {{}, text};
  return module;
}

const cuda::Unit& module_90a() {
  static const std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" +
                                  kernel_of(wgmma_f16) + kernel_of(wgmma_bf16) +
                                  kernel_of(wgmma_tf32) + kernel_of(wgmma_i8) +
                                  kernel_of(wgmma_e4m3) + kernel_of(wgmma_e5m2);
  static const cuda::Unit module = {{}, text};
  return module;
}

GpuMatrixKernel describe(const cuda::Unit& module, const Mma& mma) {
  constexpr double warp = 32;
  const double flops = 2.0 * mma.m * mma.n * mma.k;
  return {&module, mma.entry, flops * mma_chains * mma_unroll / warp, mma.sum_bytes(), 256, 4};
}

GpuMatrixKernel describe(const Wgmma& wgmma) {
  constexpr double group = 128;
  const double flops = 2.0 * 64 * 256 * wgmma.k();
  return {&module_90a(), wgmma.entry, flops * wgmma_unroll / group, 4, wgmma_block, 1};
}

}  // namespace

std::vector<GpuMatrixKernel> gpu_matrix_kernels(Dtype dtype, int arch, int cuda_version) {
  std::vector<GpuMatrixKernel> kernels;
  if (arch < 80) return kernels;
  const bool has_wgmma = arch == 90 && cuda_version >= 12000;
  switch (unrounded(dtype)) {
    case Dtype::f16:
      kernels.push_back(describe(module_80(), mma_f16));
      if (has_wgmma) kernels.push_back(describe(wgmma_f16));
      break;
    case Dtype::bf16:
      kernels.push_back(describe(module_80(), mma_bf16));
      if (has_wgmma) kernels.push_back(describe(wgmma_bf16));
      break;
    case Dtype::tf32:
      kernels.push_back(describe(module_80(), mma_tf32));
      if (has_wgmma) kernels.push_back(describe(wgmma_tf32));
      break;
    case Dtype::i8:
      kernels.push_back(describe(module_80(), mma_i8));
      if (has_wgmma) kernels.push_back(describe(wgmma_i8));
      break;
    case Dtype::e4m3:
      if (has_wgmma) kernels.push_back(describe(wgmma_e4m3));
      break;
    case Dtype::e5m2:
      if (has_wgmma) kernels.push_back(describe(wgmma_e5m2));
      break;
    case Dtype::f64:
      kernels.push_back(describe(module_80(), mma_f64));
      if (arch >= 90) kernels.push_back(describe(module_90(), mma_f64_large));
      break;
    default: break;
  }
  return kernels;
}

}  // namespace rung
