#include "tools/kernel_file/loaded_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "core/dtype.hpp"
#include "tools/kernel_file/cuda_file.hpp"
#include "tools/kernel_file/metal_file.hpp"

namespace rung {
namespace {

std::string no_op(const Signature& signature, const char* op) {
  return fmt::format("computes a {}, not a {}", signature.op, op);
}

std::string no_dtype_of(const Signature& signature, Dtype dtype) {
  return fmt::format("is of {}, not {}", name(signature.dtype), name(dtype));
}

/// True if the rows of the matrix, or its columns if transposed, are contiguous in memory.
template <class Matrix>
bool is_stored(const Matrix& matrix, bool transposed) {
  return (transposed ? matrix.row_stride : matrix.col_stride) == 1;
}
template <class Matrix>
std::int64_t leading_dimension(const Matrix& matrix, bool transposed) {
  return transposed ? matrix.col_stride : matrix.row_stride;
}

}  // namespace

std::shared_ptr<const LoadedFile> load_file(const KernelFile& file, const Backend& backend) {
  if (!file.is_metal()) {
    return std::make_shared<CudaFile>(std::make_shared<const LoadedKernel>(file, *gpu_of(backend)));
  }
  metal::VirtualDevice* const device = metal_virtual_device_of(backend);
  if (device == nullptr) {
    throw KernelFileError(
        fmt::format("{}: a Metal file of yours runs on the virtual GPU alone", file.name()));
  }
  return std::make_shared<MetalFile>(std::make_shared<const MetalKernel>(file, *device));
}

GemmArguments arguments_of(const Signature& signature, const GemmCall& call) {
  const bool swapped = signature.layout.column_major;
  // A column-major C = A B is a row-major C^T = B^T A^T: A of the function is B of the call.
  const auto& a = swapped ? call.b : call.a;
  const auto& b = swapped ? call.a : call.b;
  const MatrixLayout& layout = signature.layout;
  return {swapped,
          is_stored(a, layout.a_transposed) && is_stored(b, layout.b_transposed),
          swapped ? call.n : call.m,
          swapped ? call.m : call.n,
          leading_dimension(a, layout.a_transposed),
          leading_dimension(b, layout.b_transposed),
          call.c.row_stride};
}

std::string why_not(const Signature& signature, const GemmCall& call) {
  using enum Role;
  if (signature.op != "gemm") return no_op(signature, "gemm");
  if (signature.dtype != call.dtype) return no_dtype_of(signature, call.dtype);
  if (call.batch != 1) return "computes one product, not a batch";
  const GemmArguments passed = arguments_of(signature, call);
  const bool takes_strides = signature.has(scalars);
  if (!passed.fit && !takes_strides) {
    return fmt::format("takes matrices of layout {} alone", name(signature.layout));
  }
  const auto is_dense = [&](Role role, std::int64_t ld, std::int64_t length) {
    return signature.has(role) || ld == length;
  };
  const MatrixLayout& layout = signature.layout;
  // A line is a row of a row-major matrix or a column of a column-major one.
  const std::int64_t rows = passed.m, columns = passed.n;
  const std::int64_t a_line = layout.a_transposed != layout.column_major ? rows : call.k;
  const std::int64_t b_line = layout.b_transposed != layout.column_major ? call.k : columns;
  if (!takes_strides && (!is_dense(lda, passed.lda, a_line) || !is_dense(ldb, passed.ldb, b_line) ||
                         !is_dense(ldc, passed.ldc, layout.column_major ? rows : columns))) {
    return "takes no leading dimension: rows are contiguous";
  }
  if (!signature.has(alpha) && call.alpha != 1) return "takes no alpha";
  if (!signature.has(beta) && call.beta != 0) return "takes no beta";
  return "";
}

std::string why_not(const Signature& signature, const DotCall& call) {
  using enum Role;
  const char* const op = call.y == nullptr ? "sum" : "dot";
  if (signature.op != op) return no_op(signature, op);
  if (signature.dtype != call.dtype) return no_dtype_of(signature, call.dtype);
  const bool has_increments = (signature.has(incx) || call.incx == 1) &&
                              (call.y == nullptr || signature.has(incy) || call.incy == 1);
  return has_increments ? "" : "takes no increments: elements are contiguous";
}

}  // namespace rung
