// The operands of instructions, and operations shared by the other files.

#include <bit>
#include <cstddef>

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Nan = Emitter::Nan;

}  // namespace

Vector Emission::zero() {
  const Vector result = c.fresh();
  c.bitwise_xor(result, result, result);
  return result;
}

Vector Emission::words(std::uint32_t bits) {
  const Vector result = c.fresh();
  c.mov(c.eax, bits);
  c.broadcast(result, c.eax);
  return result;
}

Vector Emission::doubles(double number) {
  const Vector result = c.fresh();
  c.mov(c.rax, std::bit_cast<std::uint64_t>(number));
  c.broadcast(result, c.rax);
  return result;
}

Vector Emission::half(int operand, int part) {
  const Vector whole = c.read(line(operand, part / 2, NativeType::u32), Nan::canonical);
  if (part % 2 == 0) return c.lower_half(whole);
  const Vector upper = c.lower_half(c.fresh());
  c.extract_upper_half(upper, whole);
  return upper;
}

Vector Emission::widened(int operand, int part, bool sign) {
  const Vector words = half(operand, part);
  const Vector result = c.fresh();
  if (sign) {
    c.vpmovsxdq(result, words);
  } else {
    c.vpmovzxdq(result, words);
  }
  return result;
}

void Emission::load_parameter() {
  const auto& op = instr_.op<MemoryOp>();
  c.mov(c.r10, c.ptr[c.rdi + offsetof(Warp, parameters)]);
  for (int e = 0; e < op.count; ++e) {
    const Xbyak::Address from = c.ptr[c.r10 + static_cast<int>(op.offset) + e * op.bytes];
    const Vector to = c.fresh();
    bytes_of(type) == 4 ? c.vpbroadcastd(to, from) : c.vpbroadcastq(to, from);
    for (int part = 0; part < parts_of(type); ++part) {
      c.write(c.pass().line_of(instr_.rows[e], type, part), to, lanes_of(type, part));
    }
  }
}

void Emission::copy_parts() {
  each_part([&](int part) { copy(part); });
}

void Emission::run() {
  switch (instr_.native.op) {
    case NativeOp::none: break;
#define RUNG_NATIVE_OPERATION(id, function, sources) \
  case NativeOp::id: function(); break;
#include "vgpu/model/native_operations.def"
  }
}

namespace {

bool on_predicates(NativeOp op) { return op >= NativeOp::predicate_move; }

/// The number of operands that are rows of numbers: one destination, then the sources.
int sources_of(NativeOp op) {
  constexpr int counts[] = {
      0,  // NativeOp::none
#define RUNG_NATIVE_OPERATION(id, function, sources) sources,
#include "vgpu/model/native_operations.def"
  };
  return counts[static_cast<int>(op)];
}

}  // namespace

Constants::Constants(const Kernel& kernel) {
  for (const ConstantRow& row : kernel.constants) bits_[row.offset] = row.bits;
}

const std::uint64_t* Constants::find(std::uint32_t row) const {
  const auto found = bits_.find(row);
  return found == bits_.end() ? nullptr : &found->second;
}

void plan(Plan& plan, const Instr& instr) {
  const Native native = instr.native;
  if (on_predicates(native.op)) return;
  const bool compares = native.op == NativeOp::setp;
  const int first = compares ? Combination(instr.imm).sources() : 1;
  const auto lines = [&](int operand, NativeType type, const auto& event) {
    const Pass& pass = plan.pass();
    for (int part = 0; part < pass.parts_of(type); ++part) {
      event(pass.line_of(instr.rows[operand], type, part));
    }
  };
  if (native.op == NativeOp::load_parameter) {
    for (int e = 0; e < instr.op<MemoryOp>().count; ++e) {
      lines(e, native.type, [&](Line line) { plan.writes(line); });
    }
    return;
  }
  for (int i = 0; i < sources_of(native.op); ++i) {
    const bool amount = i == 1 && (native.op == NativeOp::shl || native.op == NativeOp::shr);
    const bool addend = i == 2 && native.op == NativeOp::mad_wide;
    const NativeType type = amount ? NativeType::u32 : addend ? native.result : native.type;
    lines(first + i, type, [&](Line line) { plan.reads(line); });
  }
  if (!compares) lines(0, native.result, [&](Line line) { plan.writes(line); });
}

void emit(Emitter& to, const Constants& constants, const Instr& instr) {
  to.set_last_use(instr.last_use);
  Emission(to, constants, instr).run();
}

void emit(Emitter& to, const Constants& constants, const Run& run, bool masked) {
  for (int pass = 0; pass < to.vectors().passes; ++pass) {
    Plan plan({to.vectors(), pass});
    for (const Instr& instr : run.instructions) {
      native::plan(plan, instr);
      plan.next_instruction();
    }
    plan.ends_at(run.end_site);
    to.begin(plan, masked);
    for (const Instr& instr : run.instructions) {
      emit(to, constants, instr);
      to.next_instruction();
    }
    to.write_back();
  }
  to.vzeroupper();
}

}  // namespace rung::vgpu::native
