#include "vgpu/native/translate.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/machine.hpp"
#include "vgpu/engine/control/superinstruction.hpp"
#include "vgpu/native/chain_emitter.hpp"
#include "vgpu/native/emit.hpp"
#include "vgpu/native/steps.hpp"

namespace rung::vgpu::native {
namespace {

/// A run, and the offsets of its two functions in the code.
struct RunFunctions {
  std::size_t at;  // index among the instructions
  Run run;
  std::size_t full, masked;
};

class Translator {
 public:
  Translator(Kernel& kernel, const Vectors& vectors)
      : kernel_(kernel),
        constants_(std::make_shared<const Constants>(kernel)),
        emitter_(std::make_shared<Emitter>(vectors)) {}

  void run() {
    for (BasicBlock& block : kernel_.blocks) translate(block);
    std::vector<Code> parts;  // of each superinstruction
    for (const Superinstruction& super : kernel_.superinstructions) {
      parts.push_back(translated(super.parts));
    }
    emitter_->make_executable();
    resolve(code_);
    kernel_.native_code = std::move(code_.instructions);
    std::vector<const Run*> runs(kernel_.native_code.size());  // null: run by a handler
    for (const RunFunctions& run : code_.runs) runs[run.at] = &run.run;
    for (std::size_t i = 0; i < kernel_.blocks.size(); ++i) {
      if (find_loop(static_cast<std::uint32_t>(i))) runs[kernel_.blocks[i].native_first] = nullptr;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      resolve(parts[i]);
      Superinstruction& super = kernel_.superinstructions[i];
      super.native =
          native_steps(super, emitter_->vectors(), constants_, std::move(parts[i].instructions));
    }
    kernel_.machine_code = chained(kernel_, *constants_, runs, emitter_);
  }

 private:
  /// Instructions, including those that represent runs.
  struct Code {
    std::vector<Instr> instructions;
    std::vector<RunFunctions> runs;
  };

  void translate(BasicBlock& block) {
    block.native_first = static_cast<std::uint32_t>(code_.instructions.size());
    const std::span all(&kernel_.code[block.first], block.count);
    append(code_, translated(all));
    block.native_count = static_cast<std::uint32_t>(code_.instructions.size()) - block.native_first;
  }

  Code translated(std::span<const Instr> instructions) {
    Code code;
    std::vector<Instr> run;
    for (const Instr& instr : instructions) {
      if (instr.native) {
        run.push_back(instr);
        continue;
      }
      finish(code, run, instr.site);
      add(code, instr);
    }
    finish(code, run, Kernel::no_site);
    return code;
  }

  static void append(Code& to, Code code) {
    for (RunFunctions& run : code.runs) run.at += to.instructions.size();
    to.runs.insert(to.runs.end(), code.runs.begin(), code.runs.end());
    to.instructions.insert(to.instructions.end(), code.instructions.begin(),
                           code.instructions.end());
  }

  /// Sets function and row pointers, after the code and the instructions have their final
  /// addresses.
  void resolve(Code& code) const {
    for (const RunFunctions& run : code.runs) {
      code.instructions[run.at].full = function_at(run.full);
      code.instructions[run.at].masked = function_at(run.masked);
    }
    for (Instr& instr : code.instructions) {
      if (instr.rows == nullptr) instr.rows = instr.row.data();
    }
  }

  /// If the block loops and its superinstruction is deferrable, replaces the block by a single
  /// handler.
  bool find_loop(std::uint32_t index) {
    BasicBlock& block = kernel_.blocks[index];
    const auto repeats = [&](int target) { return target == static_cast<int>(index); };
    if (block.end != BasicBlock::End::branch || !(repeats(block.taken) || repeats(block.next))) {
      return false;
    }
    const std::span code(&kernel_.native_code[block.native_first], block.native_count);
    const auto super = std::find_if(code.begin(), code.end(), [&](const Instr& instr) {
      return std::any_of(
          kernel_.superinstructions.begin(), kernel_.superinstructions.end(),
          [&](const auto& any) { return any.deferrable && instr.imm == imm_to(any); });
    });
    if (super == code.end()) return false;
    Loop& loop = kernel_.loops.emplace_back();
    loop.super = *super;
    loop.block = index;
    if (super != code.begin()) loop.before = code.front();
    if (super + 1 != code.end()) loop.behind = code.back();
    code[0] = run_by_one_handler(kernel_.loops.back());
    code[0].rows = code[0].row.data();
    block.native_count = 1;
    return true;
  }

  static void add(Code& code, Instr instr) {
    // Its own rows; set at its final address.
    if (instr.rows == instr.row.data()) instr.rows = nullptr;
    code.instructions.push_back(instr);
  }

  /// `next`: site of the instruction after the run.
  void finish(Code& code, std::vector<Instr>& instructions, std::uint32_t next) {
    if (instructions.empty()) return;
    Instr whole{};
    whole.site = instructions.front().site;
    // A site with several instructions ends with the last of them. Instructions that were moved
    // ahead have sites after `next`.
    const std::uint32_t end = next == Kernel::no_site ? instructions.back().site : next - 1;
    Run run{std::move(instructions), end};
    const std::size_t full = emit_function(run, false), masked = emit_function(run, true);
    code.runs.push_back({code.instructions.size(), std::move(run), full, masked});
    code.instructions.push_back(whole);
    instructions.clear();
  }

  std::size_t emit_function(const Run& run, bool masked) {
    emitter_->align(16);
    const std::size_t begin = emitter_->getSize();
    emit(*emitter_, *constants_, run, masked);
    emitter_->ret();
    return begin;
  }

  Handler function_at(std::size_t offset) const {
    return reinterpret_cast<Handler>(
        reinterpret_cast<std::uintptr_t>(emitter_->getCode() + offset));
  }

  Kernel& kernel_;
  const std::shared_ptr<const Constants> constants_;
  std::shared_ptr<Emitter> emitter_;
  Code code_;
};

/// The vector registers of the translated code; nullopt if the CPU lacks AVX2.
std::optional<Vectors> vectors_of_cpu() {
  const cpu::Isa isa = cpu::machine().isa;
  if (isa.contains(cpu::Isa::avx512)) return avx512;
  return isa.contains(cpu::Isa::avx2) ? std::optional(avx2) : std::nullopt;
}

}  // namespace

bool is_supported() { return vectors_of_cpu().has_value(); }

void translate(Kernel& kernel) {
  const auto vectors = vectors_of_cpu();
  if (!vectors) return;
  try {
    Translator(kernel, *vectors).run();
  } catch (const Xbyak::Error&) {  // the system does not allow generating code at run time
    kernel.native_code.clear();
    for (Superinstruction& super : kernel.superinstructions) super.native = nullptr;
  }
}

}  // namespace rung::vgpu::native
