// One source to one object.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

#include "emu/compile/ir/device_compiler.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/link/source_overlay.hpp"
#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/own_files.hpp"
#include "emu/compile/source/passes.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

// The interface that the headers provide, and the PTX ISA version that clang may generate for it.
constexpr const char* cuda_version = "12.4";
constexpr const char* default_standard = "-std=c++17";

enum class Language { cuda, cpp, c };

Language language(const CompileOptions& options, const fs::path& source) {
  const std::string suffix = source.extension().string();
  if (options.all_cuda || suffix == ".cu") return Language::cuda;
  if (suffix == ".c") return Language::c;
  for (const char* cpp : {".cpp", ".cc", ".cxx", ".C", ".c++", ".CPP"}) {
    if (suffix == cpp) return Language::cpp;
  }
  return Language::cuda;
}

bool has_option(const CompileOptions& options, const char* start) {
  return std::any_of(options.passed.begin(), options.passed.end(),
                     [&](const std::string& argument) { return argument.starts_with(start); });
}

/// The file's name in a form that the compiler cannot misread: a name may begin like an option (-) or like
/// a file of options (@).
std::string source_argument(const fs::path& source) {
  const std::string name = source.string();
  return name.starts_with('-') || name.starts_with('@') ? "./" + name : name;
}

// Errors of clang that are at most warnings of GCC, nvcc's host compiler, and warnings that GCC gives only if asked.
constexpr std::array lenient = {"-Wno-register",
                                "-Wno-c++11-narrowing",
                                "-Wno-pass-failed",
                                "-Wno-vla-cxx-extension",
                                "-Wno-dynamic-exception-spec",
                                "-Wno-missing-template-arg-list-after-template-kw",
                                "-Wno-reserved-user-defined-literal",
                                "-Wno-format",
                                "-Wno-format-security",
                                "-Wno-inconsistent-missing-override"};

// nvcc has GCC compile host code without optimization by default. Programs rely on it: integers wrap, and
// a function without its return statement returns. Reports name the line of a call, which a jump at the
// end of a function would not tell.
constexpr std::array as_written = {"-fwrapv", "-fno-strict-aliasing", "-fno-strict-return",
                                   "-fno-optimize-sibling-calls"};

// Reports name the line of host code that accesses device memory. The program's own -g comes later,
// and prevails.
constexpr const char* with_lines = "-gline-tables-only";

/// Where headers are looked for that neither the program nor the compiler has: omp.h, and CUDA's C++
/// libraries. Without the definitions, these would include headers of 4- and 6-bit floats of a toolkit
/// in /usr/local/include, which do not fit.
void add_fallbacks(std::vector<std::string>& arguments, const Installation& found) {
  arguments.push_back("-DCCCL_DISABLE_NVFP4_SUPPORT=");
  arguments.push_back("-DCCCL_DISABLE_NVFP6_SUPPORT=");
  arguments.push_back("-idirafter" + (found.include / "rung_emu/serial_openmp").string());
  if (!found.cccl.empty()) arguments.push_back("-idirafter" + found.cccl.string());
}

std::vector<std::string> host_arguments(const CompileOptions& options, const Installation& found,
                                        const std::string& clang, Language language) {
  std::vector<std::string> arguments = {clang, "-x", language == Language::c ? "c" : "c++",
                                        fmt::format("-I{}", found.include.string())};
  arguments.push_back(with_lines);
  add_fallbacks(arguments, found);
  if (language == Language::c) {
    arguments.push_back("-Wno-implicit-function-declaration");
    arguments.push_back("-Wno-implicit-int");
    arguments.push_back("-Wno-int-conversion");
    arguments.push_back("-Wno-incompatible-function-pointer-types");
  } else {
    arguments.push_back(default_standard);
    arguments.insert(arguments.end(), lenient.begin(), lenient.end());
  }
  for (const std::string& argument : options.passed) {
    if (language == Language::c && argument.starts_with("-std=c++")) continue;
    arguments.push_back(argument);
  }
  return arguments;
}

/// True for code that no nvcc before CUDA 12.8 compiles; the headers then promise 12.9 (rung_emu/version.h).
bool is_for_blackwell(const std::string& architecture) { return architecture.starts_with("sm_1"); }

/// True for a standard older than the headers and CUDA's C++ libraries need; programs that ask for it are
/// compiled with the default standard.
bool is_older_standard(std::string_view argument) {
  constexpr std::array older = {"98", "03", "11", "0x", "14", "1y"};
  return argument.starts_with("-std=") &&
         std::any_of(older.begin(), older.end(),
                     [&](std::string_view year) { return argument.ends_with(year); });
}

