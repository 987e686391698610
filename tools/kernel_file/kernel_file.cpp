#include "tools/kernel_file/kernel_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/dtype.hpp"
#include "core/kernel_error.hpp"
#include "core/shared_library/shared_library.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/summary.hpp"
#include "emu/runtime/given_driver.hpp"
#include "emu/runtime/options.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/kernel_file/adapter.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/kernel_file/rung_form.hpp"
#include "tools/kernel_file/starter.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

/// Converts a file written like a rung to a function or kernel that Rung can call.
void read_as_rung(KernelFile& file, const RungForm& form, const KernelFileRequest& request) {
  if (form.is_metal() != file.is_metal()) {
    throw KernelFileError(
        fmt::format("{}: {} is of a file in another language", file.name(), form.macro));
  }
  // Additional kernel parameters are tensor maps, splits of k or batches.
  const bool takes_more = file.text.find("kernel(const Gemm<In, Out>& g,") != std::string::npos;
  if (takes_more) {
    throw KernelFileError(fmt::format(
        "{}: a rung whose kernel takes more than its operands; write a function gemm that launches "
        "it",
        file.name()));
  }
  if (const std::string reason = why_not(form); !reason.empty()) {
    throw KernelFileError(fmt::format("{}: a rung that {}, and so more than a plain function takes",
                                      file.name(), reason));
  }
  const std::vector<Dtype> dtypes = dtypes_of(form);
  if (dtypes.empty())
    throw KernelFileError(fmt::format("{}: {} names no type", file.name(), form.macro));
  const auto wanted = parse_dtype(request.dtype);
  const bool has = wanted && std::ranges::find(dtypes, *wanted) != dtypes.end();
  const Dtype dtype = has ? *wanted : dtypes.front();
  const std::string op = !request.as.empty() ? request.as : form.is_gemm() ? "gemm" : "dot";
  if (file.is_metal()) {
    file.text = plain_metal(file.text, form, op, dtype);
    file.signature = read_signature({file.path, file.text, "", op});
  } else {
    file.launcher = launcher_text(op, form.class_name(), dtype, op + "_kernel");
    file.signature = read_signature({file.path, file.launcher, "", op});
  }
}

const char* message_of_driver() { return vgpu::virtual_driver_message().c_str(); }
const char* no_message() { return ""; }

}  // namespace

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
  if (const auto form = read_rung_form(file.text)) {
    read_as_rung(file, *form, request);
  } else {
    file.signature = read_signature({path, file.text, function, request.as});
  }
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
  // From Hopper on, tensor cores need the architecture's own target.
  return fmt::format("sm_{}{}", arch, arch >= hopper ? "a" : "");
}

struct LoadedKernel::Functions {
  SharedLibrary runtime = SharedLibrary::at(emu::find_installation().library.string());
  TemporaryFolder folder;
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

  /// The last error recorded by the runtime library.
  std::string noted() const {
    const emu::Records all = emu::read_records(records());
    if (!all.failures.empty()) return all.failures.back();
    return all.errors.empty() ? "" : all.errors.back();
  }
};

LoadedKernel::LoadedKernel(const KernelFile& file, cuda::Gpu& gpu)
    : file_(file), gpu_(gpu), functions_(std::make_unique<Functions>()) {
  Functions& functions = *functions_;
  // A file for the runtime library's report, which is otherwise printed when this program exits.
  setenv(emu::report_variable, functions.records().c_str(), 1);
  functions.driver = {&gpu.api(), gpu.is_virtual() ? message_of_driver : no_message};
  functions.find<emu::UseDriver>(functions.runtime, emu::use_driver_name)(&functions.driver);
  functions.forget =
      functions.find<emu::ForgetContext>(functions.runtime, emu::forget_context_name);
  functions.last_error = functions.find<int()>(functions.runtime, "cudaGetLastError");
  functions.error_string = functions.find<const char*(int)>(functions.runtime, "cudaGetErrorName");

  const fs::path source = functions.folder.path() / "adapter.cu";
  std::ofstream(source) << adapter_text(file);
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
  const pid_t own = getpid();
  try {
    gpu_.observe(
        [&] {
          error = functions_->call(&call);
          if (getpid() != own) _exit(0);  // the function has forked
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
