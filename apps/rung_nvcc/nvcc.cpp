// rung-nvcc: takes nvcc's options and makes programs that run on the virtual GPU by themselves, so
// that `make NVCC=rung-nvcc` and CMake's CMAKE_CUDA_COMPILER work on an unchanged project. The
// variables RUNG_EMU_* (emu/runtime/options.hpp) choose the GPU and the checks of such a program.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/rung_nvcc/nvcc.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/link/device_code.hpp"
#include "emu/compile/nvcc_options.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/run_driver.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;
using Phase = NvccOptions::Phase;

// Prints nvcc's format, because build systems parse the release from it.
void print_version() {
  fmt::print(
      "nvcc: NVIDIA (R) Cuda compiler driver\n"
      "rung-nvcc: the same options, for the virtual GPU; not NVIDIA's compiler\n"
      "Cuda compilation tools, release 12.4, V12.4.0\n");
}

void print_architectures(const std::string& prefix) {
  for (const int number : {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90}) {
    fmt::print("{}{}\n", prefix, number);
  }
}

/// The path of rung-nvcc. In a Python package it is a script, and this program is `rung`.
fs::path own_path() { return fs::read_symlink("/proc/self/exe").parent_path() / "rung-nvcc"; }

// Prints the lines from which CMake reads the toolkit's location, the default architecture and the
// link command, in nvcc's format. The linker is this command, which knows the runtime library.
void print_toolkit(const Installation& installation) {
  const std::string top = installation.include.parent_path().string();
  const std::string folder = installation.library.parent_path().string();
  // C++ sources, which the host's compiler reads, include CUDA's C++ libraries, too.
  const std::string cccl =
      installation.cccl.empty() ? "" : fmt::format(" \"-I{}\"", installation.cccl.string());
  fmt::print(stderr,
             "#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ INCLUDES=\"-I{1}\"{4}\n"
             "#$ LIBRARIES=  \"-L{2}\"\n#$ rung-nvcc -arch compute_90\n#$ {3} -o a.out a.o   "
             "\"-L{2}\" -lcudadevrt -lcudart_static\n",
             top, installation.include.string(), folder, own_path().string(), cccl);
}

struct Tools {
  Installation installation;
  std::string clang;
};

/// The file that -o names, or `name` in the folder of -odir if there is no -o.
fs::path output_of(const NvccOptions& options, const fs::path& name) {
  return options.output.empty() ? options.output_folder / name : options.output;
}

fs::path output_of(const NvccOptions& options, const fs::path& source, const std::string& suffix) {
  return output_of(options, source.filename().replace_extension(suffix));
}

void compile_each(const NvccOptions& options, const Tools& tools, const fs::path& folder) {
  for (const fs::path& source : options.compile.sources) {
    if (is_link_input(source)) continue;
    CompileOptions one = options.compile;
    compile_object(one, source, output_of(options, source, ".o"), tools.installation, tools.clang,
                   folder, options.dependencies);
  }
}

/// Compiles the sources and returns their objects together with the inputs that are objects.
std::vector<fs::path> all_objects(const NvccOptions& options, const Tools& tools,
                                  const fs::path& folder) {
  std::vector<fs::path> objects;
  for (const fs::path& source : options.compile.sources) {
    if (is_link_input(source)) {
      objects.push_back(source);
      continue;
    }
    objects.push_back(folder / fmt::format("{}.{}.o", objects.size(), source.stem().string()));
    compile_object(options.compile, source, objects.back(), tools.installation, tools.clang, folder,
                   {});
  }
  return objects;
}

void link(const NvccOptions& options, const Tools& tools, const fs::path& folder) {
  link_program(options.compile, all_objects(options, tools, folder), output_of(options, "a.out"),
               tools.installation, tools.clang, folder);
}

// Writes the object that registers the device code of all others. The host's linker does the rest.
void link_device(const NvccOptions& options, const Tools& tools, const fs::path& folder) {
  const fs::path output = output_of(options, "a_dlink.o");
  const auto bitcodes = extract_bitcode(
      with_static_libraries(options.compile.sources, options.compile.linked), folder);
  link_device_code(bitcodes, options.compile.architecture, output, tools.clang, folder);
}

void archive(const NvccOptions& options, const Tools& tools, const fs::path& folder) {
  std::vector<std::string> command = {"ar", "rcs", output_of(options, "a.a").string()};
  for (const fs::path& object : all_objects(options, tools, folder)) {
    command.push_back(object.string());
  }
  run_compiler(command);
}

void preprocess(const NvccOptions& options, const Tools& tools) {
  for (const fs::path& source : options.compile.sources) {
    std::vector<std::string> command =
        compiler_arguments(options.compile, source, tools.installation, tools.clang);
    command.push_back("--cuda-host-only");
    if (options.phase == Phase::preprocess) command.push_back("-E");
    command.insert(command.end(), options.dependencies.begin(), options.dependencies.end());
    if (!options.output.empty()) {
      command.push_back("-o");
      command.push_back(options.output.string());
    }
    command.push_back(source.string());
    run_compiler(command);
  }
}

void write_ptx(const NvccOptions& options, const Tools& tools) {
  for (const fs::path& source : options.compile.sources) {
    const fs::path output = output_of(options, source, options.device_suffix);
    compile_device(options.compile, source, output, tools.installation, tools.clang);
  }
}

void link_entries(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    fs::create_symlink(entry.path(), to / entry.path().filename());
  }
}

// Creates a substitute for a CUDA toolkit's folder (CUDA_HOME, -L/usr/local/cuda/lib64) from links
// to this installation.
void make_toolkit_folder(const fs::path& folder) {
  const Installation installation = find_installation();
  link_entries(installation.include, folder / "include");
  if (!installation.cccl.empty()) fs::create_symlink(installation.cccl, folder / "include/cccl");
  link_entries(installation.library.parent_path(), folder / "lib64");
  fs::create_symlink(".", folder / "lib64/stubs");
  fs::create_directories(folder / "bin");
  fs::create_symlink(own_path(), folder / "bin/nvcc");
}

int compile_and_link(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "--make-toolkit-folder") {
    make_toolkit_folder(words[1]);
    return 0;
  }
  NvccOptions options = parse_nvcc(words);
  if (options.wants_version) {
    print_version();
    return 0;
  }
  if (!options.listed_prefix.empty()) {
    print_architectures(options.listed_prefix);
    return 0;
  }
  const Tools tools{find_installation(), find_clang()};
  if (options.dry_run || options.verbose) print_toolkit(tools.installation);
  if (options.dry_run) return 0;
  finish_nvcc_options(options, tools.clang);
  // CMake parses the linker's command to link targets that have several languages.
  if (options.verbose) options.compile.linked.push_back("-v");
  if (options.compile.sources.empty()) throw NvccUsageError("no input files");
  const TemporaryFolder folder("rung-nvcc-");
  switch (options.phase) {
    case Phase::link: link(options, tools, folder.path()); break;
    case Phase::compile: compile_each(options, tools, folder.path()); break;
    case Phase::ptx: write_ptx(options, tools); break;
    case Phase::preprocess:
    case Phase::dependencies: preprocess(options, tools); break;
    case Phase::device_link: link_device(options, tools, folder.path()); break;
    case Phase::archive: archive(options, tools, folder.path()); break;
  }
  return 0;
}

}  // namespace

int run_nvcc(int argc, char** argv) {
  return run_driver("rung-nvcc", [&] { return compile_and_link({argv + 1, argv + argc}); });
}

}  // namespace rung::emu
