#include "emu/compile/nvcc_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "emu/compile/ignored_options.hpp"
#include "emu/compile/option_words.hpp"
#include "emu/compile/process.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;
using Phase = NvccOptions::Phase;

// Each line: an option's names, and what it means here.
enum class Meaning {
  ignored,
  ignored_value,
  architecture,
  host_compiler,
  linker,
  relocatable_value,
  default_stream,
  language,
  output,
  output_folder,
  standard,
  include_folder,
  system_folder,
  definition,
  undefinition,
  library_folder,
  library,
  included_first,
  phase_compile,
  phase_compile_relocatable,
  phase_ptx,
  phase_preprocess,
  phase_dependencies,
  phase_device_link,
  phase_archive,
  dependencies,
  dependencies_value,
  optimisation,
  shared,
  debug,
  version,
  list_virtual,
  list_real,
  dry_run,
  verbose,
  openmp
};

struct Entry {
  std::string_view short_name, long_name;
  Meaning meaning;
};

constexpr std::array nvcc_entries = {
    Entry{"-arch", "--gpu-architecture", Meaning::architecture},
    Entry{"-gencode", "--generate-code", Meaning::architecture},
    Entry{"-Xcompiler", "--compiler-options", Meaning::host_compiler},
    Entry{"-Xlinker", "--linker-options", Meaning::linker},
    Entry{"-rdc", "--relocatable-device-code", Meaning::relocatable_value},
    Entry{"-default-stream", "--default-stream", Meaning::default_stream},
    Entry{"-x", "--x", Meaning::language},
    Entry{"-o", "--output-file", Meaning::output},
    Entry{"-odir", "--output-directory", Meaning::output_folder},
    Entry{"-std", "--std", Meaning::standard},
    Entry{"-I", "--include-path", Meaning::include_folder},
    Entry{"-isystem", "--system-include", Meaning::system_folder},
    Entry{"-D", "--define-macro", Meaning::definition},
    Entry{"-U", "--undefine-macro", Meaning::undefinition},
    Entry{"-L", "--library-path", Meaning::library_folder},
    Entry{"-l", "--library", Meaning::library},
    Entry{"-include", "--pre-include", Meaning::included_first},
    Entry{"-c", "--compile", Meaning::phase_compile},
    Entry{"-dc", "--device-c", Meaning::phase_compile_relocatable},
    Entry{"-dw", "--device-w", Meaning::phase_compile},
    Entry{"-ptx", "--ptx", Meaning::phase_ptx},
    Entry{"-cubin", "--cubin", Meaning::phase_ptx},
    Entry{"-fatbin", "--fatbin", Meaning::phase_ptx},
    Entry{"-E", "--preprocess", Meaning::phase_preprocess},
    Entry{"-M", "--generate-dependencies", Meaning::phase_dependencies},
    Entry{"-MM", "--generate-nonsystem-dependencies", Meaning::phase_dependencies},
    Entry{"-MD", "--generate-dependencies-with-compile", Meaning::dependencies},
    Entry{"-MMD", "--generate-nonsystem-dependencies-with-compile", Meaning::dependencies},
    Entry{"-MP", "--generate-dependency-targets", Meaning::dependencies},
    Entry{"-MF", "--dependency-output", Meaning::dependencies_value},
    Entry{"-MT", "--dependency-target-name", Meaning::dependencies_value},
    Entry{"-dlink", "--device-link", Meaning::phase_device_link},
    Entry{"-lib", "--lib", Meaning::phase_archive},
    Entry{"-shared", "--shared", Meaning::shared},
    Entry{"-g", "--debug", Meaning::debug},
    Entry{"-G", "--device-debug", Meaning::debug},
    Entry{"-V", "--version", Meaning::version},
    Entry{"-arch-ls", "--list-gpu-arch", Meaning::list_virtual},
    Entry{"-code-ls", "--list-gpu-code", Meaning::list_real},
    Entry{"-v", "--verbose", Meaning::verbose},
    Entry{"-dryrun", "--dryrun", Meaning::dry_run},
    Entry{"-fopenmp", "", Meaning::openmp},
    Entry{"-t", "--threads", Meaning::ignored_value},
    Entry{"-O", "--optimize", Meaning::optimisation},
};

