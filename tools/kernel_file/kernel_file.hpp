#pragma once
// A kernel in a user's file: its operation, compiled and loaded for a real or virtual device of the
// CUDA backend.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "emu/include/rung_emu/kernel_call.h"
#include "tools/kernel_file/signature.hpp"

namespace rung {

struct KernelFileRequest {
  std::string path;                  // FILE or FILE:FUNCTION
  std::string as;                    // the operation; if empty, from the function's name
  std::string dtype;                 // if empty, from the parameters; tf32 for float kernels
  std::vector<std::string> options;  // compiler options: "-Iinclude", "-DN=4"
  std::string compiler;              // for device code: "clang" or "nvcc"; clang if empty
};

/// A source file that has been read, but not compiled.
struct KernelFile {
  std::filesystem::path path;
  std::string text;      // for a Metal file written like a rung: as a plain kernel
  std::string launcher;  // for a CUDA file written like a rung: the launch function
  Signature signature;
  std::vector<std::string> options;
  std::string compiler;

  /// "my_gemm.cu"
  std::string name() const { return path.filename().string(); }
  bool is_metal() const { return path.extension() == ".metal"; }
  /// The backend of rungs in the same language: "cuda" or "metal".
  const char* language() const { return is_metal() ? "metal" : "cuda"; }
};

/// Throws KernelFileError if the file cannot be read, or has no usable function or kernel.
KernelFile read_kernel_file(const KernelFileRequest& request);

/// Compiler options for a user's file: its own, and the include directories of the rungs' headers.
std::vector<std::string> compiler_options(const KernelFile& file);
/// The value of -arch for a device with this compute capability, times ten: "sm_90a".
std::string architecture_for(int arch);

/// A function loaded into this process. Its kernels run on the device.
class LoadedKernel {
 public:
  /// `file` and `gpu` must outlive the object. Throws emu::MissingTool, emu::CompileError or
  /// KernelFileError. Compiler messages go to standard error.
  LoadedKernel(const KernelFile& file, cuda::Gpu& gpu);
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel();

  const KernelFile& file() const { return file_; }
  cuda::Gpu& gpu() const { return gpu_; }
  /// "PTX by clang++-19"
  const std::string& code() const { return code_; }

  /// Calls the function. Its launches are asynchronous. `threads`: the maximum number of host
  /// threads for the virtual GPU. Throws KernelError if a CUDA call in the function fails;
  /// exceptions of the virtual GPU's observer propagate.
  void call(const rung_emu_kernel_call& call, int threads) const;
  /// Waits for all enqueued work in all streams. Throws KernelError on failure.
  void wait() const;

 private:
  struct Functions;

  const KernelFile& file_;
  cuda::Gpu& gpu_;
  std::string code_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace rung
