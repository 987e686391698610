// cuBLAS and cuBLASLt for the virtual GPU, whose addresses are addresses of this process. Like the
// real libraries, they are column-major, and as strict about workspaces and leading dimensions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "rung/types.hpp"

using rung::bfloat16;
using rung::float16;
using rung::float8_e4m3;

namespace {

constexpr int success = 0, invalid_value = 7, not_supported = 15;
constexpr int type_f32 = 0, type_f64 = 1, type_f16 = 2, type_s8 = 3, type_s32 = 10, type_bf16 = 14,
              type_e4m3 = 28;
constexpr int compute_f32 = 68, compute_f64 = 70, compute_s32 = 72, compute_tf32 = 77;

int status_of_products = success;
int math_mode = 0;
int pointer_mode = 0;
std::array<int, 3> algorithm_runs = {};

struct Handle {
  void* stream = nullptr;
  void* workspace = nullptr;
};
/// Owned by the library, since handles of a lost context are never destroyed.
std::vector<std::unique_ptr<Handle>> handles;

template <class T>
double number(T value) {
  if constexpr (std::is_class_v<T>) return static_cast<double>(static_cast<float>(value));
  if constexpr (!std::is_class_v<T>) return static_cast<double>(value);
}

template <class T>
T rounded(double value) {
  if constexpr (std::is_class_v<T>) return T(static_cast<float>(value));
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::int64_t>(value));
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
}

template <class T>
struct Factor {
  int transposed;
  const T* data;
  std::int64_t ld;

  double at(std::int64_t row, std::int64_t col) const {
    return number(transposed != 0 ? data[col + row * ld] : data[row + col * ld]);
  }
  bool fits(std::int64_t rows, std::int64_t cols) const {
    return ld >= std::max<std::int64_t>(1, transposed != 0 ? cols : rows);
  }
};

template <class In, class Out>
int multiply(std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, Factor<In> a,
             Factor<In> b, const void* beta, void* c, std::int64_t ldc) {
  if (status_of_products != success) return status_of_products;
  if (!a.fits(m, k) || !b.fits(k, n) || ldc < std::max<std::int64_t>(1, m)) return invalid_value;
  using Scale = std::conditional_t<std::is_class_v<Out>, float, Out>;
  const double scale = number(*static_cast<const Scale*>(alpha));
  const double keep = number(*static_cast<const Scale*>(beta));
  for (std::int64_t col = 0; col < n; ++col) {
    for (std::int64_t row = 0; row < m; ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += a.at(row, i) * b.at(i, col);
      Out& out = static_cast<Out*>(c)[row + col * ldc];
      out = rounded<Out>(scale * sum + (keep == 0 ? 0.0 : keep * number(out)));
    }
  }
  return success;
}

template <class In>
Factor<In> factor(int transposed, const void* data, std::int64_t ld) {
  return {transposed, static_cast<const In*>(data), ld};
}

int multiply_any(int in, int out, int trans_a, int trans_b, std::int64_t m, std::int64_t n,
                 std::int64_t k, const void* alpha, const void* a, std::int64_t lda, const void* b,
                 std::int64_t ldb, const void* beta, void* c, std::int64_t ldc) {
  const auto run = [&]<class In, class Out>(In, Out) {
    return multiply<In, Out>(m, n, k, alpha, factor<In>(trans_a, a, lda),
                             factor<In>(trans_b, b, ldb), beta, c, ldc);
  };
  if (in == type_f64 && out == type_f64) return run(double{}, double{});
  if (in == type_s8 && out == type_s32) return run(std::int8_t{}, std::int32_t{});
  if (in == type_f16 && out == type_f16) return run(float16{}, float16{});
  if (in == type_bf16 && out == type_bf16) return run(bfloat16{}, bfloat16{});
  if (out != type_f32) return not_supported;
  if (in == type_f32) return run(float{}, float{});
  if (in == type_f16) return run(float16{}, float{});
  if (in == type_bf16) return run(bfloat16{}, float{});
  if (in == type_e4m3) return run(float8_e4m3{}, float{});
  return not_supported;
}

bool sums_fit(int in, int compute) {
  if (in == type_f64) return compute == compute_f64;
  if (in == type_s8) return compute == compute_s32;
  return compute == compute_f32 || (in == type_f32 && compute == compute_tf32);
}
int type_of_sums(int in) {
  if (in == type_f64) return type_f64;
  return in == type_s8 ? type_s32 : type_f32;
}

/// Requires a stream and a result in device memory.
template <class T>
int dot(const Handle* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
  if (status_of_products != success) return status_of_products;
  if (handle->stream == nullptr || pointer_mode != 1) return invalid_value;
  const auto at = [n](const T* v, int inc, int i) {
    return static_cast<double>(v[std::int64_t{inc} * (inc < 0 ? i + 1 - n : i)]);
  };
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += at(x, incx, i) * at(y, incy, i);
  *result = static_cast<T>(sum);
  return success;
}

