#include "tools/learn/trial.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "backends/metal/dispatch_constants.hpp"
#include "emu/reports/launch_json.hpp"
#include "vgpu/step_recorder.hpp"

namespace rung::learn {
namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr std::uint64_t instruction_limit = std::uint64_t{1} << 27;

const vgpu::DeviceDescription& device(Language language, std::string_view target) {
  static const vgpu::DeviceDescription b200 = vgpu::parse_device("b200");
  static const vgpu::DeviceDescription h200 = vgpu::parse_device("h200");
  static const vgpu::DeviceDescription m1_pro = vgpu::parse_device("m1pro");
  if (target == "sm_100a") return b200;
  return language == Language::metal ? m1_pro : h200;
}

vgpu::LaunchOptions options_for(const LaunchShape& shape) {
  vgpu::LaunchOptions options;
  options.grid = shape.grid;
  options.block = shape.block;
  options.cluster = shape.cluster;
  options.dynamic_shared = shape.shared_bytes;
  options.instruction_limit = instruction_limit;
  return options;
}

}  // namespace

Trial::Trial(const Code& code)
    : form_(code.form),
      language_(code.language),
      target_(code.target),
      memory_(memory_bytes),
      module_(vgpu::Module::load(code.ptx, "the file", memory_)) {}

Run Trial::run(const Size& size, const vgpu::AccessWatcher& watcher) {
  return run(size, launch_shape(size), watcher);
}

std::string Trial::steps(const Size& size) {
  const LaunchShape shape = launch_shape(size);  // this launch is not recorded
  vgpu::StepRecorder recorder;
  const auto see = [&](const vgpu::WarpAccess& access) { recorder.see(access); };
  const Run run = this->run(size, shape, see);
  return recorder.take(run.report, find_kernel());
}

Run Trial::run(const Size& size, const LaunchShape& shape, const vgpu::AccessWatcher& watcher) {
  const Problem problem(form_, size, shape, memory_);
  Run run;
  const vgpu::Kernel& kernel = find_kernel();
  vgpu::LaunchOptions options = options_for(shape);
  options.watcher = watcher;
  run.report = launch(kernel, options, problem.parameters());
  for (vgpu::Hazard& hazard : run.report.hazards) {
    run.elements.push_back(problem.element(hazard.address));
    hazard.message = problem.with_array_names(std::move(hazard.message));
  }
  run.sites = analysis::site_counts(run.report, sites(kernel));
  run.error = problem.error();
  run.result = problem.result();
  return run;
}

std::vector<float> Trial::probe(const Size& size, const Probe& probe) {
  const LaunchShape shape = launch_shape(size);
  const Problem problem(form_, size, shape, memory_, &probe);
  vgpu::LaunchOptions options = options_for(shape);
  options.observe = false;
  launch(find_kernel(), options, problem.parameters());
  return problem.results();
}

const std::vector<vgpu::Site>& Trial::kernel_sites() const { return sites(find_kernel()); }

vgpu::LaunchReport Trial::launch(const vgpu::Kernel& kernel, const vgpu::LaunchOptions& options,
                                 const std::vector<std::uint64_t>& values) {
  const vgpu::KernelInfo& of = info(kernel);
  std::vector<std::byte> parameters(of.parameter_bytes);
  for (std::size_t i = 0; i < of.parameters.size(); ++i) {
    std::memcpy(&parameters[of.parameters[i].offset], &values.at(i), of.parameters[i].bytes);
  }
  return vgpu::launch(kernel, options, parameters, memory_, device(language_, target_));
}

LaunchShape Trial::launch_shape(const Size& size) {
  if (language_ == Language::metal) return dispatch_shape(size);
  const std::uint64_t to = memory_.allocate(sizeof(LaunchShape));
  vgpu::LaunchOptions options;
  options.instruction_limit = instruction_limit;
  const auto as_word = [](int extent) { return static_cast<std::uint64_t>(extent); };
  launch(*module_->kernel(launch_entry), options,
         {as_word(size.m), as_word(size.n), as_word(size.k), to});
  LaunchShape shape;
  memory_.read(&shape, to, sizeof shape);
  return shape;
}

LaunchShape Trial::dispatch_shape(const Size& size) const {
  const metal::DispatchConstants constants = metal::read_constants(*module_, memory_);
  const metal::Launch launch =
      form_.is_vector ? constants.of_vector(size.n) : constants.of_matrix(size.m, size.n);
  const auto dim = [](const metal::Size3& of) {
    return vgpu::Dim3{static_cast<std::uint32_t>(of.x), static_cast<std::uint32_t>(of.y),
                      static_cast<std::uint32_t>(of.z)};
  };
  LaunchShape shape = {};
  shape.grid = dim(launch.threadgroups);
  shape.block = dim(launch.threads);
  return shape;
}

/// Finds the kernel by its name without parameters.
const vgpu::Kernel& Trial::find_kernel() const {
  if (language_ == Language::metal) return *module_->kernel(form_.name);
  for (const std::string& name : module_->kernel_names()) {
    if (emu::readable_name(name) == form_.name) return *module_->kernel(name);
  }
  throw std::invalid_argument(fmt::format("the file has no kernel '{}'", form_.name));
}

}  // namespace rung::learn
