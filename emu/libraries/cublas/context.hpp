#pragma once
// Common parts of the cuBLAS calls: the handle, errors, and copies of operands between device memory and
// the CPU, which computes everything. The driver copies operands, so one that exceeds its allocation is an
// error, and results count as initialized.

#include <cstddef>
#include <exception>
#include <new>
#include <vector>

#include "cublas_v2.h"
#include "emu/runtime/library_call.hpp"
#include "emu/runtime/runtime.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace rung::emu::cublas {

/// An error after which a call cannot continue.
struct Failure {
  cublasStatus_t status;
};

inline void require(bool holds) {
  if (!holds) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
}

// False for a value that its enumeration lacks.
inline bool is_known(cublasOperation_t op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_CONJG; }
inline bool is_known(cublasFillMode_t part) {
  return part == CUBLAS_FILL_MODE_LOWER || part == CUBLAS_FILL_MODE_UPPER;
}
inline bool is_known(cublasDiagType_t diagonal) {
  return diagonal == CUBLAS_DIAG_NON_UNIT || diagonal == CUBLAS_DIAG_UNIT;
}
inline bool is_known(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}
inline bool is_known(cublasPointerMode_t mode) {
  return mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE;
}
template <class T>
bool is_known(const T& /*no enumeration*/) {
  return true;
}

template <class... Arguments>
void require_known(const Arguments&... arguments) {
  (require(is_known(arguments)), ...);
}

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw Failure{CUBLAS_STATUS_EXECUTION_FAILED};
}

template <class T>
std::vector<T> download(const T* from, std::size_t count, cudaStream_t stream) {
  std::vector<T> host(count);
  check(cudaMemcpyAsync(host.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return host;
}

template <class T>
void upload(T* to, const std::vector<T>& host, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
}

/// Zeros for an operand that is not read, whose address may be null: of a product with alpha = 0.
template <class T>
std::vector<T> download_if(bool is_read, const T* from, std::size_t count, cudaStream_t stream) {
  return is_read ? download(from, count, stream) : std::vector<T>(count);
}

/// alpha, beta and results are in the memory that the pointer mode selects.
template <class T>
T read_scalar(const cublasContext& context, const T* scalar) {
  if (scalar == nullptr) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  if (context.pointer_mode == CUBLAS_POINTER_MODE_HOST) return *scalar;
  return download(scalar, 1, context.stream).front();
}

template <class T>
void write_scalar(const cublasContext& context, T* to, T value) {
  if (to == nullptr) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
  if (context.pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    emu::LibraryCall::let_host_wait(to_driver(context.stream));
    *to = value;
  } else {
    upload(to, std::vector<T>{value}, context.stream);
  }
}

/// The elements that a column-major matrix of rows x cols spans.
inline std::size_t span(int rows, int cols, int ld) {
  if (rows == 0 || cols == 0) return 0;
  return static_cast<std::size_t>(cols - 1) * static_cast<std::size_t>(ld) +
         static_cast<std::size_t>(rows);
}

struct VectorUse {
  bool may_repeat = false;  // the increment may be 0, and all elements are one
  bool is_read = true;      // otherwise elements are 0
};

/// n elements of device memory, `increment` apart; backwards if that is negative, as in BLAS.
template <class T>
class Vector {
 public:
  Vector(const cublasContext& context, int n, T* device, int increment, VectorUse use = {})
      : n_(n < 0 ? 0 : static_cast<std::size_t>(n)), step_(increment), device_(device) {
    if (increment == 0 && !use.may_repeat) throw Failure{CUBLAS_STATUS_INVALID_VALUE};
    const std::size_t distance = static_cast<std::size_t>(increment < 0 ? -increment : increment);
    data_ = download_if<Value>(use.is_read, device, n_ == 0 ? 0 : (n_ - 1) * distance + 1,
                               context.stream);
  }
  std::size_t size() const { return n_; }
  auto& operator[](std::size_t i) { return data_[place(i)]; }
  const auto& operator[](std::size_t i) const { return data_[place(i)]; }
  void store(const cublasContext& context) { upload(device_, data_, context.stream); }

 private:
  using Value = std::remove_const_t<T>;
  std::size_t place(std::size_t i) const {
    const std::size_t at = step_ < 0 ? n_ - 1 - i : i;
    return at * static_cast<std::size_t>(step_ < 0 ? -step_ : step_);
  }

  std::size_t n_;
  int step_;
  T* device_;
  std::vector<Value> data_;
};

/// Functions for C return a status. `name`: in reports of unordered operations.
template <class Call>
cublasStatus_t guarded(const void* handle, Call&& call, const char* name = "cuBLAS call") {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const emu::LibraryCall library(name);
  try {
    call();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (const std::exception&) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

}  // namespace rung::emu::cublas
