#include "launch_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "command_line.hpp"
#include "emu/compile/toolchain.hpp"
#include "tools/any_kernel/npy.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/kernel_file/kernel_file.hpp"
#include "tools/report/output_file.hpp"
#include "vgpu/model/device.hpp"

namespace rung {
namespace {

using any_kernel::ArgumentError;

constexpr std::int64_t most_extent = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t most_shared = std::int64_t{1} << 30;
constexpr std::int64_t most_limit = std::int64_t{1} << 50;

/// "40x24x2"; what is not given is 1.
vgpu::Dim3 read_extents(const std::string& option, const std::string& text) {
  const std::vector<std::string> parts = split(text, 'x');
  std::array<std::uint32_t, 3> extents = {1, 1, 1};
  if (parts.size() > extents.size()) {
    throw UsageError(
        fmt::format("{}: '{}' has more than three extents; write X, XxY or XxYxZ", option, text));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    extents[i] = static_cast<std::uint32_t>(read_integer(option, parts[i], 1, most_extent));
  }
  return {extents[0], extents[1], extents[2]};
}

/// "1" and "y.npy" of "1=y.npy".
std::pair<std::string, std::string> read_pair(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(fmt::format("{}: '{}' is not of the form NAME=VALUE", option, text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

vgpu::DeviceDescription read_gpu(const std::string& text, bool is_metal) {
  try {
    return vgpu::parse_device(text.empty() ? is_metal ? "m1pro" : "h200" : text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--gpu: {}", error.what()));
  }
}

bool is_metal_path(const std::string& file) { return file.find(".metal") != file.npos; }

/// The file's path, and the kernel after the colon.
std::pair<std::string, std::string> split_kernel(const std::string& file) {
  for (const std::string suffix : {".cu:", ".metal:"}) {
    const std::size_t at = file.find(suffix);
    if (at == file.npos) continue;
    return {file.substr(0, at + suffix.size() - 1), file.substr(at + suffix.size())};
  }
  return {file, ""};
}

/// Metal's dispatchThreads and dispatchThreadgroups; in CUDA, a grid is of blocks.
void read_grid(const LaunchArguments& arguments, bool is_metal,
               any_kernel::LaunchRequest& request) {
  if (!arguments.grid.empty() && !arguments.groups.empty()) {
    throw UsageError("--groups: --grid gives the size of the grid, too; write one of them");
  }
  if (arguments.grid.empty() && arguments.groups.empty()) {
    throw UsageError(is_metal ? "--grid: expected the threads of the grid, as in --grid 40x24"
                              : "--grid: expected the blocks of the grid, as in --grid 40x24");
  }
  if (arguments.group.empty()) {
    throw UsageError(fmt::format("--group: expected the threads of a {}, as in --group 16x16",
                                 is_metal ? "threadgroup" : "block"));
  }
  request.group = read_extents("--group", arguments.group);
  if (!arguments.groups.empty()) {
    request.groups = read_extents("--groups", arguments.groups);
  } else if (!is_metal) {
    request.groups = read_extents("--grid", arguments.grid);
  } else {
    const vgpu::Dim3 threads = read_extents("--grid", arguments.grid), group = request.group;
    request.threads = threads;
    request.groups = {(threads.x + group.x - 1) / group.x, (threads.y + group.y - 1) / group.y,
                      (threads.z + group.z - 1) / group.z};
  }
}

/// Adds --out, which is an output that has no other value, and is saved.
void read_outputs(const LaunchArguments& arguments, any_kernel::LaunchRequest& request,
                  std::vector<std::pair<std::string, std::string>>& saved) {
  for (const std::string& text : arguments.saved) saved.push_back(read_pair("--save", text));
  for (const std::string& text : arguments.outputs) {
    const auto output = read_pair("--out", text);
    request.outputs.push_back(output.first);
    saved.push_back(output);
  }
}

std::string extents(const vgpu::Dim3& size) {
  if (size.z != 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y != 1 ? fmt::format("{}x{}", size.x, size.y) : std::to_string(size.x);
}

/// Calls `body`; its errors are those of a command.
template <class Body>
auto with_usage_errors(const Body& body) {
  try {
    return body();
  } catch (const ArgumentError& error) {
    throw UsageError(error.what());
  } catch (const KernelFileError& error) {
    throw UsageError(error.what());
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  } catch (const emu::CompileError& error) {
    throw std::runtime_error(*error.what() == '\0' ? "the file does not compile" : error.what());
  }
}

}  // namespace

void LaunchArguments::add_launch(Options& app) {
  app.add_option(
         "--grid", grid,
         "Size of the grid: in CUDA in blocks, as in <<<grid, block>>>; in Metal in threads, as "
         "for dispatchThreads")
      ->type_name("X[xY[xZ]]");
  app.add_option("--groups", groups, "Size of the grid in blocks or threadgroups")
      ->type_name("X[xY[xZ]]");
  app.add_alias("--block", "--group");
  app.add_option("--group", group, "Threads of a block or threadgroup")->type_name("X[xY[xZ]]");
  app.add_option("--shared", shared, "Bytes of dynamic shared memory of a block (default: 0)")
      ->type_name("BYTES");
  app.add_option("--limit", limit, "Abort the launch after N warp instructions")->type_name("N");
  app.add_option("--buffer", buffers,
                 "The value of parameter N, or of [[buffer(N)]], counted from 0; may be repeated")
      ->type_name("N=VALUE")
      ->one_at_a_time();
  app.add_option("--out", outputs, "Write a parameter's memory to FILE after the launch")
      ->type_name("NAME=FILE.npy")
      ->one_at_a_time();
  app.add_option("--save", saved, "The same, for a parameter that has a value")
      ->type_name("NAME=FILE.npy")
      ->one_at_a_time();
  app.add_option(
         "--expect", expected,
         "Check a result: 'C = A B', 'C = alpha A^T B + beta C', 'r = dot(x, y)', 'r = sum(x)' "
         "or C=FILE.npy; may be repeated")
      ->type_name("RESULT")
      ->one_at_a_time();
  app.add_option(
         "--rtol", rtol,
         "Relative tolerance of files (default: 1.3e-6; half 1e-3, bfloat 1.6e-2, double 1e-7)")
      ->type_name("T");
  app.add_option("--atol", atol, "Absolute tolerance of files (default: 1e-5; double 1e-7)")
      ->type_name("T");
}

void LaunchArguments::add_seed(Options& app) {
  app.add_option("--seed", seed, "Seed of rand (default: 1)")->type_name("S");
}

bool LaunchArguments::any() const {
  return !values.empty() || !grid.empty() || !groups.empty() || !group.empty() ||
         !buffers.empty() || !outputs.empty() || !saved.empty() || !expected.empty() ||
         !shared.empty() || !limit.empty();
}

any_kernel::Program compile_kernels(const LaunchedFile& file) {
  const auto [path, kernel] = split_kernel(file.file);
  if (!names_kernel_file(path)) {
    throw UsageError(fmt::format("FILE: '{}' does not end in .cu or .metal", path));
  }
  any_kernel::ProgramRequest request{path, kernel, {}, 0, file.arguments, file.is_list};
  request.arch = read_gpu(file.gpu, is_metal_path(path)).arch();
  for (const std::string& folder : file.include_folders) request.options.push_back("-I" + folder);
  for (const std::string& definition : file.definitions)
    request.options.push_back("-D" + definition);
  return with_usage_errors([&] { return any_kernel::compile_program(request); });
}

KernelLaunch::KernelLaunch(const LaunchedFile& file, const LaunchArguments& arguments) {
  const bool is_metal = is_metal_path(file.file);
  request_.device = read_gpu(file.gpu, is_metal);
  for (const std::string& text : arguments.values) {
    request_.arguments.push_back(read_pair("NAME=VALUE", text));
  }
  for (const std::string& text : arguments.buffers) {
    request_.arguments.push_back(read_pair("--buffer", text));
  }
  read_grid(arguments, is_metal, request_);
  read_outputs(arguments, request_, saved_);
  request_.expectations = arguments.expected;
  if (!arguments.rtol.empty()) request_.tolerance.relative = read_number("--rtol", arguments.rtol);
  if (!arguments.atol.empty()) request_.tolerance.absolute = read_number("--atol", arguments.atol);
  if (!arguments.shared.empty()) {
    request_.dynamic_shared = read_integer("--shared", arguments.shared, 0, most_shared);
  }
  if (!arguments.limit.empty()) {
    request_.instruction_limit =
        static_cast<std::uint64_t>(read_integer("--limit", arguments.limit, 1, most_limit));
  }
  if (!arguments.seed.empty()) {
    request_.seed =
        static_cast<std::uint64_t>(read_integer("--seed", arguments.seed, 0, most_extent));
  }
  LaunchedFile with_arguments = file;
  with_arguments.arguments = request_.arguments;
  program_ = compile_kernels(with_arguments);
  kernel_ = with_usage_errors([&] { return &program_.find(split_kernel(file.file).second); });
  std::erase_if(request_.arguments, [&](const auto& argument) {
    const bool is_parameter =
        std::ranges::find(kernel_->parameters, argument.first, &any_kernel::Parameter::name) !=
        kernel_->parameters.end();
    return !is_parameter &&
           std::ranges::find(program_.constants, argument.first) != program_.constants.end();
  });
}

std::string KernelLaunch::head() const {
  std::string text =
      fmt::format("{}:{} on virtual {} ({} {}, simulated by this CPU)\n{}\n", program_.file_name(),
                  kernel_->name, device().name, device().multiprocessors,
                  program_.is_metal ? "cores" : "multiprocessors", program_.code);
  const char* const group = program_.is_metal ? "threadgroup" : "block";
  const auto counted = [](const std::string& extent, const char* noun) {
    return fmt::format("{} {}{}", extent, noun, extent == "1" ? "" : "s");
  };
  const std::string groups = counted(extents(request_.groups), group);
  if (request_.threads) {
    return text + fmt::format("grid of {} in {} of {}\n",
                              counted(extents(*request_.threads), "thread"), groups,
                              extents(request_.group));
  }
  return text +
         fmt::format("grid of {} of {}\n", groups, counted(extents(request_.group), "thread"));
}

any_kernel::Outcome KernelLaunch::run() const {
  std::vector<std::pair<std::string, OutputFile>> files;
  for (const auto& [name, path] : saved_) {
    if (!path.ends_with(".npy")) {
      throw UsageError(fmt::format("--save: '{}' does not end in .npy", path));
    }
    files.emplace_back(name, OutputFile(path));
  }
  any_kernel::Outcome outcome =
      with_usage_errors([&] { return any_kernel::launch(program_, *kernel_, request_); });
  for (const auto& [name, file] : files) {
    const any_kernel::Result& result = with_usage_errors([&, &parameter = name]() -> const auto& {
      return any_kernel::find_result(*kernel_, outcome, parameter);
    });
    const auto scalar = common_scalar(*result.array.element);
    if (!scalar) {
      throw UsageError(
          fmt::format("--save: the elements of '{}' are not numbers of one type", name));
    }
    file.write(any_kernel::npy_text(*scalar, result.array.scalar_shape(), result.array.bytes));
  }
  return outcome;
}

}  // namespace rung
