#include "tools/analysis/machine_code.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis {
namespace {

using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;

constexpr std::size_t instruction_bytes = 16;
// The low nine bits of an instruction, without the form of its operands.
constexpr std::uint64_t fmul = 0x20, fadd = 0x21, ffma = 0x23, branch = 0x147, global_load = 0x181,
                        global_store = 0x186, shared_load = 0x184, shared_store = 0x188,
                        local_load = 0x183, local_store = 0x187, no_operation = 0x118;
constexpr std::array anchors = {fmul,         fadd,        ffma,        global_load,
                                global_store, shared_load, shared_store};

template <class T>
T read(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The contents of an ELF section; empty if it is missing.
std::string_view section(std::string_view elf, const std::string& name) {
  constexpr std::size_t entry_bytes = 64;
  if (!elf.starts_with("\x7f"
                       "ELF")) {
    return {};
  }
  const auto table = read<std::uint64_t>(elf, 0x28);
  const std::size_t count = read<std::uint16_t>(elf, 0x3c);
  const auto offset = [&](std::size_t of) {
    return read<std::uint64_t>(elf, table + entry_bytes * of + 24);
  };
  const std::uint64_t names = offset(read<std::uint16_t>(elf, 0x3e));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t at = names + read<std::uint32_t>(elf, table + entry_bytes * i);
    if (at >= elf.size() || !elf.substr(at).starts_with(name + '\0')) continue;
    const std::uint64_t begin = offset(i);
    const auto size = read<std::uint64_t>(elf, table + entry_bytes * i + 32);
    return begin > elf.size() ? std::string_view{} : elf.substr(begin, size);
  }
  return {};
}

struct Encoded {
  std::uint64_t low, high;
  std::uint64_t opcode() const { return low & 0x1FF; }
};

/// The distance from the end of a branch to its target, in bytes: a signed number of words.
std::int64_t branch_distance(const Encoded& code, int arch) {
  constexpr std::uint64_t low_bits = 30;
  const std::uint64_t upper = code.low >> 34 | (code.high & 0x3FFFF) << low_bits;
  const auto extended = static_cast<std::int64_t>(upper << 16) >> 16;
  if (arch < 90) return extended * 4;
  return (extended * 256 + static_cast<std::int64_t>(code.low >> 16 & 0xFF)) * 4;
}

/// Words of 4 bytes that a local access moves per lane.
double words_of(const Encoded& code) {
  const std::uint64_t size = code.high >> 9 & 7;
  return size == 6 ? 4 : size == 5 ? 2 : 1;
}

/// Ranges of instructions, from the target of a backward branch to the branch.
using Loops = std::vector<std::pair<std::size_t, std::size_t>>;

std::size_t depth_of(const Loops& loops, std::size_t at) {
  std::vector<std::size_t> begins;  // several branches may return to one loop
  for (const auto& [begin, end] : loops) {
    if (begin <= at && at <= end && std::ranges::find(begins, begin) == begins.end()) {
      begins.push_back(begin);
    }
  }
  return begins.size();
}

bool is_anchor(const Instruction& instruction) {
  if (instruction.is(Opcode::ld, Opcode::st)) {
    return instruction.has("global") || instruction.has("shared");
  }
  return instruction.has("f32") &&
         instruction.is(Opcode::fma, Opcode::add, Opcode::sub, Opcode::mul);
}

struct Executed {
  double instructions = 0, anchors = 0;
};

std::vector<Executed> executed_by_depth(const KernelTrace& trace, const vgpu::ptx::Module& text) {
  std::map<int, double> executions;
  for (const SiteCount& site : trace.sites) {
    executions[site.ptx_line] += static_cast<double>(site.executions);
  }
  std::vector<Executed> all;
  const vgpu::ptx::Function* function = text.find(trace.kernel);
  if (function == nullptr) return all;
  const std::vector<vgpu::CfgBlock> blocks = vgpu::control_flow(*function).blocks;
  Loops loops;
  for (std::size_t from = 0; from < blocks.size(); ++from) {
    for (const int to : blocks[from].successors) {
      if (to >= 0 && static_cast<std::size_t>(to) <= from) loops.emplace_back(to, from);
    }
  }
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const std::size_t depth = depth_of(loops, at);
    all.resize(std::max(all.size(), depth + 1));
    for (std::size_t i = blocks[at].first; i < blocks[at].first + blocks[at].count; ++i) {
      const auto found = executions.find(function->body[i].line);
      if (found == executions.end()) continue;
      all[depth].instructions += found->second;
      if (is_anchor(function->body[i])) all[depth].anchors += found->second;
    }
  }
  return all;
}

}  // namespace

std::optional<CodeByDepth> code_by_depth(std::string_view cubin, const std::string& entry,
                                         int arch) {
  const std::string_view text = section(cubin, ".text." + entry);
  if (text.empty() || arch < 70) return std::nullopt;
  std::vector<Encoded> code;
  for (std::size_t at = 0; at + instruction_bytes <= text.size(); at += instruction_bytes) {
    code.push_back({read<std::uint64_t>(text, at), read<std::uint64_t>(text, at + 8)});
  }
  Loops loops;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at].opcode() != branch) continue;
    const std::int64_t distance = branch_distance(code[at], arch);
    const std::int64_t target =
        static_cast<std::int64_t>(at) + 1 + distance / static_cast<std::int64_t>(instruction_bytes);
    if (target >= 0 && target < static_cast<std::int64_t>(at)) {
      loops.emplace_back(static_cast<std::size_t>(target), at);
    }
  }
  CodeByDepth depths;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const std::uint64_t opcode = code[at].opcode();
    if (opcode == no_operation) continue;
    const std::size_t depth = depth_of(loops, at);
    depths.resize(std::max(depths.size(), depth + 1));
    CodeOfDepth& of = depths[depth];
    if (opcode == local_load) {
      of.local_loads += words_of(code[at]);
    } else if (opcode == local_store) {
      of.local_stores += words_of(code[at]);
    } else {
      of.instructions += 1;
    }
    if (std::ranges::find(anchors, opcode) != anchors.end()) of.anchors += 1;
  }
  return depths;
}

double local_words(const CodeByDepth& code) {
  double words = 0;
  for (const CodeOfDepth& of : code) words += of.local_loads + of.local_stores;
  return words;
}

Spills executed_spills(const CodeByDepth& code, const KernelTrace& trace,
                       const vgpu::ptx::Module& text) {
  const std::vector<Executed> executed = executed_by_depth(trace, text);
  Spills spills;
  for (std::size_t depth = 0; depth < code.size() && !executed.empty(); ++depth) {
    const CodeOfDepth& of = code[depth];
    const Executed& ran = executed[std::min(depth, executed.size() - 1)];
    const bool comparable = of.anchors > 0 && ran.anchors > 0;
    const double times =
        comparable ? ran.anchors / of.anchors : ran.instructions / std::max(1.0, of.instructions);
    spills.loads += times * of.local_loads;
    spills.stores += times * of.local_stores;
  }
  return spills;
}

}  // namespace rung::analysis