bool has_value(Meaning meaning) {
  switch (meaning) {
    case Meaning::ignored_value:
    case Meaning::architecture:
    case Meaning::host_compiler:
    case Meaning::linker:
    case Meaning::relocatable_value:
    case Meaning::default_stream:
    case Meaning::language:
    case Meaning::output:
    case Meaning::output_folder:
    case Meaning::standard:
    case Meaning::include_folder:
    case Meaning::system_folder:
    case Meaning::definition:
    case Meaning::undefinition:
    case Meaning::library_folder:
    case Meaning::library:
    case Meaning::included_first:
    case Meaning::dependencies_value:
    case Meaning::optimisation: return true;
    default: return false;
  }
}

/// -Ifolder, -DNAME, -O3, -lm: the value follows without a blank.
bool may_be_joined(std::string_view name) {
  return name == "-I" || name == "-D" || name == "-U" || name == "-L" || name == "-l" ||
         name == "-O" || name == "-o" || name == "-t";
}

struct Match {
  const Entry* entry;
  std::optional<std::string> value;  // in the same word
};

std::optional<Match> match(const std::string& word) {
  for (const Entry& entry : nvcc_entries) {
    for (const std::string_view name : {entry.short_name, entry.long_name}) {
      if (name.empty() || !word.starts_with(name)) continue;
      if (word.size() == name.size()) return Match{&entry, std::nullopt};
      if (word[name.size()] == '=' && has_value(entry.meaning)) {
        return Match{&entry, word.substr(name.size() + 1)};
      }
    }
  }
  static constexpr Entry flag = {"", "", Meaning::ignored},
                         with_value = {"", "", Meaning::ignored_value};
  for (const std::string_view name : ignored_flags) {
    if (word == name) return Match{&flag, std::nullopt};
  }
  for (const std::string_view name : ignored_with_value) {
    if (word == name) return Match{&with_value, std::nullopt};
    if (word.starts_with(name) && word[name.size()] == '=') {
      return Match{&with_value, word.substr(name.size() + 1)};
    }
  }
  for (const Entry& entry : nvcc_entries) {
    if (may_be_joined(entry.short_name) && word.starts_with(entry.short_name)) {
      return Match{&entry, word.substr(entry.short_name.size())};
    }
  }
  return std::nullopt;
}

/// Each with this in front.
void add_list(const std::string& option, const std::string& values,
              std::vector<std::string>& arguments) {
  for (const std::string& value : split_list(values)) arguments.push_back(option + value);
}

// True for the targets of Blackwell with instructions of their own: sm_100a, sm_103f. Code for the others needs no
// such GPU.
bool is_blackwell(const std::string& digits, int found) {
  if (found != 100 && found != 103 && found != 120) return false;
  return digits.size() > 3 && (digits[3] == 'a' || digits[3] == 'f');
}

// Notes the newest architecture that the default device supports, from "-gencode
// arch=compute_80,code=[sm_80,sm_90]" or "-arch=sm_70"; one of Blackwell if there is no other.
void note_architecture(const std::string& value, CompileOptions& options) {
  constexpr int oldest = 50, newest = 90;
  const auto number = [](const std::string& text) {
    int found = 0;
    std::from_chars(text.data(), text.data() + text.size(), found);
    return found;
  };
  int best = options.architecture.empty() ? 0 : number(options.architecture.substr(3));
  std::string chosen = options.architecture;
  for (std::size_t at = 0; (at = value.find('_', at)) != std::string::npos;) {
    const std::string digits = value.substr(++at);
    const int found = number(digits);
    if (is_blackwell(digits, found) && (best == 0 || best > newest)) {
      best = found;
      chosen = fmt::format("sm_{}a", found);
    }
    if (found < oldest || found > newest || (found < best && best <= newest)) continue;
    best = found;
    chosen = fmt::format("sm_{}", found);
    if (found == newest) chosen = "sm_90a";
  }
  options.architecture = chosen;
}