std::vector<std::string> cuda_arguments(const CompileOptions& options, const fs::path& source,
                                        const Installation& found, const std::string& clang) {
  std::vector<std::string> arguments = {
      clang,
      "-x",
      "cuda",
      // Uses neither the headers nor the device library of any installed CUDA toolkit.
      "--cuda-path=/nonexistent",
      "-nocudainc",
      "-nocudalib",
      fmt::format("-I{}", found.include.string()),
      "-include",
      "cuda_runtime.h",
      "-Xclang",
      std::string("-target-sdk-version=") + cuda_version,
      // Templates of libraries declare such functions; only a call of one is an error.
      "-Xclang",
      "-fcuda-allow-variadic-functions",
      // A value that one lane has and a shuffle hands to the others is undefined in these; that it is
      // passed to a function does not tell the optimiser that only the one lane comes so far.
      "-Xclang",
      "-no-enable-noundef-analysis",
      with_lines,
      default_standard,
  };
  add_fallbacks(arguments, found);
  if (is_for_blackwell(options.architecture)) arguments.push_back("-DRUNG_EMU_BLACKWELL");
  arguments.insert(arguments.end(), lenient.begin(), lenient.end());
  for (const std::string& argument : options.passed) {
    if (!is_older_standard(argument)) arguments.push_back(argument);
  }
  // CMake finds out who compiles by a file of this name; it is to treat this as nvcc.
  if (source.filename() == "CMakeCUDACompilerId.cu") arguments.push_back("-D__NVCC__");
  if (options.relocatable) arguments.push_back("-fgpu-rdc");
  return arguments;
}

void append(std::vector<std::string>& command, std::initializer_list<std::string> arguments) {
  command.insert(command.end(), arguments);
}

/// Where the source and the program's own headers have what only nvcc takes, the compiler reads
/// copies in their place. `appended` follows the source's text.
SourceOverlay accepted_sources(const std::vector<std::string>& command, const fs::path& source,
                               const fs::path& object, const std::string& appended = "") {
  SourceOverlay overlay(object);
  const std::map<std::string, std::string> files = own_files(source, command);
  std::vector<std::string_view> texts;
  for (const auto& [name, text] : files) texts.emplace_back(text);
  const DeclaredTargets targets(texts);
  const DeviceLaunches launches(files);
  const std::string own = fs::absolute(source).lexically_normal().string();
  for (const auto& [name, text] : files) {
    std::string accepted = accepted_source(text, {targets, launches, name});
    if (name == own) accepted += appended;
    if (accepted != text) overlay.replace(name, accepted);
  }
  if (const fs::path header = barrier_header(command); !header.empty()) {
    overlay.replace(header.string(), drop_barrier_destructor(read_file(header)));
  }
  return overlay;
}

void compile_device_by_clang(const CompileOptions& options, std::vector<std::string> command,
                             const fs::path& source, const fs::path& output, const RunFrontEnd& run,
                             const fs::path& dependencies = {}) {
  if (!dependencies.empty()) append(command, {"-MD", "-MF", dependencies.string()});
  if (!has_option(options, "-O")) command.push_back("-O3");
  const DeviceTarget target{options.architecture, !has_option(options, "-O0"), options.relocatable};
  compile_device_code(std::move(command), target, source_argument(source), output, run);
}

/// Kernels and variables are found by clang's names. nvcc names those in an anonymous namespace
/// differently. The toolkit's own headers come first; those here, of the same names, are only for
/// what the toolkit has not.
void compile_device_by_nvcc(const CompileOptions& options, const fs::path& source,
                            const fs::path& ptx, const Installation& installation) {
  std::vector<std::string> command = {options.nvcc, "--extended-lambda", "--expt-relaxed-constexpr",
                                      "-Xcompiler", "-idirafter," + installation.include.string()};
  if (!has_option(options, "-std=")) command.push_back(default_standard);
  command.insert(command.end(), options.passed.begin(), options.passed.end());
  append(command, {"-arch=" + options.architecture, "-lineinfo", "-ptx", "-o", ptx.string(),
                   source_argument(source)});
  run_compiler(command);
}

