#include "vgpu/inlined_callers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

namespace rung::vgpu {
namespace {

namespace fs = std::filesystem;
using ptx::InlinedCall;
using ptx::Instruction;

/// Bodies and their instructions are in the order of their lines.
const Instruction* find_instruction(const ptx::Module& module, int line) {
  for (const ptx::Function& function : module.functions) {
    const auto found = std::ranges::lower_bound(function.body, line, {}, &Instruction::line);
    if (found != function.body.end() && found->line == line) return &*found;
  }
  return nullptr;
}

/// Innermost first. A text that is not ours may contain a cycle.
std::vector<const InlinedCall*> chain_of(const ptx::Module& module, std::uint32_t call) {
  std::vector<const InlinedCall*> chain;
  while (call != 0 && call < module.calls.size() && chain.size() < module.calls.size()) {
    chain.push_back(&module.calls[call]);
    call = module.calls[call].inlined_by;
  }
  return chain;
}

fs::path folder_of(const std::string& file) {
  return fs::path(file).lexically_normal().parent_path();
}

/// The line of the PTX text in an instruction of a report, "ld.global.f32 (PTX line 42)"; 0 without one.
int ptx_line(const Party& party) {
  constexpr std::string_view before = "(PTX line ";
  const std::size_t at = party.instruction.find(before);
  int line = 0;
  if (at == party.instruction.npos) return line;
  const char* const end = party.instruction.data() + party.instruction.size();
  std::from_chars(party.instruction.data() + at + before.size(), end, line);
  return line;
}

/// Adds the callers of a party after its line in the message.
void add_callers(std::string& message, const Party& party, const ptx::Module& module) {
  if (party.source.empty()) return;
  const std::string callers = callers_of(module, ptx_line(party));
  if (callers.empty()) return;
  const std::string text = fmt::format(
      "by thread ({},{},{}) of block ({},{},{}) at {}", party.thread[0], party.thread[1],
      party.thread[2], party.block[0], party.block[1], party.block[2], party.source);
  const std::size_t at = message.find(text);
  if (at != message.npos) message.insert(at + text.size(), ", from " + callers);
}

}  // namespace

std::string callers_of(const ptx::Module& module, int ptx_line) {
  const Instruction* const instruction = find_instruction(module, ptx_line);
  if (instruction == nullptr || instruction->inlined_by == 0) return {};
  const std::vector<const InlinedCall*> chain = chain_of(module, instruction->inlined_by);
  if (chain.empty()) return {};
  const fs::path own = folder_of(chain.back()->file);
  const auto file = static_cast<std::size_t>(instruction->source.file);
  if (file >= module.files.size() || folder_of(module.files[file]) == own) return {};
  std::string callers, last;
  for (const InlinedCall* const call : chain) {
    if (folder_of(call->file) != own) continue;
    std::string line = fmt::format("{}:{}", fs::path(call->file).filename().string(), call->line);
    if (line == last) continue;
    callers += (callers.empty() ? "" : ", ") + line;
    last = std::move(line);
  }
  return callers;
}

void add_callers(LaunchReport& report, const ptx::Module& module) {
  if (module.calls.empty()) return;
  for (Hazard& hazard : report.hazards) {
    add_callers(hazard.message, hazard.first, module);
    if (hazard.has_other) add_callers(hazard.message, hazard.other, module);
  }
}

}  // namespace rung::vgpu
