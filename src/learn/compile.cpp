#include "learn/compile.hpp"

#include <fmt/format.h>

#include <fstream>

#include "emu/device_code.hpp"
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

}  // namespace

std::string compile(const fs::path& file, const KernelForm& form, const fs::path& folder) {
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

}  // namespace rung::learn
