#include "kernel_file/kernel_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "analysis/toolkit.hpp"
#include "core/kernel_error.hpp"
#include "emu/given_driver.hpp"
#include "emu/options.hpp"
#include "emu/summary.hpp"
#include "emu/toolchain.hpp"
#include "kernel_file/adapter.hpp"
#include "shared_library/shared_library.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

/// The file and what follows its suffix: "my.cu" and "launch" of "my.cu:launch".
std::pair<std::string, std::string> split_path(const std::string& path) {
  constexpr std::string_view separator = ".cu:";
  const std::size_t at = path.rfind(separator);
  if (at == path.npos) return {path, ""};
  return {path.substr(0, at + 3), path.substr(at + separator.size())};
}

const char* message_of_driver() { return vgpu::virtual_driver_message().c_str(); }
const char* no_message() { return ""; }

}  // namespace

bool names_kernel_file(const std::string& word) { return split_path(word).first.ends_with(".cu"); }

KernelFile read_kernel_file(const KernelFileRequest& request) {
  const auto [path, function] = split_path(request.path);
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  if (!fs::is_regular_file(path, ignored) || !stream) {
    throw KernelFileError(fmt::format("FILE: '{}' is not a readable file", path));
  }
  KernelFile file;
  file.path = path;
  file.text = {std::istreambuf_iterator<char>(stream), {}};
  file.options = request.options;
  file.compiler = request.compiler;
  file.signature = read_signature({path, file.text, function, request.as});
  if (request.dtype.empty()) return file;
  const Dtype read = file.signature.dtype;
  const bool is_tf32 =
      request.dtype == name(Dtype::tf32) && read == Dtype::f32 && file.signature.op == "gemm";
  if (request.dtype != name(read) && !is_tf32) {
    throw KernelFileError(fmt::format("--dtype: '{}': {} is of {}{}", request.dtype, file.name(),
                                      name(read),
                                      read == Dtype::f32 ? ", or tf32 on tensor cores" : ""));
  }
  if (is_tf32) file.signature.dtype = Dtype::tf32;
  return file;
}

std::vector<std::string> compiler_options(const KernelFile& file) {
  std::vector<std::string> options = {"-Wno-macro-redefined"};
  if (file.compiler == "nvcc") options.clear();
  const bool has_standard = std::ranges::any_of(
      file.options, [](const std::string& option) { return option.starts_with("-std="); });
  if (!has_standard) options.emplace_back("-std=c++20");
  const fs::path emu = emu::find_installation().library.parent_path();
  options.push_back("-I" + (emu / "kernels").string());
  options.insert(options.end(), file.options.begin(), file.options.end());
  return options;
}

std::string architecture_for(int arch) {
  constexpr int hopper = 90;
  if (arch == hopper) return "sm_90a";
  return fmt::format("sm_{}", std::min(arch, hopper));
}

struct LoadedKernel::Functions {
  SharedLibrary runtime = SharedLibrary::at(emu::find_installation().library.string());
  analysis::ScratchFolder folder;
  emu::GivenDriver driver = {};
  std::optional<SharedLibrary> adapter;
  int (*call)(const rung_emu_kernel_call*) = nullptr;
  int (*last_error)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  emu::ForgetContext* forget = nullptr;

  fs::path records() const { return folder.path() / "records.jsonl"; }

  template <class Function>
  Function* find(const SharedLibrary& library, const char* symbol) const {
    if (auto* const found = library.find<Function>(symbol)) return found;
    throw KernelFileError(
        fmt::format("{} is not in the compiled file: {}", symbol,
                    library.why_not().empty() ? "not exported" : library.why_not()));
  }

  /// What the runtime library noted about the last error.
  std::string noted() const {
    const emu::Records all = emu::read_records(records());
    if (!all.failures.empty()) return all.failures.back();
    return all.errors.empty() ? "" : all.errors.back();
  }
};

LoadedKernel::LoadedKernel(const KernelFile& file, cuda::Gpu& gpu)
    : file_(file), gpu_(gpu), functions_(std::make_unique<Functions>()) {
  Functions& functions = *functions_;
  // Where the runtime library writes what would otherwise appear when this program ends.
  setenv(emu::report_variable, functions.records().c_str(), 1);
  functions.driver = {&gpu.api(), gpu.is_virtual() ? message_of_driver : no_message};
  functions.find<emu::UseDriver>(functions.runtime, emu::use_driver_name)(&functions.driver);
  functions.forget =
      functions.find<emu::ForgetContext>(functions.runtime, emu::forget_context_name);
  functions.last_error = functions.find<int()>(functions.runtime, "cudaGetLastError");
  functions.error_string = functions.find<const char*(int)>(functions.runtime, "cudaGetErrorName");

  const fs::path source = functions.folder.path() / "adapter.cu";
  std::ofstream(source) << adapter_text(file.path, file.signature);
  emu::CompileOptions options;
  options.sources = {source};
  options.passed = compiler_options(file);
  options.linked = {"-shared"};
  options.architecture = architecture_for(gpu.target().arch);
  if (file.compiler == "nvcc") options.nvcc = emu::find_nvcc();
  const std::string clang = emu::find_clang();
  const fs::path compiled =
      emu::compile(options, emu::find_installation(), clang, functions.folder.path());
  code_ = fmt::format("PTX for {} by {}", options.architecture,
                      fs::path(options.nvcc.empty() ? clang : options.nvcc).filename().string());
  gpu.make_current();
  functions.adapter = SharedLibrary::at(compiled.string());
  functions.call =
      functions.find<int(const rung_emu_kernel_call*)>(*functions.adapter, adapter_entry);
}

LoadedKernel::~LoadedKernel() = default;

void LoadedKernel::call(const rung_emu_kernel_call& call, int threads) const {
  int error = 0;
  try {
    gpu_.observe(
        [&] {
          error = functions_->call(&call);
          const int last = functions_->last_error();
          if (error == 0) error = last;
        },
        threads);
  } catch (...) {
    functions_->forget();
    throw;
  }
  if (error == 0) return;
  const std::string noted = functions_->noted();
  throw KernelError(noted.empty() ? fmt::format("{}: {}", file_.signature.function,
                                                functions_->error_string(error))
                                  : noted);
}

void LoadedKernel::wait() const {
  gpu_.make_current();
  const cuda::Result result = gpu_.api().cuCtxSynchronize();
  if (result == cuda::Result::success) return;
  functions_->forget();
  gpu_.fail(file_.signature.function, result);
}

}  // namespace rung
