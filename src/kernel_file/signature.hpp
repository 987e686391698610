#pragma once
// The function in a file of the user's that computes a gemm, a dot product or a sum
// (docs/your-kernel.md): which parameter is what.

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace rung {

/// A file that cannot be used, in one line: what, the value, what is allowed.
struct KernelFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a parameter is, by its name in upper or lower case.
enum class Role : std::uint8_t {
  m,
  n,
  k,
  alpha,
  a,
  lda,
  b,
  ldb,
  beta,
  c,
  ldc,
  x,
  incx,
  y,
  incy,
  result,
  stream,
};
/// "lda"
std::string_view name(Role role);

struct KernelParameter {
  std::string type;  // "const float*"
  Role role;
};

struct Signature {
  std::string function;  // "gemm"
  int line = 0;
  std::string op;  // "gemm", "dot", "sum"
  Dtype dtype = Dtype::f32;
  bool returns_error = false;  // a cudaError_t, instead of nothing
  std::vector<KernelParameter> parameters;

  bool has(Role role) const;
};

struct SignatureRequest {
  std::filesystem::path file;  // for messages
  std::string_view text;
  std::string function;  // empty: named after its op
  std::string as;        // the op; empty: the function's name says it
};

/// Throws KernelFileError.
Signature read_signature(const SignatureRequest& request);

/// Whether the text is a whole program: it defines main().
bool has_main(std::string_view text);

}  // namespace rung
