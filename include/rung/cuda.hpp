#pragma once
// Matrix multiplication and the dot product on an NVIDIA GPU, in the caller's own context and
// stream: pointers of the CUDA runtime or driver, of CuPy or of PyTorch are taken as they are.

#include <cstddef>
#include <cstdint>

#include "rung/batch.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// A queue of the GPU: a cudaStream_t or CUstream. Null is the (legacy) default stream.
class CudaStream {
 public:
  // Explicit, and never from {}: that a call is for the GPU has to be said.
  explicit CudaStream(void* handle) : handle_(handle) {}

  void* handle() const { return handle_; }

 private:
  void* handle_;
};

struct CudaOptions {
  /// Device memory for partial sums and aligned copies of operands, aligned to 256 bytes, zero
  /// before its first use and then left to the library's calls. Calls of one thread at a time, on
  /// one stream at a time, may use it, and a graph that uses it must not run beside them. The call
  /// makes do with it. Null: the library keeps 32 MiB for each stream and for each graph that is
  /// captured, allocated at the first call that needs them, and takes what larger copies need from
  /// a pool of its own, in the order of the stream.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  /// The most streaming multiprocessors (SMs) that persistent kernels occupy: those for tensor cores
  /// on sm_90. Other kernels have a block for each tile of C. Tile and split-K are chosen for that
  /// many SMs. 0: all of the device.
  int multiprocessors = 0;
  ComputeMode compute_mode = ComputeMode::standard;
};

/// C = alpha * A * B + beta * C on the GPU, as rung/gemm.hpp has it, with these differences:
///
/// - Every pointer is of memory that kernels of the calling thread's current context can reach. If
///   none is current, the primary context of device 0, which is the CUDA runtime's, becomes so.
/// - The call puts its work into the stream and returns. Operands must stay until it is done; what
///   goes wrong then, an invalid pointer above all, shows at the caller's next synchronisation.
/// - It neither allocates nor synchronises, except that the first call that needs a kernel loads
///   it, the first on a stream that needs a workspace allocates it, and where a pool has no memory
///   left for copies it takes more.
/// - It may be called from several threads at once, on one stream or several.
/// - Capture: it may be captured, the first call too. No call invalidates a capture of another
///   stream, except on the legacy stream while a blocking stream captures, which CUDA forbids. A
///   graph has a workspace of its own for as long as it or an executable graph made of it lives:
///   it may be replayed in any stream, beside other calls, and after release_cuda_workspace().
///   Executable graphs made of the same graph share it: do not run two of them at the same time.
/// - Contexts: a context may be destroyed, or the device reset, between calls; what the library
///   kept for it goes with it. While a destroyed context is current, a call is refused.
/// - Streams: a stream may be destroyed while work is in it. The first call on a new stream with
///   the same handle waits for that work if both need a workspace.
/// - fork(): a child cannot use the GPU after its parent has called the library or the driver.
///   Status::unavailable.
/// - Exit: a call may come from a static destructor or atexit(). It is refused once the driver has
///   shut down. The process may exit while work is in flight.
///
/// A call that throws has not changed C, has allocated nothing that the next call does not use, and
/// leaves later calls right.
///
/// Throws rung::Error: Status::invalid_argument as rung/gemm.hpp says, for a workspace that is not
/// aligned, or null with workspace_bytes above 0, for negative multiprocessors and for an unknown
/// compute mode; Status::unavailable if there is no NVIDIA driver (for CUDA 12 or later), no GPU, or
/// no kernel for it in this build of the library; Status::device_error, with the driver's name for
/// it, if the driver refuses: because earlier work in the context has failed, which no call can
/// mend, because the context is destroyed (CUDA_ERROR_CONTEXT_IS_DESTROYED), or because the driver
/// has shut down (CUDA_ERROR_DEINITIALIZED). std::bad_alloc if the GPU has no memory for a kernel or
/// a workspace.
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

/// The same for types that only tensor cores support, on GPUs of sm_90; elsewhere these throw
/// Status::unavailable.
///
/// - 16-bit results are accumulated in float, scaled, and rounded once.
/// - tfloat32 is stored as float; elements are rounded to nearest, to 11 significant bits, when
///   they are read.
/// - int8 products are accumulated in int32, exactly modulo 2^32.
/// - For 8-bit floats, each sum of 32 products may lose up to 2^-13 of its value; partial sums are
///   promoted to float every 128 k-steps. Pass the scales of the tensors as factors of alpha.
/// - tfloat32 and 8-bit operands are read K-major. An A stored by columns, or a B stored by rows,
///   is first packed into the workspace, as unaligned operands are; Status::invalid_argument if the
///   caller's workspace is too small for the copy.
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
  /// For each product; workspace and multiprocessors are used where a product is a launch.
  CudaOptions gemm = {};
  /// In device memory: becomes 1 if an array had a null pointer, whose product was left out. Null:
  /// not reported.
  int* status = nullptr;
};

/// C = alpha * A * B + beta * C for each product of a batch, as rung/batch.hpp has it for the CPU,
/// under the rules of gemm above.
///
/// - A batch is one launch, whatever its shape, layouts and leading dimensions, unless a product is so
///   large that it fills the GPU, or a mode fixes the order of sums: then it is a launch for each
///   product. Operands of tfloat32, int8 and 8-bit floats that TMA cannot read in place are packed
///   first, those of all products at once; if options.gemm.workspace has no room for that, each
///   product is a call of its own, too. Small products of tfloat32 do not round their elements.
/// - Arrays of pointers are in device memory, and are read there: the call does not wait for what
///   fills them. A product with a null pointer in an array is left out; nothing of its C is
///   written, and *options.status becomes 1.
///
/// Throws what gemm throws and, except for null pointers in arrays, what gemm_batched in
/// rung/batch.hpp throws; Status::unavailable also for arrays of pointers to 8-bit elements.
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
  /// As in CudaOptions; of at least 1 MiB.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

/// *result = the sum of x[i * incx] * y[i * incy] on the GPU, as rung/dot.hpp and DotMode have it,
/// under the rules of gemm above: the call puts its work into the stream and returns. result is
/// memory that the GPU can write, and is written though n is 0.
///
/// Throws what gemm throws; Status::invalid_argument as rung/dot.hpp says, for a null result and
/// for a workspace that is too small.
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

/// The same, returned: waits for the work in the stream, and takes a workspace always. A stream
/// that is capturing is refused, and the capture goes on: Status::invalid_argument.
RUNG_API float dot(std::int64_t n, const float* x, std::int64_t incx, const float* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API double dot(std::int64_t n, const double* x, std::int64_t incx, const double* y,
                    std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API float dot(std::int64_t n, const bfloat16* x, std::int64_t incx, const bfloat16* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});
RUNG_API float dot(std::int64_t n, const float16* x, std::int64_t incx, const float16* y,
                   std::int64_t incy, CudaStream stream, const CudaDotOptions& options = {});

/// Frees the workspace that the library keeps for a stream of the current context, if there is one,
/// those of graphs that have been destroyed, and what its pool of that device has free.
/// To be called before the stream is destroyed, once its work is done; what belongs to a context
/// goes with it. A later call that needs a workspace makes a new one. Throws rung::Error
/// (Status::device_error).
RUNG_API void release_cuda_workspace(CudaStream stream);

}  // namespace rung
