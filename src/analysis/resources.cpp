#include "analysis/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analysis/toolkit.hpp"

namespace rung::analysis {
namespace {

using Json = nlohmann::json;

std::string entry_of(const Json& kernel) {
  std::string entry = kernel.at("rung");
  std::replace(entry.begin(), entry.end(), '/', '_');
  if (!kernel.at("dtype").is_null())
    entry += fmt::format("_{}", kernel["dtype"].get<std::string>());
  if (!kernel.at("tile").is_null()) entry += fmt::format("_{}", kernel["tile"].get<int>());
  return entry;
}

/// The number before these words.
std::optional<std::int64_t> number_before(std::string_view words, std::string_view text) {
  const std::size_t end = text.find(words);
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_last_not_of("0123456789", end - 1) + 1;
  if (begin == end) return std::nullopt;
  return std::stoll(std::string(text.substr(begin, end - begin)));
}

/// The output of ptxas -v on standard error: "Used 30 registers, …" and "… 0 bytes spill stores, 0
/// bytes spill loads".
std::optional<Registers> assembled_registers(std::string_view ptx, const std::string& entry,
                                             int arch) {
  const std::string ptxas = find_tool("ptxas");
  if (ptxas.empty()) return std::nullopt;
  const ScratchFolder folder;
  const auto text = folder.path() / "kernel.ptx";
  std::ofstream(text, std::ios::binary) << ptx;
  const std::string architecture = ptxas_architecture(ptx, arch);
  const ToolOutput output =
      run_tool({ptxas, "-v", "-arch=" + architecture, "--entry", entry, text.string(), "-o",
                (folder.path() / "kernel.cubin").string()});
  const std::string_view report = output.errors;
  const auto used =
      number_before(" registers", report.substr(std::min(report.find("Used "), report.size())));
  if (output.exit_code != 0 || !used) return std::nullopt;
  Registers registers;
  registers.count = static_cast<int>(*used);
  registers.spilled_bytes = number_before(" bytes spill stores", report).value_or(0) +
                            number_before(" bytes spill loads", report).value_or(0);
  registers.source = fmt::format("ptxas's machine code for {}", architecture);
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

std::vector<RecordedKernel> parse_resources(std::string_view json) {
  std::vector<RecordedKernel> kernels;
  try {
    for (const Json& kernel : Json::parse(json)) {
      const std::string arch = kernel.at("arch");
      kernels.push_back({entry_of(kernel), std::atoi(arch.substr(arch.find('_') + 1).c_str()),
                         kernel.at("registers"), kernel.at("shared_bytes"),
                         kernel.at("spill_store_bytes").get<std::int64_t>() +
                             kernel.at("spill_load_bytes").get<std::int64_t>()});
    }
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("not a record of resources: {}", error.what()));
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
