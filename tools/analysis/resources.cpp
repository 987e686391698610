#include "tools/analysis/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/json/reader.hpp"
#include "core/temporary_folder.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung::analysis {
namespace {

using json::Value;

constexpr std::int64_t max_bytes = std::int64_t{1} << 40;
constexpr const char* record = "cuda_resources.json";

/// "gemm_cuda_05_vectors_f32", with the tile's number if the rung has several.
std::string entry_of(const Value& kernel) {
  std::string entry = kernel.at("rung").text();
  std::replace(entry.begin(), entry.end(), '/', '_');
  if (const auto dtype = kernel.find("dtype")) entry += "_" + dtype->text();
  if (const auto tile = kernel.find("tile")) entry += fmt::format("_{}", tile->integer(0, 1000));
  return entry;
}

RecordedKernel read_kernel(const Value& kernel) {
  const std::string arch = kernel.at("arch").text();  // "sm_90a"
  const auto bytes = [&](const char* name) { return kernel.at(name).integer(0, max_bytes); };
  return {entry_of(kernel), std::atoi(arch.substr(arch.find('_') + 1).c_str()),
          static_cast<int>(kernel.at("registers").integer(0, 255)), bytes("shared_bytes"),
          bytes("spill_store_bytes") + bytes("spill_load_bytes")};
}

/// The number in front of these words.
std::optional<std::int64_t> number_before(std::string_view words, std::string_view text) {
  const std::size_t end = text.find(words);
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_last_not_of("0123456789", end - 1) + 1;
  if (begin == end) return std::nullopt;
  return std::stoll(std::string(text.substr(begin, end - begin)));
}

/// The PTX without launch bounds: kernels with bounds ignore --maxrregcount.
std::string without_launch_bounds(std::string_view ptx) {
  constexpr std::string_view bounds[] = {".maxntid", ".reqntid", ".minnctapersm"};
  std::string text;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(at, end - at);
    const std::string_view words =
        line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool is_bound = std::ranges::any_of(
        bounds, [&](std::string_view directive) { return words.starts_with(directive); });
    if (!is_bound) text += line;
    at = end;
  }
  return text;
}

/// Parses the output of ptxas -v on standard error: "Used 30 registers, …" and "… 0 bytes spill
/// stores, 0 bytes spill loads".
std::optional<Registers> assembled_registers(std::string_view ptx, const std::string& entry,
                                             int arch, int max_registers = 0) {
  const std::string ptxas = find_tool("ptxas");
  if (ptxas.empty()) return std::nullopt;
  const TemporaryFolder folder;
  const auto text = folder.path() / "kernel.ptx";
  std::ofstream(text, std::ios::binary) << ptx;
  const std::string architecture = ptxas_architecture(ptx, arch);
  std::vector<std::string> command = {ptxas,
                                      "-v",
                                      "-arch=" + architecture,
                                      "--entry",
                                      entry,
                                      text.string(),
                                      "-o",
                                      (folder.path() / "kernel.cubin").string()};
  if (max_registers > 0) command.push_back(fmt::format("--maxrregcount={}", max_registers));
  const ToolOutput output = run_tool(command);
  const std::string_view report = output.errors;
  const auto used =
      number_before(" registers", report.substr(std::min(report.find("Used "), report.size())));
  if (output.exit_code != 0 || !used) return std::nullopt;
  Registers registers;
  registers.count = static_cast<int>(*used);
  registers.spilled_bytes = number_before(" bytes spill stores", report).value_or(0) +
                            number_before(" bytes spill loads", report).value_or(0);
  registers.source = fmt::format("ptxas's machine code for {}", architecture);
  registers.frame_bytes = number_before(" bytes stack frame", report).value_or(0);
  std::ifstream cubin(folder.path() / "kernel.cubin", std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(cubin), {}};
  registers.code = code_by_depth(code, entry, arch);
  return registers;
}

Registers estimated_registers(std::string_view ptx, const std::string& entry) {
  vgpu::DeviceMemory memory(std::size_t{1} << 30);
  const auto module = vgpu::Module::load(ptx, "kernel", memory);
  const vgpu::Kernel* kernel = module->kernel(entry);
  return {kernel == nullptr ? 0 : vgpu::info(*kernel).registers, 0,
          "an estimate from PTX: neither ptxas nor a record of it is here"};
}

}  // namespace

std::vector<RecordedKernel> parse_resources(std::string_view text) {
  const json::Json document = json::parse(text, record);
  std::vector<RecordedKernel> kernels;
  for (const Value& kernel : Value(document, record).elements()) {
    kernels.push_back(read_kernel(kernel));
  }
  return kernels;
}

const std::vector<RecordedKernel>& recorded_kernels() {
  static const std::vector<RecordedKernel> kernels = parse_resources(resources_record());
  return kernels;
}

std::optional<Registers> recorded_registers(const std::string& entry, int arch) {
  const RecordedKernel* nearest = nullptr;
  for (const RecordedKernel& kernel : recorded_kernels()) {
    if (kernel.entry != entry) continue;
    const auto distance = [&](const RecordedKernel& of) { return std::abs(of.arch - arch); };
    if (nearest == nullptr || distance(kernel) < distance(*nearest)) nearest = &kernel;
  }
  if (nearest == nullptr) return std::nullopt;
  return Registers{nearest->registers, nearest->spilled_bytes,
                   fmt::format("nvcc's machine code for sm_{}", nearest->arch)};
}

Registers registers_of(std::string_view ptx, const std::string& entry,
                       const vgpu::DeviceDescription& device) {
  const int arch = device.arch();
  for (const RecordedKernel& kernel : recorded_kernels()) {
    if (kernel.entry == entry && kernel.arch == arch) return *recorded_registers(entry, arch);
  }
  if (const auto assembled = assembled_registers(ptx, entry, arch)) return *assembled;
  if (const auto recorded = recorded_registers(entry, arch)) return *recorded;
  return estimated_registers(ptx, entry);
}

bool spills_if_limited(std::string_view ptx, const std::string& entry, int arch, int registers) {
  const auto limited = assembled_registers(without_launch_bounds(ptx), entry, arch, registers);
  return limited && limited->spilled_bytes > 0;
}

std::string binding_limit(const vgpu::Occupancy& occupancy) {
  if (occupancy.limit_by_registers == occupancy.blocks) return "registers";
  if (occupancy.limit_by_shared == occupancy.blocks) return "shared memory";
  if (occupancy.limit_by_warps == occupancy.blocks) return "warps";
  return occupancy.limit_by_blocks == occupancy.blocks ? "blocks" : "barriers";
}

vgpu::Occupancy occupancy_of(const vgpu::DeviceDescription& device, int registers, int threads,
                             std::int64_t static_shared, std::int64_t dynamic_shared) {
  vgpu::KernelResources resources;
  resources.registers = registers;
  resources.static_shared = static_shared;
  resources.max_dynamic_shared = std::max(device.shared_per_block - static_shared, dynamic_shared);
  return vgpu::occupancy(device, resources, threads, dynamic_shared);
}

}  // namespace rung::analysis
