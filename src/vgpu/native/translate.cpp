#include "vgpu/native/translate.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "device/cpu/machine.hpp"
#include "vgpu/engine/control/superinstruction.hpp"
#include "vgpu/native/emit.hpp"
#include "vgpu/native/steps.hpp"

namespace rung::vgpu::native {
namespace {

/// The two functions of a run, by their offsets in the code.
struct Run {
  std::size_t at;  // in Kernel::native_code
  std::size_t full, masked;
};

class Translator {
 public:
  explicit Translator(Kernel& kernel)
      : kernel_(kernel), constants_(kernel), emitter_(std::make_shared<Emitter>()) {}

  void run() {
    for (BasicBlock& block : kernel_.blocks) translate(block);
    emitter_->make_executable();
    for (const Run& run : runs_) {
      Instr& instr = kernel_.native_code[run.at];
      instr.full = function_at(run.full);
      instr.masked = function_at(run.masked);
    }
    for (Instr& instr : kernel_.native_code) {
      if (instr.rows == nullptr) instr.rows = instr.row.data();
    }
    for (std::size_t i = 0; i < kernel_.blocks.size(); ++i)
      find_loop(static_cast<std::uint32_t>(i));
    for (Superinstruction& super : kernel_.superinstructions) super.native = native_steps(super);
    kernel_.machine_code = emitter_;
  }

 private:
  void translate(BasicBlock& block) {
    block.native_first = static_cast<std::uint32_t>(kernel_.native_code.size());
    std::vector<Instr> run;
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      const Instr& instr = kernel_.code[i];
      if (instr.native) {
        run.push_back(instr);
        continue;
      }
      finish(run, instr.site);
      add(instr);
    }
    finish(run, Kernel::no_site);
    block.native_count =
        static_cast<std::uint32_t>(kernel_.native_code.size()) - block.native_first;
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

  void add(Instr instr) {
    if (instr.rows == instr.row.data()) instr.rows = nullptr;  // its own, where it will be
    kernel_.native_code.push_back(instr);
  }

  /// `next`: the site of the instruction behind the run.
  void finish(std::vector<Instr>& run, std::uint32_t next) {
    if (run.empty()) return;
    // A site with several instructions ends with the last of them. Instructions that were moved ahead
    // have sites behind `next`.
    end_site_ = next == Kernel::no_site ? run.back().site : next - 1;
    Instr whole{};
    whole.site = run.front().site;
    runs_.push_back({kernel_.native_code.size(), emit_run(run, false), emit_run(run, true)});
    kernel_.native_code.push_back(whole);
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
      emit(*emitter_, constants_, instr);
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
  const Constants constants_;
  std::shared_ptr<Emitter> emitter_;
  std::vector<Run> runs_;
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
