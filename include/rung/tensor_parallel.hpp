#pragma once
// Tensor parallelism on several NVIDIA GPUs: see rung/nccl.hpp.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rung/any_matrix.hpp"
#include "rung/cuda_stream.hpp"
#include "rung/dist_plan.hpp"
#include "rung/export.hpp"

namespace rung::dist {

/// The mechanism that transfers data between ranks.
enum class Transport {
  automatic,    // copy engines where all ranks can map each other's memory, otherwise NCCL
  nccl,         // ncclSend and ncclRecv, which occupy some SMs
  copy_engine,  // copies to mapped memory of the other GPUs; use no SMs
};

enum class Schedule {
  automatic,   // the one for which a model expects the least time
  sequential,  // NCCL's collective and one product, one after the other
  overlapped,  // one part is transferred while another is multiplied
  exchanged,   // an all-gather by copy engines, then one product; other collectives as sequential
  fused,  // overlapped within one kernel: tiles wait for arriving data, and finished parts are sent
          // while it runs; over NCCL, same as overlapped
};

struct TensorParallelOptions {
  /// Seconds that construction, the first call of each shape, and synchronize() wait for the other
  /// ranks until they throw.
  double timeout = 600;
  /// With copy_engine, construction throws Error (Status::unavailable) if memory cannot be mapped.
  Transport transport = Transport::automatic;
  /// Bytes per second from one rank to another, for the model that chooses schedules. 0 (default):
  /// measured at construction, in less than a millisecond.
  double bandwidth = 0;
  /// If true, the same calls give bitwise identical results in every run on the same GPU model:
  /// schedules are chosen from constants instead of measured rates, and sums over ranks use the
  /// library's ring order instead of NCCL's reductions, whose order NCCL chooses.
  /// Schedule::sequential still uses NCCL's.
  bool deterministic = false;
};

/// A part of a call and its time span on this rank's GPU. Products in several streams share the
/// SMs, so one may begin while another one occupies all of them.
struct TimelineSpan {
  std::string lane;  // "products", "products 2", "products 3", "sends", "arrivals": one for each
  std::string work;  // "product", "send", "wait for arrival", "copy", "add", "all-gather" ...
  std::int64_t rows = 0;  // rows of the product or, in row-major order, of the block being
  double begin = 0;       // seconds since the GPU began the call
  double end = 0;
};

/// All fields except `timeline` must be equal on all ranks.
struct TensorParallelCall {
  Schedule schedule = Schedule::automatic;
  /// The number of parts into which a rank's rows are divided when overlapped. 0 (default): chosen
  /// by the model.
  int chunks = 0;
  /// If not null, the call blocks until its work is done, like synchronize(), and stores its parts
  /// here. Such a call cannot be captured.
  std::vector<TimelineSpan>* timeline = nullptr;
};

/// The ranks of an NCCL communicator that multiply together, each with one GPU that holds its
/// matrices. T is bfloat16, float16, float or double. C has the same type, or float for 16-bit
/// types. Matrices may have any order and leading dimension, but types and the orders of A and of C
/// must be equal on all ranks. alpha, beta, k = 0, NaN and rounding errors of the local products
/// are as in gemm(); sums over ranks are rounded to the type of C at each rank that adds to them.
///
/// - Every rank makes the same calls in the same order. A call enqueues its work in the caller's
///   stream and returns. Calls in several streams run one after the other.
/// - The first call with new sizes, types or orders compares them across ranks, which synchronizes
///   with the GPU. If they differ, it throws Error (Status::invalid_argument) on every rank, and C
///   is unchanged.
/// - Later calls may be captured in a graph. Ranks must replay their graphs in the same order and
///   make no other calls meanwhile.
/// - The order of summation depends only on the number of ranks and the schedule. The schedule
///   depends on measured rates unless TensorParallelOptions::deterministic is set. NCCL's own
///   reductions (Schedule::sequential) choose their order themselves.
/// - Transposed views provide the other partitions: to gather column shards of B, call with C, B
///   and A transposed.
///
/// Throws Error: Status::invalid_argument for shapes and types; Status::unavailable without NCCL, a
/// driver, or kernels; Status::device_error. Throws CommunicationError if NCCL reports an error or
/// a rank does not answer within the timeout. After that the object is unusable and C is undefined.
class RUNG_API TensorParallel {
 public:
  /// comm: the program's ncclComm_t. Collective: all ranks construct it with their GPU's context
  /// current. Splits off its own communicator, so that its calls and the program's do not mix.
  explicit TensorParallel(void* comm, const TensorParallelOptions& options = {});
  /// Waits for pending work. Collective; the program must destroy `comm` afterwards.
  ~TensorParallel();
  TensorParallel(TensorParallel&&) noexcept;
  TensorParallel& operator=(TensorParallel&&) noexcept;

  int rank() const;
  int ranks() const;
  /// nccl or copy_engine.
  Transport transport() const;

  /// Computes C = alpha A B + beta C, where A stacks the shards of all ranks in rank order. `shard`
  /// is m / ranks x k. B (k x n) holds this rank's columns of a larger B, and C (m x n) those of a
  /// larger C. n may differ between ranks.
  void all_gather_gemm(double alpha, const InputMatrix& shard, const InputMatrix& b, double beta,
                       const OutputMatrix& c, CudaStream stream,
                       const TensorParallelCall& call = {});

  /// Computes C = alpha (A_0 B_0 + A_1 B_1 + ...) + beta C and gives each rank m / ranks rows of
  /// it. A (m x k) holds this rank's columns of a larger A, and B (k x n) its rows of a larger B; k
  /// may differ between ranks. `shard` (m / ranks x n) is this rank's part of C: rank 0 has the
  /// first rows.
  void gemm_reduce_scatter(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                           const OutputMatrix& shard, CudaStream stream,
                           const TensorParallelCall& call = {});

  /// Computes the same sum and gives every rank all of C, m x n. m need not be a multiple of the
  /// number of ranks. For each row, only the rank that sums it reads beta C: C must be equal on all
  /// ranks unless beta is 0.
  void gemm_all_reduce(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                       const OutputMatrix& c, CudaStream stream,
                       const TensorParallelCall& call = {});

  /// Waits for the work in the stream, up to the timeout. Throws CommunicationError if another rank
  /// fails meanwhile. Other waits, such as cudaStreamSynchronize, hang if a rank has died.
  void synchronize(CudaStream stream);

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rung::dist
