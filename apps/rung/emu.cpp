// rung emu: runs a CUDA program on the virtual GPU.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "command_line.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/link/object_cache.hpp"
#include "emu/compile/nvcc_options.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "emulated_program.hpp"
#include "tools/kernel_file/signature.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

struct EmuArguments {
  std::vector<std::string> sources;
  std::vector<std::string> program_arguments;
  emu::NvccOptions nvcc;  // what was given in nvcc's form
  std::vector<std::string> include_folders, definitions;
  std::string standard, optimisation;
  std::string compiler = "clang";
  bool keep = false, no_cache = false;
  EmulationArguments emulation;
};

/// The model for code of this architecture.
std::string gpu_for(const std::string& architecture) {
  if (architecture.starts_with("sm_100")) return "b200";
  if (architecture.starts_with("sm_103")) return "b200,compute_minor=3";
  return architecture.starts_with("sm_120") ? "rtx5090" : "h200";
}

emu::CompileOptions compile_options(const EmuArguments& arguments,
                                    const vgpu::DeviceDescription& gpu) {
  emu::NvccOptions given = arguments.nvcc;
  emu::CompileOptions& options = given.compile;
  if (arguments.compiler == "nvcc") options.nvcc = emu::find_nvcc();
  options.sources.assign(arguments.sources.begin(), arguments.sources.end());
  if (options.architecture.empty()) {
    // Blackwell's own instructions need the architecture's own target.
    options.architecture = fmt::format("sm_{}{}{}", gpu.compute_major, gpu.compute_minor,
                                       gpu.compute_major >= 10 ? "a" : "");
  }
  if (!arguments.no_cache) options.cache = emu::ObjectCache::default_folder();
  emu::finish_nvcc_options(given, emu::find_clang());
  for (const std::string& folder : arguments.include_folders) {
    options.passed.push_back(fmt::format("-I{}", folder));
  }
  for (const std::string& definition : arguments.definitions) {
    options.passed.push_back(fmt::format("-D{}", definition));
  }
  if (!arguments.standard.empty()) {
    // The parser reads the compiler's usual form, -std=c++20, as -s with the value td=c++20.
    const std::size_t start = arguments.standard.starts_with("td=") ? 3 : 0;
    options.passed.push_back(fmt::format("-std={}", arguments.standard.substr(start)));
  }
  if (!arguments.optimisation.empty()) {
    options.passed.push_back(fmt::format("-O{}", arguments.optimisation));
  }
  return options;
}

fs::path compile(const EmuArguments& arguments, const vgpu::DeviceDescription& gpu,
                 const fs::path& folder) {
  try {
    return emu::compile(compile_options(arguments, gpu), emu::find_installation(),
                        emu::find_clang(), folder);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
}

ExitCode run(EmuArguments arguments) {
  std::string& gpu = arguments.emulation.gpu;
  if (gpu.empty()) gpu = gpu_for(arguments.nvcc.compile.architecture);
  const EmulatedProgram emulated(arguments.emulation);
  if (arguments.compiler != "clang" && arguments.compiler != "nvcc") {
    throw UsageError(fmt::format("--code: '{}' is neither clang nor nvcc", arguments.compiler));
  }
  for (const std::string& source : arguments.sources) {
    if (!fs::is_regular_file(source)) {
      throw UsageError(fmt::format("FILE: '{}' is not a readable file", source));
    }
  }

  const TemporaryFolder folder("rung-emu-", arguments.keep);
  if (arguments.keep) fmt::print(stderr, "rung emu: building in {}\n", folder.path().string());
  fs::path program;
  try {
    program = compile(arguments, emulated.gpu(), folder.path());
  } catch (const emu::CompileError& error) {
    if (*error.what() != '\0') fmt::print(stderr, "rung emu: {}\n", error.what());
    if (arguments.sources.size() == 1 && is_kernel_file(arguments.sources.front())) {
      fmt::print(
          stderr,
          "rung emu: {} has no main(); rung check and rung explain call a function gemm, dot "
          "or sum\n",
          arguments.sources.front());
    }
    return exit_wrong;
  }
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), arguments.program_arguments.begin(),
                 arguments.program_arguments.end());
  return emulated.run(command, arguments.sources.front());
}

/// True for a word that CLI11 reads: a long option, or -h, -s, -I, -D and -O. All others are nvcc's.
bool is_own(const Options& app, const std::string& word) {
  return app.kind_of(word) != Options::Kind::unknown || word == "-h" || word == "-s" ||
         word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-std=") ||
         (word.starts_with("-O") && !word.starts_with("-Ofc"));
}

