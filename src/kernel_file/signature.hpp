#pragma once
// The function in a file of the user's that computes a gemm, a dot product or a sum
// (docs/your-kernel.md): which parameter is what. In a Metal file, it is a kernel.

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
  scalars,  // GemmScalars or DotScalars of a Metal kernel: all that is not in a buffer of its own
};
/// "lda"
std::string_view name(Role role);

struct KernelParameter {
  std::string type;  // "const float*"
  Role role;
};

/// How a gemm's function expects its matrices in memory.
struct MatrixLayout {
  bool column_major = false;  // all three; otherwise row-major
  bool a_transposed = false, b_transposed = false;

  /// The same seen from a row-major C: a column-major C = A B is a row-major C^T = B^T A^T.
  MatrixLayout row_major() const {
    if (!column_major) return *this;
    return {false, b_transposed, a_transposed};
  }
};
/// "nt", or "nt, column-major"
std::string name(const MatrixLayout& layout);

struct Signature {
  std::string function;  // "gemm"
  int line = 0;
  std::string op;  // "gemm", "dot", "sum"
  Dtype dtype = Dtype::f32;
  bool returns_error = false;  // a cudaError_t, instead of nothing
  std::vector<KernelParameter> parameters;
  MatrixLayout layout;

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

/// Whether it can be read and has no main(): then its function gemm, dot or sum is called.
bool is_kernel_file(const std::filesystem::path& path);

}  // namespace rung