struct Operation {
  int compute, scale_type;
  int trans_a = 0, trans_b = 0;
};

struct Layout {
  int type;
  std::uint64_t rows, cols;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;

  /// The matrix of one product.
  const void* of(const void* data, std::int64_t product) const {
    const int bytes = type == type_f64                       ? 8
                      : type == type_f32 || type == type_s32 ? 4
                      : type == type_e4m3 || type == type_s8 ? 1
                                                             : 2;
    return static_cast<const std::byte*>(data) + product * batch_stride * bytes;
  }
};

struct Choice {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

}  // namespace

extern "C" {

void fake_set_status(int status) { status_of_products = status; }
int fake_math_mode() { return math_mode; }
int fake_algorithm_runs(int index) { return algorithm_runs[static_cast<std::size_t>(index)]; }

int cublasGetProperty(int which, int* value) {
  *value = 10 + which;
  return success;
}
int cublasCreate_v2(Handle** handle) {
  *handle = handles.emplace_back(std::make_unique<Handle>()).get();
  return success;
}
int cublasDestroy_v2(Handle* handle) {
  std::erase_if(handles, [&](const auto& each) { return each.get() == handle; });
  return success;
}
int cublasSetStream_v2(Handle* handle, void* stream) {
  *handle = {stream, nullptr};
  return success;
}
int cublasSetWorkspace_v2(Handle* handle, void* workspace, std::size_t bytes) {
  if (bytes < 32u << 20) return invalid_value;
  handle->workspace = workspace;
  return success;
}
int cublasSetMathMode(Handle*, int mode) {
  math_mode = mode;
  return success;
}
const char* cublasGetStatusName(int) { return "CUBLAS_STATUS_FAKE"; }

int cublasGemmEx(Handle* handle, int trans_a, int trans_b, int m, int n, int k, const void* alpha,
                 const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                 const void* beta, void* c, int c_type, int ldc, int compute, int algorithm) {
  const bool is_ready = handle->stream != nullptr && handle->workspace != nullptr;
  if (!is_ready || !sums_fit(a_type, compute) || a_type != b_type || algorithm != -1) {
    return invalid_value;
  }
  if (a_type == type_e4m3 || (a_type == type_s8 && (lda % 4 != 0 || ldb % 4 != 0))) {
    return not_supported;
  }
  return multiply_any(a_type, c_type, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
}
int cublasGemmStridedBatchedEx(Handle* handle, int trans_a, int trans_b, int m, int n, int k,
                               const void* alpha, const void* a, int a_type, int lda,
                               long long stride_a, const void* b, int b_type, int ldb,
                               long long stride_b, const void* beta, void* c, int c_type, int ldc,
                               long long stride_c, int batch, int compute, int algorithm) {
  const auto bytes = [](int type) { return type == type_f64 ? 8 : type == type_f32 ? 4 : 2; };
  const auto moved = [&](const void* data, int type, long long elements) {
    return static_cast<const std::byte*>(data) + elements * bytes(type);
  };
  for (int i = 0; i < batch; ++i) {
    const int status = cublasGemmEx(
        handle, trans_a, trans_b, m, n, k, alpha, moved(a, a_type, i * stride_a), a_type, lda,
        moved(b, b_type, i * stride_b), b_type, ldb, beta,
        const_cast<std::byte*>(moved(c, c_type, i * stride_c)), c_type, ldc, compute, algorithm);
    if (status != success) return status;
  }
  return success;
}
int cublasSgemm_v2(Handle* handle, int trans_a, int trans_b, int m, int n, int k,
                   const float* alpha, const float* a, int lda, const float* b, int ldb,
                   const float* beta, float* c, int ldc) {
  return cublasGemmEx(handle, trans_a, trans_b, m, n, k, alpha, a, type_f32, lda, b, type_f32, ldb,
                      beta, c, type_f32, ldc, compute_f32, -1);
}
int cublasDgemm_v2(Handle* handle, int trans_a, int trans_b, int m, int n, int k,
                   const double* alpha, const double* a, int lda, const double* b, int ldb,
                   const double* beta, double* c, int ldc) {
  return cublasGemmEx(handle, trans_a, trans_b, m, n, k, alpha, a, type_f64, lda, b, type_f64, ldb,
                      beta, c, type_f64, ldc, compute_f64, -1);
}

int cublasSetPointerMode_v2(Handle*, int mode) {
  pointer_mode = mode;
  return success;
}
int cublasSdot_v2(Handle* handle, int n, const float* x, int incx, const float* y, int incy,
                  float* result) {
  return dot(handle, n, x, incx, y, incy, result);
}
int cublasDdot_v2(Handle* handle, int n, const double* x, int incx, const double* y, int incy,
                  double* result) {
  return dot(handle, n, x, incx, y, incy, result);
}

int cublasLtGetProperty(int which, int* value) { return cublasGetProperty(which, value); }
const char* cublasLtGetStatusName(int status) { return cublasGetStatusName(status); }
int cublasLtCreate(Handle** handle) { return cublasCreate_v2(handle); }
int cublasLtDestroy(Handle* handle) { return cublasDestroy_v2(handle); }
int cublasLtMatmulDescCreate(Operation** operation, int compute, int scale_type) {
  *operation = new Operation{compute, scale_type};
  return success;
}
int cublasLtMatmulDescDestroy(Operation* operation) {
  delete operation;
  return success;
}
int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value,
                                   std::size_t bytes) {
  if (bytes != sizeof(int) || (attribute != 3 && attribute != 4)) return invalid_value;
  std::memcpy(attribute == 3 ? &operation->trans_a : &operation->trans_b, value, bytes);
  return success;
}
int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t cols,
                               std::int64_t ld) {
  *layout = new Layout{type, rows, cols, ld};
  return success;
}
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value,
                                     std::size_t bytes) {
  if (attribute == 5 && bytes == sizeof layout->batch) {
    std::memcpy(&layout->batch, value, bytes);
  } else if (attribute == 6 && bytes == sizeof layout->batch_stride) {
    std::memcpy(&layout->batch_stride, value, bytes);
  } else {
    return invalid_value;
  }
  return success;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  delete layout;
  return success;
}
int cublasLtMatmulPreferenceCreate(int** preference) {
  *preference = new int(0);
  return success;
}
int cublasLtMatmulPreferenceDestroy(int* preference) {
  delete preference;
  return success;
}
int cublasLtMatmulPreferenceSetAttribute(int*, int attribute, const void*, std::size_t bytes) {
  return bytes == (attribute == 1 ? 8u : 4u) ? success : invalid_value;
}

