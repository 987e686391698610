#include "tools/analysis/kernel_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "tools/analysis/merged_loads.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis {
namespace {

using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;

int vector_of(const Instruction& instruction) {
  for (const int width : {2, 4, 8}) {
    if (instruction.has(fmt::format("v{}", width))) return width;
  }
  return 1;
}

vgpu::ptx::Type type_of(const Instruction& instruction) {
  return instruction.modifiers.empty() ? vgpu::ptx::Type::none
                                       : vgpu::ptx::type_named(instruction.modifiers.back());
}

/// ld, st and similar instructions. Each lane accesses all elements of the vector.
Access plain_access(const Instruction& instruction) {
  Access access;
  access.is_load = instruction.is_load();
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  access.space = shared ? Space::shared : Space::global;
  const vgpu::ptx::Type type = type_of(instruction);
  access.element_bytes = vgpu::ptx::is_float(type) ? vgpu::ptx::size_of(type) : 0;
  access.bytes = vector_of(instruction) * vgpu::ptx::size_of(type);
  return access;
}

/// cp.async [to], [from], bytes, …
Access asynchronous_copy(const Instruction& instruction) {
  Access access;
  access.is_load = true;
  access.asynchronous = true;
  if (instruction.operands.size() > 2) {
    access.bytes = static_cast<int>(instruction.operands[2].bits);
  }
  return access;
}

/// ldmatrix and stmatrix: a matrix of 8 x 8 two-byte elements is four bytes per lane.
Access matrix_access(const Instruction& instruction) {
  Access access;
  access.space = Space::shared;
  access.is_load = instruction.is_load();
  access.element_bytes = 2;
  access.bytes = instruction.has("x4") ? 16 : instruction.has("x2") ? 8 : 4;
  return access;
}

/// wmma.load and wmma.store: the lanes of a warp share the fragment's elements.
std::optional<Access> fragment_access(const Instruction& instruction) {
  const bool is_load = instruction.has("load");
  if (!is_load && !instruction.has("store")) return std::nullopt;
  const MatrixShape shape = matrix_shape(instruction);
  const int elements = instruction.has("a")   ? shape.m * shape.k
                       : instruction.has("b") ? shape.k * shape.n
                                              : shape.m * shape.n;
  Access access;
  access.is_load = is_load;
  access.space = instruction.has("shared") ? Space::shared : Space::global;
  access.element_bytes = vgpu::ptx::size_of(type_of(instruction));
  access.bytes = elements * access.element_bytes / 32;
  return access;
}

std::optional<Access> access_of(const Instruction& instruction) {
  if (instruction.opcode == Opcode::cp && instruction.has("async") && instruction.has("shared") &&
      !instruction.has("bulk")) {
    return asynchronous_copy(instruction);
  }
  if (instruction.opcode == Opcode::wmma) return fragment_access(instruction);
  if (instruction.is(Opcode::ldmatrix, Opcode::stmatrix)) return matrix_access(instruction);
  // Excludes flags that blocks poll: the number of polls varies, and they are not traffic of
  // elements.
  if (instruction.has("acquire") || instruction.has("relaxed")) return std::nullopt;
  const bool other_space =
      instruction.has("local") || instruction.has("const") || instruction.has("param");
  if (!instruction.is(Opcode::ld, Opcode::ldu, Opcode::st) || other_space) return std::nullopt;
  return plain_access(instruction);
}

/// True for cp.async.bulk with global memory as its destination, which is named first.
bool is_bulk_store(const Instruction& instruction) {
  if (instruction.opcode != Opcode::cp || !instruction.has("bulk")) return false;
  const auto& words = instruction.modifiers;
  const auto global = std::find(words.begin(), words.end(), "global");
  return global != words.end() && std::next(global) != words.end() &&
         std::next(global)->starts_with("shared");
}

void add_matrix_work(MatrixUnits& units, const Instruction& instruction, double executions) {
  if (is_matrix_multiplication(instruction)) units.instructions += executions;
  const bool stores_fragment =
      instruction.opcode == Opcode::wmma && instruction.has("store") && instruction.has("shared");
  units.results_by_shared |= stores_fragment || is_bulk_store(instruction);
  if (instruction.opcode != Opcode::wgmma) return;
  if (instruction.has("mma_async")) {
    const MatrixShape shape = matrix_shape(instruction);
    units.wgmma_rows = std::max(units.wgmma_rows, shape.m);
    units.wgmma_columns = std::max(units.wgmma_columns, shape.n);
  }
  if (instruction.has("commit_group")) units.groups += executions;
  const bool for_all = instruction.has("wait_group") && !instruction.operands.empty() &&
                       instruction.operands.front().bits == 0;
  if (for_all) units.drains += executions;
}

double count_multiply_adds(const KernelTrace& trace, const InstructionsByLine& instructions) {
  double count = 0;
  for (const SiteCount& site : trace.sites) {
    const Instruction& instruction = *instructions.at(site.ptx_line);
    if (!is_multiply_add(instruction, false)) continue;
    const bool pair = instruction.has("f16x2") || instruction.has("bf16x2");
    count += static_cast<double>(site.lanes) * (pair ? 2 : 1);
  }
  return count;
}

void collect(const vgpu::ptx::Operand& operand, std::set<int>& registers) {
  if (operand.reg >= 0) registers.insert(operand.reg);
  for (const vgpu::ptx::Operand& element : operand.elements) collect(element, registers);
}

/// The lines of instructions that compute data: their results reach a stored value, and not only
/// an address. A load ends the search, because its operands are an address.
std::set<int> lines_of_data(const vgpu::ptx::Function& function) {
  std::set<int> lines, wanted;
  for (std::size_t before = 1, now = 0; before != now; now = wanted.size() + lines.size()) {
    before = wanted.size() + lines.size();
    for (const Instruction& instruction : function.body) {
      const auto& operands = instruction.operands;
      if (operands.empty()) continue;
      const bool stores = instruction.is_store() || instruction.is(Opcode::red);
      std::set<int> results;
      collect(operands.front(), results);
      const bool is_wanted =
          std::ranges::any_of(results, [&](int result) { return wanted.contains(result); });
      const bool computes = is_wanted && !instruction.is_load() && !stores;
      if (computes) lines.insert(instruction.line);
      if (!computes && !stores && instruction.opcode != Opcode::atom) continue;
      for (std::size_t i = 1; i < operands.size(); ++i) {
        if (operands[i].kind != vgpu::ptx::Operand::Kind::address) collect(operands[i], wanted);
      }
    }
  }
  return lines;
}

/// Integer multiply-adds on data, not those of indices and addresses.
double count_integer_multiply_adds(const KernelTrace& trace, const InstructionsByLine& instructions,
                                   const vgpu::ptx::Module& text) {
  std::set<int> data;
  for (const vgpu::ptx::Function& function : text.functions) data.merge(lines_of_data(function));
  double count = 0;
  for (const SiteCount& site : trace.sites) {
    const bool counts = is_multiply_add(*instructions.at(site.ptx_line), true);
    if (counts && data.contains(site.ptx_line)) count += static_cast<double>(site.lanes);
  }
  return count;
}

}  // namespace

