#include "learn/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "analysis/toolkit.hpp"
#include "backends/metal/dispatch_constants.hpp"
#include "emu/device_code.hpp"
#include "emu/metal.hpp"
#include "emu/toolchain.hpp"

namespace rung::learn {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// The file, a check of its kernel's parameters, and a kernel that calls launch().
std::string unit(const fs::path& file, const KernelForm& form) {
  const char* sizes = form.is_vector ? "n" : "m, n, k";
  return fmt::format(
      "#include \"{}\"\n"
      "constexpr void (*the_kernel_has_these_parameters)({}) = {};\n"
      "extern \"C\" __global__ void {}(int m, int n, int k, Launch* to) {{\n"
      "  *to = launch({});\n"
      "}}\n",
      fs::absolute(file).string(), form.parameters, form.name, launch_entry, sizes);
}

/// The file, and an entry that passes its parameters on to the kernel.
std::string metal_unit(const std::string& text, const std::string& name, const KernelForm& form) {
  std::string parameters, arguments;
  std::string_view rest = form.parameters;
  for (int i = 0; !rest.empty(); ++i) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    const std::string type(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
    const bool is_pointer = type.ends_with('*');
    parameters +=
        fmt::format("{}{}{} p{}", i == 0 ? "" : ", ", is_pointer ? "device " : "", type, i);
    arguments += fmt::format(
        "{}{}", i == 0 ? "" : ", ",
        is_pointer ? fmt::format("p{}", i) : fmt::format("RUNG_METAL_CONSTANT({}, p{})", type, i));
  }
  return emu::metal_source(text, name) +
         fmt::format("\n#line 1 \"rung\"\nRUNG_METAL_ENTRY({})({}) {{ {}({}); }}\n", metal_entry,
                     parameters, form.name, arguments) +
         metal::constants_text(text);
}

std::string compile_metal(const fs::path& file, const KernelForm& form, const fs::path& folder) {
  const std::string unit = metal_unit(emu::read_file(file), file.filename().string(), form);
  return emu::compile_metal(unit, {"-Wno-unused-variable", "-Wno-pass-failed"}, folder);
}

std::string compile_cuda(const fs::path& file, const KernelForm& form, const fs::path& folder) {
  for (const Header& header : headers()) write(folder / "include" / header.path, header.text);
  const fs::path source = folder / "unit.cu", ptx = folder / "unit.ptx";
  write(source, unit(file, form));
  emu::run_compiler({emu::find_clang(),
                     "-x",
                     "cuda",
                     "--cuda-path=/nonexistent",
                     "-nocudainc",
                     "-nocudalib",
                     fmt::format("-I{}", (folder / "include").string()),
                     "-std=c++20",
                     "-O3",
                     "-Wno-unused-variable",
                     "-Wno-unused-const-variable",
                     "-Wno-pass-failed",
                     "--cuda-device-only",
                     "--cuda-gpu-arch=sm_90a",
                     "-Xclang",
                     "-target-feature",
                     "-Xclang",
                     emu::ptx_feature,
                     "-Xclang",
                     "-fcuda-allow-variadic-functions",
                     "-gline-tables-only",
                     "-S",
                     "-o",
                     ptx.string(),
                     source.string()});
  return emu::read_file(ptx);
}

}  // namespace

Code compile(const Exercise& exercise, const fs::path& file) {
  const analysis::ScratchFolder folder;
  const KernelForm& form = kernel_form(exercise.kernel);
  const auto compiler = exercise.language == Language::metal ? compile_metal : compile_cuda;
  return {compiler(file, form, folder.path()), form, exercise.language};
}

std::string solution_name(const Exercise& exercise) {
  return std::string("solution") + exercise.suffix();
}

Code compile_solution(const Exercise& exercise) {
  const analysis::ScratchFolder folder;
  const fs::path file = folder.path() / solution_name(exercise);
  write(file, solution_text(exercise));
  return compile(exercise, file);
}

}  // namespace rung::learn
