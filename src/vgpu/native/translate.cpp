#include "vgpu/native/translate.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/machine.hpp"
#include "vgpu/engine/control/superinstruction.hpp"
#include "vgpu/native/emit.hpp"
#include "vgpu/native/steps.hpp"

namespace rung::vgpu::native {
namespace {

/// The two functions of a run, by their offsets in the code.
struct Run {
  std::size_t at;  // among the instructions
  std::size_t full, masked;
};

class Translator {
 public:
  explicit Translator(Kernel& kernel)
      : kernel_(kernel),
        constants_(std::make_shared<const Constants>(kernel)),
        emitter_(std::make_shared<Emitter>()) {}

  void run() {
    for (BasicBlock& block : kernel_.blocks) translate(block);
    std::vector<Code> parts;  // of superinstructions
    for (const Superinstruction& super : kernel_.superinstructions) {
      parts.push_back(translated(super.parts));
    }
    emitter_->make_executable();
    resolve(code_);
    kernel_.native_code = std::move(code_.instructions);
    for (std::size_t i = 0; i < kernel_.blocks.size(); ++i)
      find_loop(static_cast<std::uint32_t>(i));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      resolve(parts[i]);
      Superinstruction& super = kernel_.superinstructions[i];
      super.native = native_steps(super, constants_, std::move(parts[i].instructions));
    }
    kernel_.machine_code = emitter_;
  }

 private:
  /// Instructions, some of which are runs.
  struct Code {
    std::vector<Instr> instructions;
    std::vector<Run> runs;
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
    for (Run& run : code.runs) run.at += to.instructions.size();
    to.runs.insert(to.runs.end(), code.runs.begin(), code.runs.end());
    to.instructions.insert(to.instructions.end(), code.instructions.begin(),
                           code.instructions.end());
  }

  /// Sets the functions, which are where they stay, and the rows.
  void resolve(Code& code) const {
    for (const Run& run : code.runs) {
      code.instructions[run.at].full = function_at(run.full);
      code.instructions[run.at].masked = function_at(run.masked);
    }
    for (Instr& instr : code.instructions) {
      if (instr.rows == nullptr) instr.rows = instr.row.data();
    }
  }

  /// If the block repeats itself and its superinstruction may be deferred, one handler runs it all.
  void find_loop(std::uint32_t index) {
    BasicBlock& block = kernel_.blocks[index];
    const auto repeats = [&](int target) { return target == static_cast<int>(index); };
    if (block.end != BasicBlock::End::branch || !(repeats(block.taken) || repeats(block.next))) {
      return;
    }
    const std::span code(&kernel_.native_code[block.native_first], block.native_count);
    const auto super = std::find_if(code.begin(), code.end(), [&](const Instr& instr) {
      return std::any_of(
          kernel_.superinstructions.begin(), kernel_.superinstructions.end(),
          [&](const auto& any) { return any.deferrable && instr.imm == imm_to(any); });
    });
    if (super == code.end()) return;
    Loop& loop = kernel_.loops.emplace_back();
    loop.super = *super;
    loop.block = index;
    if (super != code.begin()) loop.before = code.front();
    if (super + 1 != code.end()) loop.behind = code.back();
    code[0] = run_by_one_handler(kernel_.loops.back());
    code[0].rows = code[0].row.data();
    block.native_count = 1;
  }

  static void add(Code& code, Instr instr) {
    if (instr.rows == instr.row.data()) instr.rows = nullptr;  // its own, where it will be
    code.instructions.push_back(instr);
  }

  /// `next`: the site of the instruction behind the run.
  void finish(Code& code, std::vector<Instr>& run, std::uint32_t next) {
    if (run.empty()) return;
    // A site with several instructions ends with the last of them. Instructions that were moved ahead
    // have sites behind `next`.
    end_site_ = next == Kernel::no_site ? run.back().site : next - 1;
    Instr whole{};
    whole.site = run.front().site;
    code.runs.push_back({code.instructions.size(), emit_run(run, false), emit_run(run, true)});
    code.instructions.push_back(whole);
    run.clear();
  }

  std::size_t emit_run(const std::vector<Instr>& run, bool masked) {
    Plan plan;
    for (const Instr& instr : run) {
      native::plan(plan, instr);
      plan.next_instruction();
    }
    plan.ends_at(end_site_);
    emitter_->align(16);
    const std::size_t begin = emitter_->getSize();
    emitter_->begin(plan, masked);
    for (const Instr& instr : run) {
      emit(*emitter_, *constants_, instr);
      emitter_->next_instruction();
    }
    emitter_->end();
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
  std::uint32_t end_site_ = 0;  // of the run that is translated
};

}  // namespace

bool is_supported() { return cpu::machine().isa.contains(cpu::Isa::avx512); }

void translate(Kernel& kernel) {
  if (!is_supported()) return;
  try {
    Translator(kernel).run();
  } catch (const Xbyak::Error&) {  // a system that lets nobody make code at run time
    kernel.native_code.clear();
    for (Superinstruction& super : kernel.superinstructions) super.native = nullptr;
  }
}

}  // namespace rung::vgpu::native