std::string source_of(const Instruction& instruction, const vgpu::ptx::Module& text) {
  const auto file = static_cast<std::size_t>(instruction.source.file);
  if (file == 0 || file >= text.files.size() || instruction.source.line == 0) return "";
  return fmt::format("{}:{}", std::filesystem::path(text.files[file]).filename().string(),
                     instruction.source.line);
}

double Access::scattered_sectors() const {
  constexpr double sector_bytes = 32;
  if (space != Space::global) return 0;
  const double needed =
      std::max(static_cast<double>(count.executions), moved_bytes() / sector_bytes);
  return std::max(0.0, static_cast<double>(count.units) - needed);
}

double Access::conflict_wavefronts() const {
  constexpr double wavefront_bytes = 128;
  if (space != Space::shared) return 0;
  const double least = std::max(1.0, bytes * warp_lanes / wavefront_bytes);
  return std::max(0.0,
                  static_cast<double>(count.units) - static_cast<double>(count.executions) * least);
}

MatrixShape matrix_shape(const Instruction& instruction) {
  MatrixShape shape;
  for (const std::string& modifier : instruction.modifiers) {
    if (std::sscanf(modifier.c_str(), "m%dn%dk%d", &shape.m, &shape.n, &shape.k) == 3) break;
  }
  return shape;
}

bool is_matrix_multiplication(const Instruction& instruction) {
  return instruction.opcode == Opcode::mma || instruction.has("mma_async") ||
         (instruction.is(Opcode::wmma, Opcode::tcgen05) && instruction.has("mma"));
}

bool is_multiply_add(const Instruction& instruction, bool integers) {
  if (!instruction.is(Opcode::fma, Opcode::mad)) return false;
  return vgpu::ptx::is_float(type_of(instruction)) != integers;
}

InstructionsByLine by_line(const vgpu::ptx::Module& text) {
  InstructionsByLine instructions;
  for (const vgpu::ptx::Function& function : text.functions) {
    for (const Instruction& instruction : function.body) {
      instructions[instruction.line] = &instruction;
    }
  }
  return instructions;
}

std::vector<SiteCount> site_counts(const vgpu::LaunchReport& report,
                                   const std::vector<vgpu::Site>& sites) {
  std::vector<SiteCount> counts;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const vgpu::SiteCounters& site = report.per_site[i];
    if (site.executions == 0) continue;
    counts.push_back({sites[i].ptx_line, site.executions, site.lanes, site.units});
  }
  return counts;
}

KernelTrace make_trace(const vgpu::LaunchReport& report, std::span<const SiteCount> sites,
                       const vgpu::ptx::Module& text) {
  const InstructionsByLine instructions = by_line(text);
  KernelTrace trace;
  trace.kernel = report.kernel;
  trace.grid = report.grid;
  trace.block = report.block;
  trace.shared = report.shared;
  trace.counters = report.counters;
  const vgpu::ptx::Function* function = text.find(report.kernel);
  const std::map<int, int> merged =
      function == nullptr ? std::map<int, int>{} : merged_shared_loads(text, *function);
  for (const SiteCount& site : sites) {
    const auto found = instructions.find(site.ptx_line);
    if (found == instructions.end() || site.executions == 0) continue;
    trace.sites.push_back(site);
    add_matrix_work(trace.matrix_units, *found->second, static_cast<double>(site.executions));
    if (auto access = access_of(*found->second)) {
      access->count = site;
      if (const auto at = merged.find(site.ptx_line); at != merged.end()) {
        access->merged = at->second;
      }
      access->where = source_of(*found->second, text);
      trace.accesses.push_back(std::move(*access));
    }
  }
  trace.multiply_adds = count_multiply_adds(trace, instructions);
  if (trace.multiply_adds == 0) {
    trace.multiply_adds = count_integer_multiply_adds(trace, instructions, text);
  }
  return trace;
}

}  // namespace rung::analysis
