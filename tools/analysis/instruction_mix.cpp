#include "tools/analysis/instruction_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "core/temporary_folder.hpp"
#include "tools/analysis/toolkit.hpp"

#include "vgpu/program/instruction_class.hpp"
#include "vgpu/ptx/opcodes.hpp"
namespace rung::analysis {
namespace {

using vgpu::InstrClass;
using vgpu::ptx::Instruction;
using vgpu::ptx::Opcode;

std::string kind_of(const Instruction& instruction) {
  if (is_multiply_add(instruction, false)) return "multiply-add";
  if (is_matrix_multiplication(instruction)) return "matrix multiply-add";
  const InstrClass instr_class = vgpu::classify(instruction);
  return vgpu::name(instr_class);
}

bool is_load(const Instruction& instruction) {
  if (instruction.opcode == Opcode::cp)
    return instruction.has("async") && instruction.has("shared");
  const bool parameter = instruction.has("param") || instruction.has("const");
  return instruction.is(Opcode::ld, Opcode::ldmatrix) && !parameter;
}

constexpr const char* matrix = "matrix multiply-add";

/// Maps the first word of a mnemonic to a class; words not listed are "other".
std::string machine_kind(const std::string& opcode) {
  static const std::map<std::string, std::string> kinds = {
      {"FFMA", "multiply-add"},  {"DFMA", "multiply-add"}, {"HFMA2", "multiply-add"},
      {"FFMA2", "multiply-add"}, {"HMMA", matrix},         {"IMMA", matrix},
      {"HGMMA", matrix},         {"LDG", "global load"},   {"LDGSTS", "global load"},
      {"STG", "global store"},   {"LDS", "shared load"},   {"LDSM", "shared load"},
      {"STS", "shared store"},   {"LDL", "local memory"},  {"STL", "local memory"},
      {"BAR", "barrier"},        {"BRA", "control"},       {"EXIT", "control"},
      {"IMAD", "integer"},       {"IADD3", "integer"},     {"LEA", "integer"},
      {"ISETP", "integer"},      {"IADD", "integer"},      {"SHF", "integer"},
      {"LOP3", "integer"},       {"VIADD", "integer"},     {"MOV", "move"},
      {"CS2R", "move"},          {"S2R", "move"},          {"SEL", "move"}};
  const auto found = kinds.find(opcode);
  return found == kinds.end() ? "other" : found->second;
}

InstructionMix mix_of(const std::map<std::string, double>& counts) {
  InstructionMix mix;
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    mix.parts.push_back({name, count});
    mix.all += count;
  }
  std::stable_sort(mix.parts.begin(), mix.parts.end(),
                   [](const MixPart& a, const MixPart& b) { return a.count > b.count; });
  return mix;
}

std::string listing_of(const std::filesystem::path& cubin) {
  if (const std::string nvdisasm = find_tool("nvdisasm"); !nvdisasm.empty()) {
    const ToolOutput output = run_tool({nvdisasm, cubin.string()});
    if (output.exit_code == 0) return output.text;
  }
  if (const std::string cuobjdump = find_tool("cuobjdump"); !cuobjdump.empty()) {
    const ToolOutput output = run_tool({cuobjdump, "--dump-sass", cubin.string()});
    if (output.exit_code == 0) return output.text;
  }
  return "";
}

/// The first word of the mnemonic, "LDG", from a line of a listing such as `  /*0010*/  @!P0 LDG.E
/// R2, desc[UR4][R2.64] ;`. Empty for other lines.
std::string machine_instruction(std::string_view line) {
  const auto take = [&](auto is) {
    const auto end = std::find_if_not(line.begin(), line.end(), is);
    const auto taken = line.substr(0, static_cast<std::size_t>(end - line.begin()));
    line.remove_prefix(taken.size());
    return taken;
  };
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  take(is_space);
  if (!line.starts_with("/*")) return {};
  line.remove_prefix(2);
  const auto address = take([&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  if (address.size() < 4 || !line.starts_with("*/")) return {};
  line.remove_prefix(2);
  if (take(is_space).empty()) return {};
  if (line.starts_with('@')) {  // a predicate
    take([&](char c) { return !is_space(c); });
    take(is_space);
  }
  if (line.empty() || !is_upper(line.front())) return {};
  return std::string(take([&](char c) { return is_upper(c) || is_digit(c) || c == '_'; }));
}

}  // namespace

InstructionMix ptx_mix(const KernelTrace& trace, const vgpu::ptx::Module& text) {
  const InstructionsByLine instructions = by_line(text);
  std::map<std::string, double> counts;
  double multiply_adds = 0, matrices = 0, loads = 0, barriers = 0;
  for (const SiteCount& site : trace.sites) {
    const Instruction& instruction = *instructions.at(site.ptx_line);
    const auto executions = static_cast<double>(site.executions);
    counts[kind_of(instruction)] += executions;
    if (is_multiply_add(instruction, false)) multiply_adds += executions;
    if (is_matrix_multiplication(instruction)) matrices += executions;
    if (is_load(instruction)) loads += executions;
    if (vgpu::classify(instruction) == InstrClass::barrier) barriers += executions;
  }
  InstructionMix mix = mix_of(counts);
  mix.of_matrices = matrices > 0;
  mix.multiply_adds = matrices > 0 ? matrices : multiply_adds;
  mix.loads = loads;
  mix.barriers = barriers;
  return mix;
}

InstructionMix parse_listing(const std::string& listing) {
  using Counts = std::map<std::string, double>;
  Counts most, counts;
  // If there are matrix multiplications, only these are counted.
  const auto work = [](Counts& of) { return std::pair(of[matrix], of["multiply-add"]); };
  const auto end_block = [&] {
    if (most.empty() || work(counts) > work(most)) most = counts;
    counts.clear();
  };
  std::istringstream lines(listing);
  for (std::string text; std::getline(lines, text);) {
    if (text.starts_with(".L_")) end_block();
    const std::string name = machine_instruction(text);
    if (!name.empty() && name != "NOP") ++counts[machine_kind(name)];
  }
  end_block();
  InstructionMix mix = mix_of(most);
  mix.of_matrices = most[matrix] > 0;
  mix.multiply_adds = mix.of_matrices ? most[matrix] : most["multiply-add"];
  mix.loads = most["global load"] + most["shared load"];
  mix.barriers = most["barrier"];
  return mix;
}

std::optional<InstructionMix> machine_mix(std::string_view ptx, const std::string& entry,
                                          int arch) {
  const std::string ptxas = find_tool("ptxas");
  if (ptxas.empty()) return std::nullopt;
  const TemporaryFolder folder;
  const auto text = folder.path() / "kernel.ptx";
  const auto cubin = folder.path() / "kernel.cubin";
  std::ofstream(text, std::ios::binary) << ptx;
  const ToolOutput output = run_tool({ptxas, "-arch=" + ptxas_architecture(ptx, arch), "--entry",
                                      entry, text.string(), "-o", cubin.string()});
  if (output.exit_code != 0) return std::nullopt;
  const std::string listing = listing_of(cubin);
  if (listing.empty()) return std::nullopt;
  return parse_listing(listing);
}

}  // namespace rung::analysis
