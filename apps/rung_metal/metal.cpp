// rung-metal: compiles Metal programs in C++ so that they run on the virtual GPU by themselves. It takes the
// options of clang++, and stands for Apple's tools under their names (xcrun, metal, metallib), so that
// Makefiles and CMake work. The variables RUNG_EMU_* (emu/runtime/options.hpp) choose the GPU and the checks.

#include "apps/rung_metal/metal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "apps/rung_metal/vendored.hpp"
#include "apps/rung_metal/words.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/metal/library_file.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/run_driver.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

constexpr const char* usage =
    "rung-metal FILE.cpp… [FILE.metal…] [options of clang++]: compile a Metal program for the "
    "virtual GPU\n"
    "rung-metal metal|metallib …: compile Metal files to a library, as `xcrun -sdk macosx metal`\n"
    "rung-metal --make-toolkit-folder FOLDER: make xcrun, metal, metallib and c++ in FOLDER/bin, "
    "for PATH\n";

fs::path own_path() { return fs::read_symlink("/proc/self/exe"); }

fs::path headers() { return find_installation().include / "rung_emu/metal_cpp"; }

/// Tools that the toolkit folder has, and the names of compilers.
constexpr std::array compilers = {"clang++", "clang", "c++", "g++", "cc", "gcc"};
constexpr std::array metal_tools = {"metal", "metallib", "metal-ar", "air-lld"};

template <std::size_t N>
bool is_one_of(const std::string& word, const std::array<const char*, N>& all) {
  return std::ranges::find(all, word) != all.end();
}

/// Reads libraries and compiles sources to one library.
metal::Library make_library(const MetalRequest& request) {
  metal::Library library;
  metal::Options options;
  options.compiler = request.compiler;
  for (const std::string& source : request.sources) {
    if (!fs::exists(source)) throw CompileError(fmt::format("{}: no such file", source));
    library.push_back(metal::make_library_source(source, options));
  }
  for (const std::string& file : request.libraries) {
    for (metal::LibrarySource& each : metal::read_library(file)) library.push_back(std::move(each));
  }
  return library;
}

void write_dependencies(const MetalRequest& request, const fs::path& output) {
  if (request.dependencies.empty()) return;
  std::ofstream file(request.dependencies);
  file << output.string() << ":";
  for (const std::string& source : request.sources) file << " " << source;
  file << "\n";
}

int compile_metal(const Words& words) {
  const MetalRequest request = parse_metal(words);
  if (request.sources.empty() && request.libraries.empty()) {
    throw std::invalid_argument("metal: no input files");
  }
  if (request.compiles_only && request.output.empty()) {
    for (const std::string& source : request.sources) {
      MetalRequest one = request;
      one.sources = {source};
      metal::write_library(fs::path(source).filename().replace_extension(".air"),
                           make_library(one));
    }
    return 0;
  }
  const fs::path output = request.output.empty() ? "default.metallib" : request.output;
  metal::write_library(output, make_library(request));
  write_dependencies(request, output);
  return 0;
}

/// rung-metal --compile-kernel KERNEL LIBRARY [CONSTANT=VALUE…] -o FILE, for librung_emu.so.
int compile_kernel(const Words& words) {
  std::map<std::string, std::string> constants;
  std::string output;
  for (std::size_t at = 2; at < words.size(); ++at) {
    if (words[at] == "-o" && at + 1 < words.size()) {
      output = words[++at];
      continue;
    }
    const std::size_t equals = words[at].find('=');
    constants[words[at].substr(0, equals)] = words[at].substr(equals + 1);
  }
  const metal::Library library = metal::read_library(words.at(1));
  std::ofstream(output, std::ios::binary)
      << metal::to_text(metal::compile_library_kernel(library, words.at(0), constants));
  return 0;
}

bool links(const Words& words) {
  return std::ranges::none_of(words, [](const std::string& word) {
    return word == "-c" || word == "-E" || word == "-S" || word == "-fsyntax-only" ||
           word == "-M" || word == "-MM" || word == "--version" || word == "-v" || word == "-###";
  });
}

std::string output_of(const Words& words) {
  const auto at = std::ranges::find(words, "-o");
  return at != words.end() && at + 1 != words.end() ? *(at + 1) : "a.out";
}

