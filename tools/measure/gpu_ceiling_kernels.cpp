#include "tools/measure/gpu_ceiling_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace rung {
namespace {

constexpr int fma_unroll = 16;
constexpr int loads_in_flight = 4;

/// A multiply-add instruction in PTX, and its registers.
struct Instruction {
  std::string_view entry;  // of the kernel
  std::string_view text;   // "fma.rn.f32"
  std::string_view type;   // of a register: "f32"
  std::string_view from_int;
  std::string_view sum;
  int bytes;
  int chains;  // enough to hide the latency without spilling
};

constexpr std::array instructions = {
    Instruction{"multiply_add_f32", "fma.rn.f32", "f32", "cvt.rn.f32.s32", "add.f32", 4, 16},
    Instruction{"multiply_add_f64", "fma.rn.f64", "f64", "cvt.rn.f64.s32", "add.f64", 8, 8},
    Instruction{"multiply_add_i32", "mad.lo.s32", "s32", "mov.b32", "add.s32", 4, 16},
};

const Instruction& instruction_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return instructions[1];
    case Dtype::i32: return instructions[2];
    default: return instructions[0];
  }
}

constexpr std::string_view index_of_thread = R"(
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %index, %block, %threads, %thread;
)";

std::string multiply_add(const Instruction& instruction) {
  const auto& [entry, fma, type, from_int, sum, bytes, chains] = instruction;
  std::string text = fmt::format(R"(
.visible .entry {}(.param .align 8 .b8 argument[16])
{{
  .reg .u32 %thread, %block, %threads, %index;
  .reg .s32 %left, %start, %one;
  .reg .u64 %sums;
  .reg .pred %more;
  .reg .{} %x<{}>, %factor;
  ld.param.u64 %sums, [argument];
  ld.param.s32 %left, [argument+8];
  ld.param.s32 %one, [argument+12];
)",
                                 entry, type, chains);
  text += index_of_thread;
  text += fmt::format(
      "  mad.wide.u32 %sums, %index, {}, %sums;\n"
      "  {} %factor, %one;\n",
      bytes, from_int);
  for (int i = 0; i < chains; ++i) {
    text += fmt::format("  mov.s32 %start, {};\n  {} %x{}, %start;\n", i, from_int, i);
  }
  text +=
      "  setp.gt.s32 %more, %left, 0;\n"
      "  @!%more bra done;\n"
      "again:\n";
  for (int step = 0; step < fma_unroll; ++step) {
    for (int i = 0; i < chains; ++i) {
      text += fmt::format("  {} %x{}, %x{}, %factor, %factor;\n", fma, i, i);
    }
  }
  text +=
      "  sub.s32 %left, %left, 1;\n"
      "  setp.gt.s32 %more, %left, 0;\n"
      "  @%more bra again;\n"
      "done:\n";
  for (int i = 1; i < chains; ++i) text += fmt::format("  {} %x0, %x0, %x{};\n", sum, i);
  return text + fmt::format("  st.global.{} [%sums], %x0;\n  ret;\n}}\n", type);
}

std::string read() {
  std::string text = R"(
.visible .entry read(.param .align 8 .b8 argument[24])
{
  .reg .u32 %thread, %block, %threads, %index, %blocks, %all;
  .reg .b32 %bits, %v<16>;
  .reg .u64 %data, %out, %from, %stride, %far;
  .reg .s64 %left, %step, %ahead;
  .reg .pred %more;
  ld.param.u64 %data, [argument];
  ld.param.u64 %out, [argument+8];
  ld.param.s64 %left, [argument+16];
)";
  text += index_of_thread;
  // %left: the number of pieces from this thread's next piece to the end.
  text += fmt::format(
      "  mov.u32 %blocks, %nctaid.x;\n"
      "  mul.lo.u32 %all, %blocks, %threads;\n"
      "  cvt.s64.u32 %step, %all;\n"
      "  mul.wide.u32 %stride, %all, 16;\n"
      "  mul.lo.u64 %far, %stride, {0};\n"
      "  mul.lo.s64 %ahead, %step, {0};\n"
      "  mul.wide.u32 %from, %index, 16;\n"
      "  add.u64 %data, %data, %from;\n"
      "  cvt.s64.u32 %from, %index;\n"
      "  sub.s64 %left, %left, %from;\n"
      "  mul.wide.u32 %from, %index, 4;\n"
      "  add.u64 %out, %out, %from;\n"
      "  mov.b32 %bits, 0;\n"
      "  sub.s64 %ahead, %ahead, %step;\n"
      "many:\n"
      "  setp.gt.s64 %more, %left, %ahead;\n"
      "  @!%more bra few;\n"
      "  mov.u64 %from, %data;\n",
      loads_in_flight);
  for (int i = 0; i < loads_in_flight; ++i) {
    text += fmt::format(
        "  ld.global.v4.b32 {{%v{}, %v{}, %v{}, %v{}}}, [%from];\n"
        "  add.u64 %from, %from, %stride;\n",
        4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  }
  for (int i = 0; i < 4 * loads_in_flight; ++i) {
    text += fmt::format("  or.b32 %bits, %bits, %v{};\n", i);
  }
  text +=
      "  add.u64 %data, %data, %far;\n"
      "  sub.s64 %left, %left, %ahead;\n"
      "  sub.s64 %left, %left, %step;\n"
      "  bra many;\n"
      "few:\n"
      "  setp.gt.s64 %more, %left, 0;\n"
      "  @!%more bra done;\n"
      "  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%data];\n";
  for (int i = 0; i < 4; ++i) text += fmt::format("  or.b32 %bits, %bits, %v{};\n", i);
  text +=
      "  add.u64 %data, %data, %stride;\n"
      "  sub.s64 %left, %left, %step;\n"
      "  bra few;\n"
      "done:\n"
      "  st.global.b32 [%out], %bits;\n"
      "  ret;\n"
      "}\n";
  return text;
}

std::string module_text() {
  std::string text = ".version 6.4\n.target sm_70\n.address_size 64\n";
  for (const Instruction& instruction : instructions) text += multiply_add(instruction);
  return text + read();
}

}  // namespace

const cuda::Unit& gpu_ceiling_module() {
  static const std::string text = module_text();
  static const cuda::Unit module = {{}, text};
  return module;
}

GpuFmaKernel gpu_fma_kernel(Dtype dtype) {
  const Instruction& instruction = instruction_of(dtype);
  return {instruction.entry.data(), instruction.chains, fma_unroll, instruction.bytes};
}

}  // namespace rung