// Returns three algorithms: the second cannot run, and the third fails for integers. 8-bit types
// are supported only as "TN", with leading dimensions that are multiples of 16.
int cublasLtMatmulAlgoGetHeuristic(Handle*, Operation* operation, Layout* a, Layout* b, Layout*,
                                   Layout*, int*, int wanted, Choice* choices, int* found) {
  const bool narrow = a->type == type_s8 || a->type == type_e4m3;
  if (narrow &&
      (operation->trans_a != 1 || operation->trans_b != 0 || a->ld % 16 != 0 || b->ld % 16 != 0)) {
    return not_supported;
  }
  *found = std::min(wanted, 3);
  for (int i = 0; i < *found; ++i) {
    choices[i] = {};
    choices[i].algorithm[0] = static_cast<std::uint64_t>(i);
    choices[i].status = i == 1 ? not_supported : success;
  }
  return success;
}
int cublasLtMatmul(Handle*, Operation* operation, const void* alpha, const void* a,
                   Layout* a_layout, const void* b, Layout* b_layout, const void* beta,
                   const void* c, Layout* c_layout, void* d, Layout* d_layout,
                   const std::uint64_t* algorithm, void* workspace, std::size_t, void* stream) {
  ++algorithm_runs[static_cast<std::size_t>(algorithm[0])];
  const auto rows = [](const Layout* layout, int transposed) {
    return transposed != 0 ? layout->cols : layout->rows;
  };
  const auto cols = [](const Layout* layout, int transposed) {
    return transposed != 0 ? layout->rows : layout->cols;
  };
  const int trans_a = operation->trans_a, trans_b = operation->trans_b;
  const bool fit = rows(a_layout, trans_a) == c_layout->rows &&
                   cols(b_layout, trans_b) == c_layout->cols &&
                   cols(a_layout, trans_a) == rows(b_layout, trans_b);
  if (!fit || c != d || c_layout != d_layout || workspace == nullptr || stream == nullptr ||
      a_layout->type != b_layout->type || operation->scale_type != type_of_sums(a_layout->type) ||
      !sums_fit(a_layout->type, operation->compute)) {
    return invalid_value;
  }
  if (a_layout->type == type_s8 && algorithm[0] == 2) return not_supported;
  if (a_layout->batch != c_layout->batch || b_layout->batch != c_layout->batch) {
    return invalid_value;
  }
  for (std::int64_t i = 0; i < c_layout->batch; ++i) {
    const int status = multiply_any(
        a_layout->type, c_layout->type, trans_a, trans_b, static_cast<std::int64_t>(c_layout->rows),
        static_cast<std::int64_t>(c_layout->cols),
        static_cast<std::int64_t>(cols(a_layout, trans_a)), alpha, a_layout->of(a, i), a_layout->ld,
        b_layout->of(b, i), b_layout->ld, beta, const_cast<void*>(c_layout->of(d, i)),
        c_layout->ld);
    if (status != success) return status;
  }
  return success;
}

}  // extern "C"