/// Metal files among the sources become the default library, beside the program.
void make_default_library(Words& words) {
  MetalRequest request;
  std::erase_if(words, [&](const std::string& word) {
    if (!word.ends_with(".metal") && !word.ends_with(".air")) return false;
    (word.ends_with(".metal") ? request.sources : request.libraries).push_back(word);
    return true;
  });
  if (request.sources.empty() && request.libraries.empty()) return;
  for (const std::string& word : words) {
    if (word.starts_with("-I") || word.starts_with("-D")) request.compiler.push_back(word);
  }
  metal::write_library(fs::path(output_of(words)).parent_path() / "default.metallib",
                       make_library(request));
}

/// BLAS in place of Accelerate's, for programs that link with it; Rung's own comes first.
Words blas_of(const Words& given) {
  if (std::ranges::find(given, "Accelerate") == given.end()) return {};
  Words words;
  for (const fs::path& folder : {own_path().parent_path(), own_path().parent_path() / "../lib"}) {
    if (fs::exists(folder / "librung_blas.so")) {
      words = {(folder / "librung_blas.so").string(), "-Wl,-rpath," + folder.string()};
    }
  }
  words.emplace_back("-l:libopenblas.so.0");
  return words;
}

/// The compiler's command for host code.
Words host_command(const std::string& tool, const Words& words, const fs::path& folder) {
  const bool is_c = tool == "clang" || tool == "cc" || tool == "gcc";
  std::string clang = find_clang();
  if (const std::size_t at = clang.rfind("++"); is_c && at != clang.npos) clang.erase(at, 2);
  const std::string own = headers().string();
  Words command = {
      clang, "-I" + own,
      "-idirafter" + (find_installation().include / "rung_emu/serial_openmp").string()};
  std::ofstream(folder / "headers.yaml") << metal_cpp_overlay(words, own);
  command.insert(command.end(), {"-ivfsoverlay", (folder / "headers.yaml").string()});
  // Reports name the program's lines, which a jump at the end of a function would not tell.
  command.insert(command.end(), {"-include", own + "/rung/libcxx.h"});
  command.insert(command.end(), {"-fblocks", "-gline-tables-only", "-fno-optimize-sibling-calls",
                                 "-Wno-unused-command-line-argument", "-Wno-c++11-narrowing"});
  command.insert(command.end(), words.begin(), words.end());
  if (links(words)) {
    const fs::path library = find_installation().library;
    const std::string libraries = library.parent_path().string();
    command.insert(command.end(), {"-x", "none", library.string(), "-Wl,-rpath," + libraries, "-lm",
                                   "-pthread", "-lstdc++"});
  }
  return command;
}

/// Assembler text that puts the file into the program, with the names of start and end that Apple's
/// linker gives: emu/metal_cpp/include/mach-o/getsect.h.
std::string section_text(const EmbeddedSection& section) {
  const std::string name = section.segment + "$" + section.name;
  return fmt::format(
      ".section .data.rung_section,\"aw\",@progbits\n.balign 16\n"
      ".globl \"section$start${0}\"\n\"section$start${0}\":\n.incbin \"{1}\"\n"
      ".globl \"section$end${0}\"\n\"section$end${0}\":\n.byte 0\n"
      ".section .note.GNU-stack,\"\",@progbits\n",
      name, fs::absolute(section.file).string());
}

/// Words for the linker that put the sections into the program, where dlsym() finds them.
Words words_of(const std::vector<EmbeddedSection>& sections, const fs::path& folder) {
  if (sections.empty()) return {};
  const fs::path file = folder / "sections.s";
  std::ofstream text(file);
  Words words = {"-x", "assembler", file.string(), "-x", "none"};
  for (const EmbeddedSection& section : sections) {
    if (!fs::exists(section.file)) {
      throw CompileError(fmt::format("-sectcreate: {}: no such file", section.file));
    }
    text << section_text(section);
    for (const char* const end : {"start", "end"}) {
      words.push_back(fmt::format("-Wl,--export-dynamic-symbol=section${}${}${}", end,
                                  section.segment, section.name));
    }
  }
  return words;
}

int compile_program(const std::string& tool, const Words& given) {
  std::vector<EmbeddedSection> sections;
  Words words = without_platform_options(given, sections);
  make_default_library(words);
  const TemporaryFolder folder("rung-metal-");
  const bool asks = std::ranges::find(words, "--version") != words.end();
  if (asks) words = {"--version"};
  Words command = host_command(tool, words, folder.path());
  if (links(words)) {
    for (const std::string& word : blas_of(given)) command.push_back(word);
    for (const std::string& word : words_of(sections, folder.path())) command.push_back(word);
  }
  const ExitStatus status = run(command);
  return status.signal != 0 ? 1 : status.code;
}

