#pragma once
// Matrix multiplication and dot product on an NVIDIA GPU, in the caller's context and stream.
// Accepts device pointers from the CUDA runtime or driver, CuPy and PyTorch.

#include <cstddef>
#include <cstdint>

#include "rung/batch.hpp"
#include "rung/cuda_stream.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// Computes C = alpha * A * B + beta * C on the GPU, as in rung/gemm.hpp, with these differences:
///
/// - Memory: kernels of the calling thread's current context must be able to access every pointer.
///   If no context is current, the primary context of device 0 (the one that the CUDA runtime uses)
///   becomes current.
/// - Asynchronous: the call enqueues its work in the stream and returns. Operands must remain valid
///   until the work has finished. Errors of its execution, such as an invalid pointer, are reported
///   at the caller's next synchronization.
/// - The call neither allocates nor synchronizes, with three exceptions: the first use of a kernel
///   loads it, the first call on a stream that needs a workspace allocates it, and an exhausted
///   pool grows.
/// - Threads: several threads may call it at once, on one stream or several.
/// - Capture: calls may be captured, even the first one. No call invalidates a capture of another
///   stream, except on the legacy stream while a blocking stream captures, which CUDA forbids. A
///   graph has its own workspace, which lives as long as the graph or an executable graph made from
///   it. The graph may be replayed in any stream, concurrently with other calls, and after
///   release_cuda_workspace(). Executable graphs made from the same graph share its workspace: do
///   not run two of them at the same time.
/// - Contexts: a context may be destroyed, or the device reset, between calls; the library's
///   resources for it go with it. A call fails while a destroyed context is current.
/// - Streams: a stream may be destroyed while it has pending work. The first call on a new stream
///   with the same handle waits for that work if both need a workspace.
/// - fork(): a child process cannot use the GPU after its parent has called the library or the
///   driver (Status::unavailable).
/// - Exit: calls from static destructors and atexit() handlers are allowed; they fail once the
///   driver has shut down. The process may exit while work is pending.
///
/// A call that throws has not changed C, unless it needs several launches and the driver rejects a
/// later one: everything else is prepared before the first launch. It leaks nothing, and later
/// calls work.
///
/// Throws rung::Error:
///
/// - Status::invalid_argument for the reasons in rung/gemm.hpp; for a workspace that is misaligned,
///   too small, or null with workspace_bytes above 0; for an operand that is not aligned to its
///   element size; for negative multiprocessors; and for an unknown compute mode.
/// - Status::unavailable if there is no NVIDIA driver for CUDA 12 or later, no GPU, or no kernel
///   for it in this build of the library.
/// - Status::device_error, with the driver's name for the error, if the driver fails: because
///   earlier work in the context has failed, which is permanent; because the context is destroyed
///   (CUDA_ERROR_CONTEXT_IS_DESTROYED); or because the driver has shut down
///   (CUDA_ERROR_DEINITIALIZED).
///
/// Throws std::bad_alloc if the GPU has no memory for a kernel or a workspace.
RUNG_API void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const float>& b,
                   float beta, const MatrixView<float>& c, CudaStream stream,
                   const CudaOptions& options = {});
RUNG_API void gemm(double alpha, const MatrixView<const double>& a,
                   const MatrixView<const double>& b, double beta, const MatrixView<double>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                   const MatrixView<const std::int32_t>& b, std::int32_t beta,
                   const MatrixView<std::int32_t>& c, CudaStream stream,
                   const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float16>& a,
                   const MatrixView<const float16>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});

/// Overloads for types that require tensor cores: sm_80 or later, and sm_90 only for 8-bit floats.
/// Other GPUs throw Status::unavailable.
///
/// - 16-bit results are accumulated in float, scaled, and rounded once.
/// - tfloat32 is stored as float; elements are rounded to nearest, to 11 significant bits, when
///   they are read.
/// - int8 products are accumulated in int32, exactly modulo 2^32.
/// - For 8-bit floats, each sum of 32 products has a relative error of up to 2^-13; partial sums
///   are promoted to float every 128 k-steps. Pass per-tensor scales as factors of alpha.
/// - tfloat32 and 8-bit operands are read K-major. A column-major A, a row-major B, and unaligned
///   operands are first packed into the workspace. Throws Status::invalid_argument if the caller's
///   workspace is too small for the copy.
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<bfloat16>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float16>& a,
                   const MatrixView<const float16>& b, float beta, const MatrixView<float16>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const tfloat32>& a,
                   const MatrixView<const tfloat32>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                   const MatrixView<const std::int8_t>& b, std::int32_t beta,
                   const MatrixView<std::int32_t>& c, CudaStream stream,
                   const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float8_e4m3>& a,
                   const MatrixView<const float8_e4m3>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float8_e5m2>& a,
                   const MatrixView<const float8_e5m2>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});

