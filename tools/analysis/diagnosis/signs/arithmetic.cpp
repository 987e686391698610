// Signs of arithmetic that costs more than it must.

#include "tools/analysis/diagnosis/signs/common.hpp"

namespace rung::analysis::diagnosis::signs {
namespace {

bool touches_doubles(const Facts& f) {
  return std::any_of(f.trace.accesses.begin(), f.trace.accesses.end(),
                     [](const Access& access) { return access.element_bytes == 8; });
}

/// The number of instructions for addresses and indices per instruction on data.
double integers_for_each(const Facts& f) {
  const auto is_on = [&](const Instruction& instruction, Pipe pipe) {
    return cost_of(instruction, f.device).pipe == pipe && !is_slow(instruction);
  };
  const double integers = share_of(f, [&](const Instruction& i, const SiteCount&) {
    return !i.has("f32") && (is_on(i, Pipe::integer) || is_on(i, Pipe::multiply));
  });
  const double data = share_of(f, [&](const Instruction& i, const SiteCount&) {
    return i.has("f32") || is_on(i, Pipe::fp32) || is_on(i, Pipe::fp64) ||
           is_on(i, Pipe::special) ||
           i.is(vgpu::ptx::Opcode::ld, vgpu::ptx::Opcode::st, vgpu::ptx::Opcode::atom,
                vgpu::ptx::Opcode::red);
  });
  return share(integers, data);
}

double share_divided(const Facts& f, bool integers) {
  return share_of(f, [&](const Instruction& i, const SiteCount&) {
    return is_slow(i) && (i.has("f32") || i.has("f64")) != integers;
  });
}

}  // namespace

bool uses_doubles_needlessly(const Facts& f) {
  return !touches_doubles(f) && share_of(f, [](const Instruction& instruction, const SiteCount&) {
                                  return instruction.has("f64");
                                }) > 0.02;
}
std::string doubles(const Facts& f) {
  return fmt::format(
      "{:.0f} % of the instructions compute in double precision, though all data are "
      "single: a literal without f, or a function of double",
      100 * share_of(f, [](const Instruction& instruction, const SiteCount&) {
        return instruction.has("f64");
      }));
}

bool divides_integers(const Facts& f) {
  return share_divided(f, true) > std::max(0.1, share_divided(f, false));
}

bool divides(const Facts& f) {
  if (divides_integers(f)) return false;
  // Excludes those in double precision if doubles are reported as unnecessary.
  const bool but_doubles = uses_doubles_needlessly(f);
  return share_of(f, [&](const Instruction& i, const SiteCount&) {
           return is_slow(i) && !(but_doubles && i.has("f64"));
         }) > 0.1;
}
std::string divisions(const Facts& f) {
  return fmt::format(
      "divisions, remainders and square roots take {:.0f} % of the issue slots: each "
      "becomes 9 to 80 instructions",
      100 * share_of(f, [](const Instruction& i, const SiteCount&) { return is_slow(i); }));
}

bool computes_addresses(const Facts& f) { return integers_for_each(f) > 6; }
std::string addresses(const Facts& f) {
  return fmt::format(
      "{:.0f} integer instructions for each access or operation on data: addresses and indices",
      integers_for_each(f));
}

/// A product of matrices with 16-bit operands: each loaded element serves many multiply-adds.
bool leaves_tensor_cores_idle(const Facts& f) {
  constexpr double least_uses = 16;
  if (f.device.arch() < 70 || is_apple(f.device) || f.trace.matrix_units.instructions > 0)
    return false;
  double halves = 0;  // operands that are converted, or multiplied as they are
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    const bool is_half = instruction.has("f16") || instruction.has("bf16") ||
                         instruction.has("f16x2") || instruction.has("bf16x2");
    const bool takes_half =
        instruction.opcode == vgpu::ptx::Opcode::cvt || is_multiply_add(instruction, false);
    if (is_half && takes_half) halves += number(site.lanes);
  }
  const double elements = 16 * number(f.footprint.loaded_sectors);
  return halves > f.trace.multiply_adds / least_uses &&
         f.trace.multiply_adds > least_uses * elements;
}
std::string idle_tensor_cores(const Facts& f) {
  return fmt::format(
      "{:.3g} multiply-adds of 16-bit operands, {:.0f} for each loaded element, run "
      "on the FP32 units",
      f.trace.multiply_adds, f.trace.multiply_adds / (16 * number(f.footprint.loaded_sectors)));
}

}  // namespace rung::analysis::diagnosis::signs