bool takes_next_word(const Options& app, const std::string& word) {
  const bool has_value = word.find('=') != word.npos;
  return (!has_value && app.kind_of(word) == Options::Kind::value) || word == "-I" ||
         word == "-D" || word == "-O" || word == "-s";
}

/// Takes the words that CLI11 cannot read: nvcc's options, and the program's own arguments, which follow
/// `--` or, if that comes first, the file after it.
std::vector<std::string> take_words(const std::vector<std::string>& words, const Options& app,
                                    EmuArguments& arguments) {
  std::vector<std::string> remaining;
  bool has_file = false;
  try {
    for (std::size_t at = 0; at < words.size();) {
      const std::string& word = words[at];
      if (word == "--") {
        if (!has_file && at + 1 < words.size()) {
          remaining.push_back(word);
          remaining.push_back(words[++at]);
        }
        arguments.program_arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                           words.end());
        break;
      }
      if (is_own(app, word)) {
        remaining.push_back(word);
        if (!takes_next_word(app, words[at++]) || at == words.size()) continue;
        // -I and -D join their value in one word, so that CLI11 does not read the files after it as values.
        const bool is_list = remaining.back() == "-I" || remaining.back() == "-D";
        if (remaining.back() == "--suppressions") {
          remaining.back() += "=" + words[at++];
        } else if (is_list && !words[at].empty()) {
          remaining.back() += words[at++];
        } else {
          remaining.push_back(words[at++]);
        }
      } else if (!word.starts_with('-') || !emu::take_nvcc_option(words, at, arguments.nvcc)) {
        has_file = has_file || !word.starts_with('-');
        remaining.push_back(words[at++]);
      }
    }
  } catch (const emu::NvccUsageError& error) {
    throw UsageError(error.what());
  }
  return remaining;
}

}  // namespace

Action add_emu(Options& app) {
  auto arguments = std::make_shared<EmuArguments>();
  app.prepare([arguments, &app](const auto& words) { return take_words(words, app, *arguments); });
  app.add_option("FILE", arguments->sources,
                 "A CUDA program with kernels and main(): .cu, .cpp and .c files, objects and "
                 "libraries; the program's own arguments follow after --")
      ->type_name("")
      ->required();
  app.add_option("-I", arguments->include_folders, "Look for headers in DIR")
      ->type_name("DIR")
      ->one_at_a_time();
  app.add_option("-D", arguments->definitions, "Define a macro")
      ->type_name("NAME[=VALUE]")
      ->one_at_a_time();
  app.add_option("-O", arguments->optimisation,
                 "Optimisation level, 0 to 3 (default: 3 for device code)")
      ->type_name("N");
  app.add_option("-s,--std", arguments->standard, "C++ standard: c++17 (default), c++20, ...")
      ->type_name("STD");
  app.add_alias("--compiler", "--code");
  app.add_option("--code", arguments->compiler,
                 "Compiler of device code: clang, or nvcc with CUDA's own headers")
      ->type_name("NAME")
      ->capture_default_str();
  add_emulation_options(app, arguments->emulation);
  app.add_flag("--no-cache", arguments->no_cache,
               "Compile everything again, also what has not changed");
  app.add_flag("--keep", arguments->keep,
               "Keep the compiled program and its PTX, and print their folder");
  app.footer(
      "Compiles the unmodified files with clang (passing on -I, -D, -O and -std), runs the "
      "program\n"
      "with the CUDA runtime API on the virtual GPU, and prints each kernel's counters and "
      "hazards\n"
      "on standard error. The exit code is the program's, or 1 if hazards were found. Leaks and\n"
      "writes of the same value are printed, but are no hazards; with --leak-check leaks are.\n"
      "Compiled objects are kept in the folder that RUNG_EMU_CACHE names. Options of\n"
      "nvcc such as -arch, -rdc=true, -Xcompiler, -L and -l are understood, too; rung-nvcc is a\n"
      "command that takes nothing else, for make NVCC=rung-nvcc. docs/environment.md lists the\n"
      "variables RUNG_EMU_* of its programs.\n\n"
      "Examples:\n  rung emu vector_add.cu\n  rung emu -I include matmul.cu --gpu a100 -- 512\n"
      "  rung emu -rdc=true main.cu kernels.cu timer.cpp -- --size 64");
  return [arguments] { return emu::with_signals_held([&] { return run(*arguments); }); };
}

}  // namespace rung