void take_host_options(const std::string& value, NvccOptions& options) {
  for (std::string part : split(value, ", ")) {
    part.erase(std::remove(part.begin(), part.end(), '"'), part.end());
    part.erase(std::remove(part.begin(), part.end(), '\''), part.end());
    if (part == "-fopenmp" || part == "/openmp") {
      options.openmp = true;
    } else if (part.starts_with("-I") || part.starts_with("-D") || part.starts_with("-std=") ||
               part.starts_with("-fno-") || part == "-fsigned-char" || part == "-funsigned-char") {
      options.compile.passed.push_back(part);
    } else if (part.starts_with("-Wl")) {
      options.compile.linked.push_back(part);
    }
  }
}

// CUDA's own libraries are in the runtime library, or not there at all, which the linker says by the
// names of the missing functions.
bool is_cuda_library(const std::string& name) {
  constexpr std::array own = {"cudart",    "cuda",      "cublas",     "cublasLt",       "cublasXt",
                              "curand",    "cudadevrt", "nvrtc",      "culibos",        "cufft",
                              "cufftw",    "cusparse",  "cudnn",      "nvrtc-builtins", "cusolver",
                              "nvidia-ml", "nvJitLink", "nvToolsExt", "nvptxcompiler",  "nvjpeg"};
  const std::string shared = name.substr(0, name.find("_static"));
  return shared.starts_with("npp") || std::find(own.begin(), own.end(), shared) != own.end();
}

// A toolkit's library by its path, as $(CUDA_HOME)/lib64/libcudart_static.a, or that of a driver's
// library, which CMake's CUDA::cuda_driver has: $(CUDA_HOME)/lib64/stubs/libcuda.so.
bool is_cuda_library_file(const fs::path& input) {
  const std::string name = input.filename().string();
  const std::size_t suffix = std::min(name.find(".so"), name.find(".a"));
  std::error_code none;
  const fs::path folder = input.parent_path();
  const bool is_stub = folder.filename() == "stubs";
  const auto is_beside = [&](const char* other) {
    return fs::exists((is_stub ? folder.parent_path() : folder) / other, none);
  };
  return is_link_input(input) && name.starts_with("lib") && suffix != name.npos &&
         is_cuda_library(name.substr(3, suffix - 3)) &&
         (is_beside("libcudart.so") || is_beside("libcudart_static.a"));
}

// `word` is the option's short name.
void apply(Meaning meaning, const std::string& word, const std::string& value,
           NvccOptions& options) {
  CompileOptions& compile = options.compile;
  switch (meaning) {
    case Meaning::ignored:
    case Meaning::ignored_value: break;
    case Meaning::architecture: note_architecture(value, compile); break;
    case Meaning::host_compiler: take_host_options(value, options); break;
    case Meaning::linker:
      for (const std::string& part : split(value, ",")) {
        compile.linked.push_back("-Xlinker");
        compile.linked.push_back(part);
      }
      break;
    case Meaning::relocatable_value: compile.relocatable = value == "true"; break;
    case Meaning::default_stream:
      if (value == "per-thread") {
        compile.passed.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
      }
      break;
    case Meaning::language: compile.all_cuda = value == "cu"; break;
    case Meaning::output: options.output = value; break;
    case Meaning::output_folder: options.output_folder = value; break;
    case Meaning::standard: compile.passed.push_back("-std=" + value); break;
    case Meaning::include_folder: add_list("-I", value, compile.passed); break;
    case Meaning::system_folder: add_list("-isystem", value, compile.passed); break;
    case Meaning::definition: add_list("-D", value, compile.passed); break;
    case Meaning::undefinition: add_list("-U", value, compile.passed); break;
    case Meaning::library_folder: add_list("-L", value, compile.linked); break;
    case Meaning::library:
      for (const std::string& name : split_list(value)) {
        if (!is_cuda_library(name)) compile.linked.push_back("-l" + name);
      }
      break;
    case Meaning::included_first:
      for (const std::string& name : split_list(value)) {
        compile.passed.insert(compile.passed.end(), {"-include", name});
      }
      break;
    case Meaning::phase_compile: options.phase = Phase::compile; break;
    case Meaning::phase_compile_relocatable:
      options.phase = Phase::compile;
      compile.relocatable = true;
      break;
    case Meaning::phase_ptx:
      options.phase = Phase::ptx;
      options.device_suffix = "." + word.substr(1);
      break;
    case Meaning::phase_preprocess: options.phase = Phase::preprocess; break;
    case Meaning::phase_dependencies:
      options.phase = Phase::dependencies;
      options.dependencies.push_back(word);
      break;
    case Meaning::phase_device_link: options.phase = Phase::device_link; break;
    case Meaning::phase_archive: options.phase = Phase::archive; break;
    case Meaning::dependencies: options.dependencies.push_back(word); break;
    case Meaning::dependencies_value:
      options.dependencies.push_back(word);
      options.dependencies.push_back(value);
      break;
    case Meaning::optimisation: break;  // of host code; both halves are always optimised here
    case Meaning::shared: compile.linked.push_back("-shared"); break;
    case Meaning::debug: break;
    case Meaning::version: options.wants_version = true; break;
    case Meaning::list_virtual: options.listed_prefix = "compute_"; break;
    case Meaning::list_real: options.listed_prefix = "sm_"; break;
    case Meaning::dry_run: options.dry_run = true; break;
    case Meaning::verbose: options.verbose = true; break;
    case Meaning::openmp: options.openmp = true; break;
  }
}