/// C = A * B.
inline void gemm(const MatrixView<const float>& a, const MatrixView<const float>& b,
                 const MatrixView<float>& c, CudaStream stream, const CudaOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, stream, options);
}
inline void gemm(const MatrixView<const double>& a, const MatrixView<const double>& b,
                 const MatrixView<double>& c, CudaStream stream, const CudaOptions& options = {}) {
  gemm(1.0, a, b, 0.0, c, stream, options);
}
inline void gemm(const MatrixView<const std::int32_t>& a, const MatrixView<const std::int32_t>& b,
                 const MatrixView<std::int32_t>& c, CudaStream stream,
                 const CudaOptions& options = {}) {
  gemm(std::int32_t{1}, a, b, std::int32_t{0}, c, stream, options);
}
inline void gemm(const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
                 const MatrixView<float>& c, CudaStream stream, const CudaOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, stream, options);
}
inline void gemm(const MatrixView<const float16>& a, const MatrixView<const float16>& b,
                 const MatrixView<float>& c, CudaStream stream, const CudaOptions& options = {}) {
  gemm(1.0f, a, b, 0.0f, c, stream, options);
}

struct CudaBatchOptions {
  /// Options for each product. `workspace` and `multiprocessors` apply only if each product is a
  /// launch of its own.
  CudaOptions gemm = {};
  /// Device memory. Set to 1 if an array contained a null pointer, whose product was skipped. Null
  /// (default): not reported.
  int* status = nullptr;
};

/// Computes C = alpha * A * B + beta * C for each product of a batch, as in rung/batch.hpp, with
/// the rules of gemm() above.
///
/// - A batch is one launch for any shape, layout and leading dimension, with two exceptions: if a
///   product is large enough to fill the GPU, or if the compute mode fixes the summation order,
///   each product is a launch. tfloat32, int8 and 8-bit float operands that TMA cannot read in
///   place are packed first, for all products at once; if options.gemm.workspace is too small for
///   that, each product is a call of its own. Small tfloat32 products do not round their elements.
/// - Arrays of pointers are in device memory and are read there, in stream order, so earlier work
///   in the stream may write them. A product with a null pointer is skipped: its C is unchanged,
///   and *options.status becomes 1.
///
/// Throws what gemm() throws and, except for null pointers in arrays, what gemm_batched() in
/// rung/batch.hpp throws. Throws Status::unavailable for arrays of pointers to 8-bit elements.
RUNG_API void gemm_batched(float alpha, const BatchView<const float>& a,
                           const BatchView<const float>& b, float beta, const BatchView<float>& c,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(double alpha, const BatchView<const double>& a,
                           const BatchView<const double>& b, double beta,
                           const BatchView<double>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(std::int32_t alpha, const BatchView<const std::int32_t>& a,
                           const BatchView<const std::int32_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const BatchView<float>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const float16>& a,
                           const BatchView<const float16>& b, float beta, const BatchView<float>& c,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const BatchView<bfloat16>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const float16>& a,
                           const BatchView<const float16>& b, float beta,
                           const BatchView<float16>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const tfloat32>& a,
                           const BatchView<const tfloat32>& b, float beta,
                           const BatchView<float>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(std::int32_t alpha, const BatchView<const std::int8_t>& a,
                           const BatchView<const std::int8_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const float8_e4m3>& a,
                           const BatchView<const float8_e4m3>& b, float beta,
                           const BatchView<float>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const float8_e5m2>& a,
                           const BatchView<const float8_e5m2>& b, float beta,
                           const BatchView<float>& c, CudaStream stream,
                           const CudaBatchOptions& options = {});

struct CudaDotOptions {
  DotMode mode = DotMode::deterministic;
  /// As in CudaOptions, with at least 1 MiB.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

/// Computes *result = the sum of x[i * incx] * y[i * incy] on the GPU, as in rung/dot.hpp, with the
/// rules of gemm() above: the call enqueues its work in the stream and returns. `result` is
/// GPU-accessible memory, which is written even if n is 0.
///
/// Throws what gemm() throws, and Status::invalid_argument for the reasons in rung/dot.hpp, for a
/// null result and for a workspace that is too small.
RUNG_API void dot(std::int64_t n, const float* x, std::int64_t incx, const float* y,
                  std::int64_t incy, float* result, CudaStream stream,
                  const CudaDotOptions& options = {});
RUNG_API void dot(std::int64_t n, const double* x, std::int64_t incx, const double* y,
                  std::int64_t incy, double* result, CudaStream stream,
                  const CudaDotOptions& options = {});
RUNG_API void dot(std::int64_t n, const bfloat16* x, std::int64_t incx, const bfloat16* y,
                  std::int64_t incy, float* result, CudaStream stream,
                  const CudaDotOptions& options = {});
RUNG_API void dot(std::int64_t n, const float16* x, std::int64_t incx, const float16* y,
                  std::int64_t incy, float* result, CudaStream stream,
                  const CudaDotOptions& options = {});

/// Overloads that return the result: they wait for the work in the stream and always use a
/// workspace. Throws Status::invalid_argument if the stream is capturing; the capture remains
/// valid.
RUNG_API float dot(std::int64_t n, const float* x, std::int64_t incx, const float* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API double dot(std::int64_t n, const double* x, std::int64_t incx, const double* y,
                    std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API float dot(std::int64_t n, const bfloat16* x, std::int64_t incx, const bfloat16* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API float dot(std::int64_t n, const float16* x, std::int64_t incx, const float16* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});

/// Frees the workspace that the library keeps for a stream of the current context, the workspaces
/// of destroyed graphs, and unused memory of its pool for that device. Call it when the stream's
/// work is done, before destroying the stream. Resources of a context are freed with the context. A
/// later call that needs a workspace allocates a new one. Throws rung::Error
/// (Status::device_error).
RUNG_API void release_cuda_workspace(CudaStream stream);

}  // namespace rung
