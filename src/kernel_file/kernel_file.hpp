#pragma once
// A kernel in a file of the user's: what it computes, compiled and loaded for a device of the CUDA
// backend, real or virtual.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "emu/include/rung_emu/kernel_call.h"
#include "kernel_file/signature.hpp"

namespace rung {

struct KernelFileRequest {
  std::string path;                  // FILE, or FILE:FUNCTION
  std::string as;                    // the op; empty: the function's name says it
  std::string dtype;                 // empty: the parameters say it; tf32 for kernels of float
  std::vector<std::string> options;  // for the compiler: "-Iinclude", "-DN=4"
  std::string compiler;              // of device code: "clang" or "nvcc"; empty: clang
};

/// Whether a word of the command line means a file of the user's: it ends in .cu or .metal, before a
/// colon.
bool names_kernel_file(const std::string& word);

/// A file that was read, not yet compiled.
struct KernelFile {
  std::filesystem::path path;
  std::string text;      // of a Metal file in the form of a rung: as a plain kernel
  std::string launcher;  // of a CUDA file in the form of a rung: the function that launches it
  Signature signature;
  std::vector<std::string> options;
  std::string compiler;

  /// "my_gemm.cu"
  std::string name() const { return path.filename().string(); }
  bool is_metal() const { return path.extension() == ".metal"; }
  /// Of rungs in the same language: "cuda" or "metal".
  const char* language() const { return is_metal() ? "metal" : "cuda"; }
};

/// Throws KernelFileError.
KernelFile read_kernel_file(const KernelFileRequest& request);

/// The options of the compiler for a file of the user's: its own, and where rungs' headers are.
std::vector<std::string> compiler_options(const KernelFile& file);
/// The -arch for a device of that compute capability times ten: "sm_90a".
std::string architecture_for(int arch);

/// The function, loaded into this process. Its kernels run on the device.
class LoadedKernel {
 public:
  /// `file` and `gpu` must outlive this. Throws emu::MissingTool, emu::CompileError and
  /// KernelFileError. The compiler prints its messages on standard error.
  LoadedKernel(const KernelFile& file, cuda::Gpu& gpu);
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel();

  const KernelFile& file() const { return file_; }
  cuda::Gpu& gpu() const { return gpu_; }
  /// "PTX by clang++-19"
  const std::string& code() const { return code_; }

  /// Calls the function; its launches are enqueued. `threads`: most of this machine, for the
  /// virtual GPU. Throws KernelError if a call of CUDA in it failed, or what the observer of the
  /// virtual GPU throws.
  void call(const rung_emu_kernel_call& call, int threads) const;
  /// Waits for all that it enqueued, in any stream. Throws KernelError.
  void wait() const;

 private:
  struct Functions;

  const KernelFile& file_;
  cuda::Gpu& gpu_;
  std::string code_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace rung
