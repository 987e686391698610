#pragma once
// A file of the user's on the device of a backend: what is checked, traced and timed.

#include <memory>

#include "kernel_file/kernel_file.hpp"
#include "measure/contender.hpp"

namespace rung {

class LoadedFile : public Contender {
 public:
  /// "PTX for sm_90a by clang++-19"
  virtual const std::string& code() const = 0;
};

/// Compiles the file. Both must outlive the result. Throws emu::MissingTool, emu::CompileError and
/// KernelFileError; the compiler prints its messages on standard error.
std::shared_ptr<const LoadedFile> load_file(const KernelFile& file, const Backend& backend);

/// What a function of a gemm is passed, whose matrices may be column-major.
struct GemmArguments {
  bool swapped;       // A of the call is the function's B, and B its A
  bool fit;           // A and B have the layout that the function expects
  std::int64_t m, n;  // of the function
  std::int64_t lda, ldb, ldc;
};
GemmArguments arguments_of(const Signature& signature, const GemmCall& call);

/// Why the function cannot compute this; empty if it can.
std::string why_not(const Signature& signature, const GemmCall& call);
std::string why_not(const Signature& signature, const DotCall& call);

}  // namespace rung
