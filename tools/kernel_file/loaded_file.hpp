#pragma once
// A user's file loaded for the device of a backend, ready to be verified, traced and timed.

#include <memory>

#include "tools/kernel_file/kernel_file.hpp"
#include "tools/measure/contender.hpp"

namespace rung {

class LoadedFile : public Contender {
 public:
  /// "PTX for sm_90a by clang++-19"
  virtual const std::string& code() const = 0;
};

/// Compiles the file. Both arguments must outlive the result. Throws emu::MissingTool,
/// emu::CompileError or KernelFileError; compiler messages go to standard error.
std::shared_ptr<const LoadedFile> load_file(const KernelFile& file, const Backend& backend);

/// The arguments passed to a GEMM function, whose matrices may be column-major.
struct GemmArguments {
  bool swapped;       // A of the call is B of the function, and vice versa
  bool fit;           // A and B have the layout that the function expects
  std::int64_t m, n;  // as passed to the function
  std::int64_t lda, ldb, ldc;
};
GemmArguments arguments_of(const Signature& signature, const GemmCall& call);

/// The reason why the function cannot compute this problem; empty if it can.
std::string why_not(const Signature& signature, const GemmCall& call);
std::string why_not(const Signature& signature, const DotCall& call);

}  // namespace rung