/// metal-ar's words as those of metallib: "-r OUTPUT INPUT…". An archive is a library.
Words archive_words(const Words& words) {
  if (words.size() < 2) throw std::invalid_argument("metal-ar: expected -r ARCHIVE FILE…");
  if (words[0].find_first_of("rq") == std::string::npos) {
    throw std::invalid_argument(
        fmt::format("metal-ar: '{}' is not supported; only r and q are", words[0]));
  }
  Words other(words.begin() + 2, words.end());
  other.insert(other.end(), {"-o", words[1]});
  return other;
}

int run_xcrun(const Words& words);

/// Runs a tool by name. Empty if the name is not a tool's.
std::optional<int> run_tool_named(const std::string& tool, const Words& words) {
  if (tool == "xcrun") return run_xcrun(words);
  if (tool == "metal-ar") return compile_metal(archive_words(words));
  if (is_one_of(tool, metal_tools)) return compile_metal(words);
  if (is_one_of(tool, compilers)) return compile_program(tool, words);
  return std::nullopt;
}

/// The path of a tool: of the toolkit folder on PATH, or of another program there.
fs::path find_tool(const std::string& tool) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  fs::path other;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / tool;
    std::error_code failed;
    if (folder.empty() || !fs::is_regular_file(candidate, failed)) continue;
    if (fs::canonical(candidate, failed) == own_path()) return candidate;
    if (other.empty()) other = candidate;
  }
  if (other.empty()) {
    throw std::invalid_argument(fmt::format(
        "xcrun: '{}' is not on PATH; put the folder bin that --make-toolkit-folder makes there",
        tool));
  }
  return other;
}

int run_xcrun(const Words& words) {
  const XcrunRequest request = parse_xcrun(words);
  if (request.shows_sdk) {
    fmt::print("{}\n", headers().string());
    return 0;
  }
  if (request.command.empty()) throw std::invalid_argument("xcrun: no tool");
  const std::string& tool = request.command.front();
  if (request.finds) {
    fmt::print("{}\n", find_tool(tool).string());
    return 0;
  }
  if (const auto code =
          run_tool_named(tool, {request.command.begin() + 1, request.command.end()})) {
    return *code;
  }
  const ExitStatus status = run(request.command);
  return status.signal != 0 ? 1 : status.code;
}

/// A folder with Apple's tools by their names, and libraries for find_library(Metal).
void make_toolkit_folder(const fs::path& folder) {
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib");
  const auto link = [&](const char* name) {
    fs::create_symlink(own_path(), folder / "bin" / name);
  };
  link("xcrun");
  for (const char* name : metal_tools) link(name);
  for (const char* name : compilers) link(name);
  fs::create_directory_symlink(headers(), folder / "include");
  const fs::path library = find_installation().library;
  // Programs search frameworks that they compute without, too.
  for (const char* name : {"Metal", "Foundation", "QuartzCore", "MetalKit", "CoreGraphics",
                           "CoreFoundation", "CoreServices", "Cocoa", "AppKit", "IOKit"}) {
    std::ofstream(folder / "lib" / fmt::format("lib{}.so", name))
        << fmt::format("INPUT({})\n", library.string());
  }
}

int run_words(const std::string& name, const Words& words) {
  if (const auto code = run_tool_named(name, words)) return *code;
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print("{}", usage);
    return words.empty() ? 1 : 0;
  }
  const Words rest(words.begin() + 1, words.end());
  if (words[0] == "--compile-kernel" && rest.size() >= 2) return compile_kernel(rest);
  if (words[0] == "--make-toolkit-folder" && rest.size() == 1) {
    make_toolkit_folder(rest[0]);
    return 0;
  }
  if (const auto code = run_tool_named(words[0], rest)) return *code;
  return compile_program("c++", words);
}

}  // namespace

int run_metal(int argc, char** argv) {
  return run_driver("rung-metal", [&] {
    return run_words(fs::path(argv[0]).filename().string(), {argv + 1, argv + argc});
  });
}

}  // namespace rung::emu
