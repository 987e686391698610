// rung python: runs a Python program whose CUDA kernels, of Numba, Triton or cuda-python, the virtual GPU runs.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "emulated_program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;
using Variables = std::vector<std::pair<std::string, std::string>>;

struct PythonArguments {
  std::vector<std::string> words;  // as Python has them: a script or -m or -c, and its arguments
  EmulationArguments emulation;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string find_python() {
  if (std::string chosen = variable("RUNG_PYTHON_PROGRAM"); !chosen.empty()) return chosen;
  for (const char* name : {"python3", "python"}) {
    if (std::string found = emu::find_program(name); !found.empty()) return found;
  }
  throw UnavailableError("python3 is not on the PATH; RUNG_PYTHON_PROGRAM may name one");
}

/// Lead the program to libcuda.so.1, Triton to the ptxas that passes PTX through, PyTorch's extensions to rung-nvcc, and
/// Python to sitecustomize.py.
Variables variables_of_python() {
  fs::path folder;
  try {
    folder = emu::find_installation().library.parent_path() / "cuda";
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
  if (!fs::exists(folder / "libcuda.so.1")) {
    throw UnavailableError(fmt::format("{} is missing", (folder / "libcuda.so.1").string()));
  }
  Variables variables;
  for (const char* name : {"LD_LIBRARY_PATH", "PYTHONPATH"}) {
    const std::string before = variable(name);
    variables.emplace_back(name, folder.string() + (before.empty() ? "" : ":" + before));
  }
  for (const char* name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) {
    variables.emplace_back(name, (folder / "ptxas").string());
  }
  variables.emplace_back("TRITON_LIBCUDA_PATH", folder.string());
  const fs::path nvcc = fs::read_symlink("/proc/self/exe").parent_path() / "rung-nvcc";
  if (fs::exists(nvcc)) variables.emplace_back("PYTORCH_NVCC", nvcc.string());
  return variables;
}

ExitCode run(const PythonArguments& arguments) {
  const EmulatedProgram emulated(arguments.emulation);
  std::vector<std::string> command = {find_python()};
  command.insert(command.end(), arguments.words.begin(), arguments.words.end());
  return emulated.run(command, arguments.words.front(), variables_of_python());
}

/// Takes Python's words: all from the first that is neither an option of this command nor its value. Returns the others.
std::vector<std::string> take_words(const std::vector<std::string>& words, const Options& app,
                                    PythonArguments& arguments) {
  std::size_t at = 0;
  while (at < words.size() && words[at] != "--" &&
         (words[at] == "-h" || app.kind_of(words[at]) != Options::Kind::unknown)) {
    const bool takes_next =
        app.kind_of(words[at]) == Options::Kind::value && words[at].find('=') == std::string::npos;
    at += takes_next ? 2 : 1;
  }
  at = std::min(at, words.size());
  std::vector<std::string> own(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  if (at < words.size() && words[at] == "--") ++at;
  arguments.words.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  const bool asks_for_help = std::ranges::any_of(
      own, [](const std::string& word) { return word == "-h" || word == "--help"; });
  if (arguments.words.empty() && !asks_for_help) {
    throw UsageError("SCRIPT: expected one, such as program.py; see --help");
  }
  return own;
}

}  // namespace

Action add_python(Options& app) {
  auto arguments = std::make_shared<PythonArguments>();
  app.prepare([arguments, &app](const auto& words) { return take_words(words, app, *arguments); });
  app.add_option(
         "SCRIPT", arguments->words,
         "A Python program, or -m MODULE or -c TEXT; what follows is for Python and the program")
      ->type_name("");
  add_emulation_options(app, arguments->emulation);
  app.footer(
      "Runs Python with a libcuda.so.1 that the virtual GPU answers, and prints each kernel's "
      "counters\n"
      "and hazards as rung emu does, with the lines of the Python source. The kernels may be "
      "those of\n"
      "Numba, Triton or cuda-python. Triton takes PyTorch's tensors of the CPU and of the device "
      "'cuda'.\n"
      "docs/python.md tells how it was measured.\n\n"
      "Examples:\n  rung python program.py --size 64\n  rung python --gpu a100 -m pytest tests");
  return [arguments] { return emu::with_signals_held([&] { return run(*arguments); }); };
}

}  // namespace rung