bool has_openmp_runtime(const std::string& clang) {
  std::error_code none;
  const std::string path = clang.find('/') == std::string::npos ? find_program(clang) : clang;
  const fs::path real = fs::canonical(path, none);
  return !none && fs::exists(real.parent_path().parent_path() / "lib" / "libomp.so");
}

}  // namespace

bool take_nvcc_option(const std::vector<std::string>& words, std::size_t& at,
                      NvccOptions& options) {
  const auto found = match(words[at]);
  if (!found) return false;
  const Meaning meaning = found->entry->meaning;
  std::string value;
  if (has_value(meaning)) {
    if (found->value) {
      value = *found->value;
    } else if (at + 1 < words.size()) {
      value = words[++at];
    } else {
      throw NvccUsageError(words[at] + ": expected a value");
    }
  }
  apply(meaning, std::string(found->entry->short_name), value, options);
  ++at;
  return true;
}

NvccOptions parse_nvcc(const std::vector<std::string>& given) {
  const std::vector<std::string> words = with_option_files(given);
  NvccOptions options;
  for (std::size_t at = 0; at < words.size();) {
    if (!words[at].starts_with('-')) {
      const std::string& input = words[at++];
      if (!is_cuda_library_file(input)) options.compile.sources.emplace_back(input);
    } else if (!take_nvcc_option(words, at, options)) {
      // As nvcc with -forward-unknown-to-host-compiler.
      const std::string& word = words[at++];
      if (word.starts_with("-Wl,") || word == "-rdynamic") {
        options.compile.linked.push_back(word);
        continue;
      }
      if (word.starts_with("-W") || word.starts_with("-f") || word.starts_with("-m")) continue;
      throw NvccUsageError(fmt::format("{}: unknown option", word));
    }
  }
  return options;
}

void finish_nvcc_options(NvccOptions& options, const std::string& clang) {
  if (options.compile.architecture.empty()) options.compile.architecture = "sm_90a";
  if (!options.openmp) return;
  // Without a runtime the pragmas are ignored, and omp.h is our own: OpenMP with one thread. CMake asks
  // for the macro. Objects that GCC compiled want its runtime.
  if (!has_openmp_runtime(clang)) {
    options.compile.passed.push_back("-D_OPENMP=201511");
    for (const char* word : {"-Wl,--push-state,--as-needed", "-lgomp", "-Wl,--pop-state"}) {
      options.compile.linked.emplace_back(word);
    }
    return;
  }
  options.compile.passed.push_back("-fopenmp");
  options.compile.linked.push_back("-fopenmp");
}

}  // namespace rung::emu
