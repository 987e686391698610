#include "tools/learn/compile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "backends/metal/dispatch_constants.hpp"
#include "core/c_literal.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/ir/device_compiler.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung::learn {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// While an object lives, standard error goes nowhere, also for programs that this process runs.
class HiddenMessages {
 public:
  HiddenMessages() : shown_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~HiddenMessages() {
    if (shown_ < 0) return;
    dup2(shown_, STDERR_FILENO);
    close(shown_);
  }
  HiddenMessages(const HiddenMessages&) = delete;
  HiddenMessages& operator=(const HiddenMessages&) = delete;

 private:
  int shown_;
};

/// The file, a check of its kernel's parameters, and a kernel that calls launch().
std::string unit(const fs::path& file, const KernelForm& form) {
  const char* sizes = form.is_vector ? "n" : "m, n, k";
  return fmt::format(
      "{}\n"
      "constexpr void (*the_kernel_has_these_parameters)({}) = {};\n"
      "extern \"C\" __global__ void {}(int m, int n, int k, Launch* to) {{\n"
      "  *to = launch({});\n"
      "}}\n",
      include_directive(file), form.parameters, form.name, launch_entry, sizes);
}

/// The parameters of the exercise's kernel in Metal: "const device float*", "constant uint&".
std::vector<std::string> metal_parameters(const KernelForm& form) {
  std::vector<std::string> types;
  for (std::string_view rest = form.parameters; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    const std::string type(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
    types.push_back(type.ends_with('*') ? "device " + type : "constant " + type + "&");
  }
  return types;
}

/// A call of the kernel by its form, which must compile.
std::string metal_check(const KernelForm& form, const emu::metal::Kernel& kernel) {
  const std::vector<std::string> types = metal_parameters(form);
  std::string parameters;
  for (std::size_t i = 0; i < types.size(); ++i) {
    parameters += (i == 0 ? "" : ", ") + types[i];
  }
  if (types.size() != kernel.parameters.size()) {
    throw emu::CompileError(fmt::format("{}:{}: {} has {} buffers; the exercise passes {}: {}",
                                        kernel.file, kernel.line, form.name,
                                        kernel.parameters.size(), types.size(), parameters));
  }
  std::string checks;
  for (std::size_t i = 0; i < types.size(); ++i) {
    checks += fmt::format(
        "static_assert(metal::is_convertible_v<{}, metal::rung_detail::parameter<decltype({}), "
        "{}>>, "
        "\"the exercise passes {}\");\n",
        types[i], form.name, i, parameters);
  }
  return checks;
}

emu::metal::Kernel find_kernel(const fs::path& file, const KernelForm& form) {
  for (const emu::metal::Kernel& kernel : emu::metal::describe(file).kernels) {
    if (kernel.name == form.name) return kernel;
  }
  throw emu::CompileError(fmt::format("{}: no kernel '{}'", file.string(), form.name));
}

std::string compile_metal(const fs::path& file, const KernelForm& form) {
  emu::metal::Options options;
  options.compiler = {"-Wall", "-Wno-unused-const-variable", "-Wno-unused-variable",
                      "-Wno-pass-failed"};
  const std::string text = emu::read_file(file);
  options.appended = metal_check(form, find_kernel(file, form)) + metal::constants_text(text);
  return emu::metal::compile(file, form.name, options).ptx;
}

std::string compile_cuda(const fs::path& file, const KernelForm& form, const std::string& target,
                         const fs::path& folder) {
  for (const Header& header : headers()) write(folder / "include" / header.path, header.text);
  const fs::path source = folder / "unit.cu", ptx = folder / "unit.ptx";
  write(source, unit(file, form));
  emu::compile_device_code(
      {emu::find_clang(), "-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
       fmt::format("-I{}", (folder / "include").string()), "-std=c++20", "-O3",
       "-Wno-unused-variable", "-Wno-unused-const-variable", "-Wno-pass-failed", "-Xclang",
       "-fcuda-allow-variadic-functions"},
      {target}, source.string(), ptx);
  return emu::read_file(ptx);
}

}  // namespace

Code compile(const Exercise& exercise, const fs::path& file) {
  const TemporaryFolder folder;
  const KernelForm& form = kernel_form(exercise.kernel);
  const std::string& target = exercise.target;
  return {exercise.language == Language::metal ? compile_metal(file, form)
                                               : compile_cuda(file, form, target, folder.path()),
          form, exercise.language, target};
}

std::optional<Code> compile_text(const Exercise& exercise, const fs::path& file,
                                 const std::string& text) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / file.filename();
  write(copy, text);
  const HiddenMessages hidden;
  try {
    return compile(exercise, copy);
  } catch (const emu::CompileError&) {
    return std::nullopt;
  }
}

std::string solution_name(const Exercise& exercise) {
  return std::string("solution") + exercise.suffix();
}

Code compile_solution(const Exercise& exercise) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / solution_name(exercise);
  write(file, solution_text(exercise));
  return compile(exercise, file);
}

}  // namespace rung::learn