void compile_cuda(const CompileOptions& options, const fs::path& source, const fs::path& object,
                  const Installation& installation, const std::string& clang,
                  const fs::path& folder, const std::vector<std::string>& dependencies,
                  const fs::path& device_dependencies) {
  std::vector<std::string> command = cuda_arguments(options, source, installation, clang);
  const std::string name = object.filename().string();
  const fs::path files = folder / (is_plain_name(name) ? name : "object.o");
  SourceOverlay overlay = accepted_sources(command, source, files);
  const RunFrontEnd run = [&](const std::vector<std::string>& all) { overlay.compile(all); };
  // Both halves must agree on the names of what is static.
  if (options.relocatable) {
    append(command, {"-fuse-cuid=none", "-Xclang",
                     fmt::format("-cuid={:x}", fs::hash_value(fs::absolute(source)))});
  }
  const fs::path device = device_code_beside(options, source, files);
  if (options.nvcc.empty()) {
    compile_device_by_clang(options, command, source, device, run, device_dependencies);
  } else {
    compile_device_by_nvcc(options, source, device, installation);
  }
  if (options.relocatable) {
    const fs::path embed = files.string() + ".embed.h";
    std::ofstream(embed) << embedding_assembly(device);
    append(command, {"-Xclang", "--offload-new-driver", "-include", embed.string()});
  } else {
    check_calls(source.string(), read_file(device));
    const fs::path image = files.string() + ".image";
    std::ofstream(image, std::ios::binary) << read_file(device) << '\0';
    append(command, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", image.string()});
  }
  // The warnings were already printed for the device code.
  if (!has_option(options, "-O")) command.push_back("-O2");
  command.insert(command.end(), dependencies.begin(), dependencies.end());
  command.insert(command.end(), as_written.begin(), as_written.end());
  append(command,
         {"--cuda-host-only", "-w", "-fPIC", "-c", "-o", object.string(), source_argument(source)});
  run(command);
}

}  // namespace

fs::path device_code_beside(const CompileOptions& options, const fs::path& source,
                            const fs::path& object) {
  if (language(options, source) != Language::cuda) return {};
  return fs::path(object).replace_extension(options.relocatable ? ".bc" : ".ptx");
}

bool is_link_input(const fs::path& source) {
  const std::string name = source.filename().string();
  return name.ends_with(".o") || name.ends_with(".a") || name.ends_with(".so") ||
         name.ends_with(".obj") || name.find(".so.") != std::string::npos;
}

std::vector<std::string> compiler_arguments(const CompileOptions& options, const fs::path& source,
                                            const Installation& installation,
                                            const std::string& clang) {
  const Language of = language(options, source);
  return of == Language::cuda ? cuda_arguments(options, source, installation, clang)
                              : host_arguments(options, installation, clang, of);
}

void compile_object(const CompileOptions& options, const fs::path& source, const fs::path& object,
                    const Installation& installation, const std::string& clang,
                    const fs::path& folder, const std::vector<std::string>& dependencies,
                    const fs::path& device_dependencies) {
  if (language(options, source) == Language::cuda) {
    compile_cuda(options, source, object, installation, clang, folder, dependencies,
                 device_dependencies);
    return;
  }
  std::vector<std::string> command = compiler_arguments(options, source, installation, clang);
  if (!has_option(options, "-O")) command.push_back("-O2");
  command.insert(command.end(), as_written.begin(), as_written.end());
  command.insert(command.end(), dependencies.begin(), dependencies.end());
  append(command, {"-w", "-fPIC", "-c", "-o", object.string(), source_argument(source)});
  run_compiler(command);
}

void compile_device(const CompileOptions& options, const fs::path& source, const fs::path& ptx,
                    const Installation& installation, const std::string& clang) {
  compile_device_by_clang(options, cuda_arguments(options, source, installation, clang), source,
                          ptx, run_compiler);
}

void compile_described(const CompileOptions& options, const fs::path& source,
                       const DescribedCode& code, const Installation& installation,
                       const std::string& clang) {
  std::vector<std::string> command = cuda_arguments(options, source, installation, clang);
  SourceOverlay overlay = accepted_sources(command, source, code.ptx, code.appended);
  compile_device_by_clang(
      options, command, source, code.ptx,
      [&](const std::vector<std::string>& all) { overlay.compile(all); }, code.dependencies);
  for (const std::string& option : overlay.write()) command.push_back(option);
  describe_device_code(command, {options.architecture}, source_argument(source), code.described);
  check_calls(source.string(), read_file(code.ptx));
}

}  // namespace rung::emu
