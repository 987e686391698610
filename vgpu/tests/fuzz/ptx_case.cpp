#include "vgpu/tests/fuzz/ptx_case.hpp"

#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/tests/fuzz/ptx_invariants.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t memory_bytes = std::size_t{16} << 20;
constexpr std::size_t array_bytes = std::size_t{64} << 10;
constexpr std::size_t max_kernels = 4;

LaunchOptions launch_options() {
  LaunchOptions options;
  options.grid = {2, 1, 1};
  options.block = {64, 1, 1};
  options.dynamic_shared = 1024;
  options.threads = 1;
  options.instruction_limit = 5000;
  return options;
}

/// Parameters of 8 bytes are pointers to an array; the others are small element counts.
std::vector<std::byte> parameters_for(const KernelInfo& kernel, std::uint64_t array) {
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  for (const KernelInfo::Parameter& parameter : kernel.parameters) {
    const std::uint64_t value = parameter.bytes == 8 ? array : 16;
    std::memcpy(buffer.data() + parameter.offset, &value,
                std::min<std::size_t>(parameter.bytes, 8));
  }
  return buffer;
}

void run_kernel(const Kernel& kernel, DeviceMemory& memory, PtxCase& result) {
  const std::uint64_t array = memory.allocate(array_bytes);
  memory.fill(array, 0x3F800000, 4, array_bytes / 4);
  const DeviceDescription device = parse_device("h200,multiprocessors=2");
  const std::vector<std::byte> parameters = parameters_for(info(kernel), array);
  result.outcome = PtxOutcome::not_launched;
  const LaunchReport report = launch(kernel, launch_options(), parameters, memory, device);
  result.outcome = report.fault ? PtxOutcome::faulted : PtxOutcome::finished;
  if (!report.hazards.empty()) result.message = report.hazards.front().message;
}

void run_all(std::string_view text, PtxCase& result) {
  result.violation = ptx::Invariants(ptx::parse(text)).first_violation();
  result.outcome = PtxOutcome::not_loaded;
  DeviceMemory memory(memory_bytes);
  const auto module = Module::load(text, "fuzz.ptx", memory);
  std::vector<std::string> names = module->kernel_names();
  if (names.size() > max_kernels) names.resize(max_kernels);
  for (const std::string& name : names) {
    result.outcome = PtxOutcome::not_loaded;
    run_kernel(*module->kernel(name), memory, result);
  }
}

}  // namespace

PtxCase run_ptx_case(std::string_view text) {
  PtxCase result;
  try {
    run_all(text, result);
    return result;
  } catch (const ptx::ParseError& error) {
    result.message = error.what();
    if (result.outcome != PtxOutcome::not_parsed) result.violation = "a ParseError after parsing";
  } catch (const std::invalid_argument& error) {
    result.message = error.what();
  } catch (const std::bad_alloc&) {
    result.message = "out of device memory";
  } catch (const std::exception& error) {
    result.violation = std::string("an exception that callers do not expect: ") + error.what();
  }
  if (result.message.find('\n') != std::string::npos)
    result.violation = "a message of several lines";
  return result;
}

}  // namespace rung::vgpu
