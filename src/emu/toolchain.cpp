#include "emu/toolchain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "emu/launch_json.hpp"
#include "emu/process.hpp"
#include "vgpu/ptx/lexer.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

// Functions that the virtual GPU implements itself (PTX Writer's Guide to Interoperability, "System
// Calls").
constexpr std::array system_calls = {"vprintf", "malloc", "free", "__assertfail"};

// The interface that the headers provide, and the PTX ISA version that clang may generate for it.
constexpr const char* cuda_version = "12.4";
constexpr const char* ptx_feature = "+ptx83";
constexpr const char* default_standard = "-std=c++17";

std::vector<std::string> common_arguments(const CompileOptions& options,
                                          const Installation& installation,
                                          const std::string& clang) {
  std::vector<std::string> arguments = {
      clang,
      "-x",
      "cuda",
      // Uses neither the headers nor the device library of any installed CUDA toolkit.
      "--cuda-path=/nonexistent",
      "-nocudainc",
      "-nocudalib",
      fmt::format("-I{}", installation.include.string()),
      "-include",
      "cuda_runtime.h",
      "-Xclang",
      std::string("-target-sdk-version=") + cuda_version,
      default_standard,
  };
  arguments.insert(arguments.end(), options.passed.begin(), options.passed.end());
  return arguments;
}

bool has_optimisation(const CompileOptions& options) {
  return std::any_of(options.passed.begin(), options.passed.end(),
                     [](const std::string& argument) { return argument.starts_with("-O"); });
}

void run_compiler(const std::vector<std::string>& command) {
  const ExitStatus status = run(command);
  if (const int signal = HeldSignals::received(); signal != 0) throw Interrupted{signal};
  if (status.signal != 0) {
    throw CompileError(fmt::format("{} was ended by signal {}", command[0], status.signal));
  }
  if (status.code != 0) throw CompileError("");  // it has printed the reason
}

/// What the compiler takes for the file and nothing else: a name may begin like an option (-) or
/// like a file of options (@).
std::string source_argument(const fs::path& source) {
  const std::string name = source.string();
  return name.starts_with('-') || name.starts_with('@') ? "./" + name : name;
}

