#include "emu/compile/toolchain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "emu/compile/link/object_cache.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/source/characters.hpp"
#include "emu/reports/launch_json.hpp"
#include "vgpu/ptx/lexer.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

// Functions that the virtual GPU implements itself (PTX Writer's Guide to Interoperability, "System
// Calls").
constexpr std::array system_calls = {
    "vprintf", "malloc", "free", "__assertfail", "cudaLaunchDeviceV2", "cudaGetParameterBufferV2"};

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// The program is called like its source, unless that has characters which tools may stumble over.
std::string program_name(const fs::path& source) {
  const std::string stem = source.stem().string();
  return is_plain_name(stem) && stem != "report.jsonl" ? stem : "program";
}

}  // namespace

fs::path find_cccl() {
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') toolkits.emplace_back(value);
  }
  std::error_code missing;
  const fs::path nvcc = fs::canonical(find_program("nvcc"), missing);
  if (!missing) toolkits.push_back(nvcc.parent_path().parent_path());
  toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& toolkit : toolkits) {
    const fs::path folder = toolkit / "include/cccl";
    if (fs::exists(folder / "cub/cub.cuh")) return folder;
  }
  return {};
}

Installation find_installation() {
  const std::array folders = {(own_folder() / RUNG_EMU_BUILD_FOLDER).lexically_normal(),
                              (own_folder() / RUNG_EMU_INSTALL_FOLDER).lexically_normal(),
                              own_folder() / "runtime"};  // of tests, in the folder of the build
  for (const fs::path& folder : folders) {
    const Installation found{folder / "include", folder / "librung_emu.so", find_cccl()};
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

namespace {

/// Compiles a source, or takes the object from the cache.
void make_object(const CompileOptions& options, const fs::path& source, const fs::path& object,
                 const Installation& installation, const std::string& clang,
                 const fs::path& folder) {
  // nvcc reads headers of a toolkit, which is not ours to follow.
  if (options.cache.empty() || !options.nvcc.empty()) {
    compile_object(options, source, object, installation, clang, folder);
    return;
  }
  const ObjectCache cache(options.cache);
  const std::string key = ObjectCache::key(options, source, installation, clang);
  const fs::path device = device_code_beside(options, source, object);
  std::vector<fs::path> files = {object};
  if (!device.empty()) files.push_back(device);
  if (cache.fetch(key, files)) return;
  std::vector<fs::path> read = {object.string() + ".d"};
  if (!device.empty()) read.emplace_back(object.string() + ".device.d");
  compile_object(options, source, object, installation, clang, folder,
                 {"-MD", "-MF", read.front().string()}, device.empty() ? fs::path() : read.back());
  cache.store(key, files, read);
}

}  // namespace

fs::path compile(const CompileOptions& options, const Installation& installation,
                 const std::string& clang, const fs::path& folder) {
  const fs::path program = folder / program_name(options.sources.front());
  std::vector<fs::path> objects;
  for (const fs::path& source : options.sources) {
    if (is_link_input(source)) {
      objects.push_back(source);
      continue;
    }
    // Sources of two folders may have the same name.
    const fs::path object =
        objects.empty() ? fs::path(program.string() + ".o")
                        : folder / fmt::format("{}.{}.o", program_name(source), objects.size());
    make_object(options, source, object, installation, clang, folder);
    objects.push_back(object);
  }
  link_program(options, objects, program, installation, clang, folder);
  return program;
}

}  // namespace rung::emu
