#pragma once
// The function in a user's file that computes a GEMM, a dot product or a sum, and the roles of its
// parameters (docs/your-kernel.md). In a Metal file, it is a kernel.

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_types.hpp"

namespace rung {

/// A file that cannot be used. The message is one line: the problem, the value, and what is
/// allowed.
struct KernelFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The role of a parameter, determined by its name (ignoring case).
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
  scalars,  // GemmScalars or DotScalars of a Metal kernel: all arguments without their own buffer
};
/// "lda"
std::string_view name(Role role);

struct KernelParameter {
  std::string type;  // "const float*"
  Role role;
};

/// The layout in memory that a GEMM function expects.
struct MatrixLayout {
  bool column_major = false;  // of all three matrices; otherwise row-major
  bool a_transposed = false, b_transposed = false;

  /// The layout for a row-major C: a column-major C = A B is a row-major C^T = B^T A^T.
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
  bool returns_error = false;  // a cudaError_t; otherwise void
  std::vector<KernelParameter> parameters;
  MatrixLayout layout;

  bool has(Role role) const;
};

struct SignatureRequest {
  std::filesystem::path file;  // for messages
  std::string_view text;
  std::string function;  // if empty, the function named after its operation
  std::string as;        // the operation; if empty, from the function's name
};

/// Throws KernelFileError if no function matches, or its parameters are not usable.
Signature read_signature(const SignatureRequest& request);

/// True if the text is a complete program: it defines main().
bool has_main(std::string_view text);

/// True if the file can be read and has no main(). In that case, Rung calls its function gemm, dot
/// or sum.
bool is_kernel_file(const std::filesystem::path& path);

}  // namespace rung