/// The program is called like its source, unless that has characters which tools may stumble over.
std::string program_name(const fs::path& source) {
  const std::string stem = source.stem().string();
  const bool is_plain = !stem.empty() && !stem.starts_with('-') && stem != "report.jsonl" &&
                        stem.find_first_not_of(
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_-.+") == std::string::npos;
  return is_plain ? stem : "program";
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path compile_device(const CompileOptions& options, std::vector<std::string> command,
                        const fs::path& folder) {
  const fs::path ptx = folder / (program_name(options.source) + ".ptx");
  if (!has_optimisation(options)) command.push_back("-O3");
  for (const std::string& argument :
       {std::string("--cuda-device-only"), fmt::format("--cuda-gpu-arch={}", options.architecture),
        std::string("-Xclang"), std::string("-target-feature"), std::string("-Xclang"),
        std::string(ptx_feature), std::string("-gline-tables-only"), std::string("-S"),
        std::string("-o"), ptx.string(), source_argument(options.source)}) {
    command.push_back(argument);
  }
  run_compiler(command);
  return ptx;
}

/// Kernels and variables are found by clang's names. nvcc names those in an anonymous namespace
/// differently.
fs::path compile_device_by_nvcc(const CompileOptions& options, const fs::path& folder) {
  const fs::path ptx = folder / (program_name(options.source) + ".ptx");
  std::vector<std::string> command = {options.nvcc, "--extended-lambda",
                                      "--expt-relaxed-constexpr"};
  const bool has_standard = std::any_of(options.passed.begin(), options.passed.end(),
                                        [](const auto& it) { return it.starts_with("-std="); });
  if (!has_standard) command.push_back(default_standard);
  command.insert(command.end(), options.passed.begin(), options.passed.end());
  for (const std::string& argument :
       {fmt::format("-arch={}", options.architecture), std::string("-lineinfo"),
        std::string("-ptx"), std::string("-o"), ptx.string(), source_argument(options.source)}) {
    command.push_back(argument);
  }
  run_compiler(command);
  return ptx;
}

void check_calls(const CompileOptions& options, const fs::path& ptx) {
  const std::vector<std::string> missing = missing_functions(read_file(ptx));
  if (missing.empty()) return;
  throw CompileError(fmt::format("{}: device code calls {}, which rung emu does not have",
                                 options.source.string(), fmt::join(missing, ", ")));
}

// The warnings were already printed for the device code.
fs::path compile_host(const CompileOptions& options, std::vector<std::string> command,
                      const fs::path& ptx, const fs::path& folder) {
  const fs::path image = folder / (program_name(options.source) + ".image");
  std::ofstream(image, std::ios::binary) << read_file(ptx) << '\0';
  const fs::path object = folder / (program_name(options.source) + ".o");
  if (!has_optimisation(options)) command.push_back("-O2");
  for (const std::string& argument :
       {std::string("--cuda-host-only"), std::string("-Xclang"),
        std::string("-fcuda-include-gpubinary"), std::string("-Xclang"), image.string(),
        std::string("-w"), std::string("-c"), std::string("-o"), object.string(),
        source_argument(options.source)}) {
    command.push_back(argument);
  }
  run_compiler(command);
  return object;
}

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

}  // namespace

Installation find_installation() {
  const std::array folders = {own_folder() / RUNG_EMU_BUILD_FOLDER,
                              (own_folder() / RUNG_EMU_INSTALL_FOLDER).lexically_normal()};
  for (const fs::path& folder : folders) {
    const Installation found{folder / "include", folder / "librung_emu.so"};
    if (fs::exists(found.include / "cuda_runtime.h") && fs::exists(found.library)) return found;
  }
  throw MissingTool(fmt::format("librung_emu.so and its headers are neither in {} nor in {}",
                                folders[0].string(), folders[1].string()));
}

std::string find_clang() {
  if (const char* chosen = std::getenv("RUNG_CLANG"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  for (const char* name : {"clang++-19", "clang++-20", "clang++-21"}) {
    if (const std::string found = find_program(name); !found.empty()) return found;
  }
  throw MissingTool("clang++-19 is not on the PATH; it comes with package clang-19");
}

std::string find_nvcc() {
  if (const std::string found = find_program("nvcc"); !found.empty()) return found;
  const char* const usual = "/usr/local/cuda/bin/nvcc";
  if (fs::exists(usual)) return usual;
  throw MissingTool(
      fmt::format("nvcc is neither on the PATH nor {}; it comes with the CUDA toolkit", usual));
}

std::vector<std::string> missing_functions(const std::string& ptx) {
  std::vector<std::string> missing;
  vgpu::ptx::Lexer lexer(ptx, "the program's PTX");
  while (!lexer.at(vgpu::ptx::Token::Kind::end)) {
    if (lexer.take().text != ".extern" || !lexer.accept(".func")) continue;
    if (lexer.accept("(")) {  // what it returns
      while (!lexer.at(vgpu::ptx::Token::Kind::end) && lexer.take().text != ")") {
      }
    }
    const std::string name(lexer.take().text);
    if (std::find(system_calls.begin(), system_calls.end(), name) == system_calls.end()) {
      missing.push_back(name.starts_with("__nv_") ? name.substr(5) : readable_name(name));
    }
  }
  return missing;
}

fs::path compile(const CompileOptions& options, const Installation& installation,
                 const std::string& clang, const fs::path& folder) {
  const std::vector<std::string> common = common_arguments(options, installation, clang);
  const fs::path ptx = options.nvcc.empty() ? compile_device(options, common, folder)
                                            : compile_device_by_nvcc(options, folder);
  check_calls(options, ptx);
  const fs::path object = compile_host(options, common, ptx, folder);
  const fs::path program = folder / program_name(options.source);
  run_compiler({clang, object.string(), installation.library.string(), "-Xlinker", "-rpath",
                "-Xlinker", installation.library.parent_path().string(), "-lm", "-pthread", "-o",
                program.string()});
  return program;
}

}  // namespace rung::emu
