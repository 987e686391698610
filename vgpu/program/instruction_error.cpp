#include "vgpu/program/instruction_error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace rung::vgpu {

std::string source_of(const ptx::Module& module, const ptx::Instruction& instruction) {
  const auto file = static_cast<std::size_t>(instruction.source.file);
  const bool has_line = file != 0 && file < module.files.size() && instruction.source.line != 0;
  if (!has_line) return "";
  return fmt::format("{}:{}", std::filesystem::path(module.files[file]).filename().string(),
                     instruction.source.line);
}

void fail_at(const ptx::Module& module, std::string_view name, const ptx::Instruction& instruction,
             std::string_view message) {
  const std::string where = source_of(module, instruction);
  throw std::invalid_argument(fmt::format("{}:{}: {} {}{}", name, instruction.line,
                                          instruction.mnemonic(), message,
                                          where.empty() ? "" : fmt::format(" ({})", where)));
}

}  // namespace rung::vgpu
