#pragma once
// Tensor parallelism: matrix products on several NVIDIA GPUs, each with a part of the operands, whose
// communication hides behind the products. librung_nccl; it needs neither MPI nor CUDA to build, and
// opens NCCL (2.18 or later) and the driver at run time.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rung/cuda.hpp"
#include "rung/dist.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"

namespace rung::dist {

/// What carries a rank's data to another one.
enum class Transport {
  automatic,    // copy engines where all ranks can map each other's memory, otherwise NCCL
  nccl,         // ncclSend and ncclRecv, which occupy some SMs
  copy_engine,  // copies to mapped memory of the other GPUs; no SMs
};

enum class Schedule {
  automatic,   // the one for which a model expects the least time
  sequential,  // NCCL's collective and one product, one after the other
  overlapped,  // a part travels while another one is multiplied
  exchanged,   // an all-gather by copy engines, then one product; otherwise as sequential
  fused,  // overlapped by one kernel, whose tiles wait for what arrives and whose parts are sent while
          // it runs; over NCCL, as overlapped
};

struct TensorParallelOptions {
  /// Seconds that construction, the first call of each shape, and synchronize() wait for the other
  /// ranks until they throw.
  double timeout = 600;
  /// copy_engine throws Error (Status::unavailable) where memory cannot be mapped.
  Transport transport = Transport::automatic;
  /// Bytes per second from one rank to another, for the model that chooses schedules. 0: measured, in
  /// less than a millisecond, at construction.
  double bandwidth = 0;
  /// The same calls give the same bits in every run on such GPUs: schedules are chosen by constants in place of
  /// measured rates, and sums are the library's own, in the order of the ring, and not those of NCCL's
  /// reductions, whose order NCCL chooses, unless a call asks for Schedule::sequential.
  bool deterministic = false;
};

/// A part of a call, and when it ran on this rank's GPU. Products of several streams share its SMs, so one
/// may begin while another one has them all.
struct TimelineSpan {
  std::string lane;  // "products", "products 2", "products 3", "sends", "arrivals": a stream each
  std::string work;  // "product", "send", "wait for arrival", "copy", "add", "all-gather" ...
  std::int64_t rows = 0;  // of the product or, in row-major order, of the block that travels
  double begin = 0;       // seconds since the GPU began the call
  double end = 0;
};

/// The same on all ranks, except `timeline`.
struct TensorParallelCall {
  Schedule schedule = Schedule::automatic;
  /// Into how many parts the rows of a rank are cut when overlapped; 0: the model chooses.
  int chunks = 0;
  /// If not null, the call waits until it is done, as synchronize() does, and stores its parts here.
  /// Such a call cannot be captured.
  std::vector<TimelineSpan>* timeline = nullptr;
};

/// The ranks of an NCCL communicator that multiply together. Each has one GPU, and matrices in its
/// memory. T is bfloat16, float16, float or double, and C has the same type or, of 16-bit types,
/// float. Matrices have any order and leading dimension; orders of A and of C, and the types, are
/// the same on all ranks. alpha, beta, k = 0, NaN and rounding errors of the local products are those
/// of gemm(); sums over ranks are rounded to C's type at each rank that they pass.
///
/// - Every rank makes the same calls in the same order. A call enqueues its work in the caller's
///   stream and returns; it is done when the stream is. Calls on several streams run one after the
///   other.
/// - The first call with new sizes, types or orders compares them on all ranks, which waits for the
///   GPU. It throws Error (Status::invalid_argument) on every rank if they differ, and C is unchanged.
/// - Later calls may be captured in a graph. Ranks replay their graphs in the same order, and make no
///   other calls meanwhile.
/// - The order of sums depends only on the number of ranks and the schedule, which depends on measured
///   rates unless TensorParallelOptions::deterministic says otherwise. NCCL's own reductions
///   (Schedule::sequential) have an order of their own.
/// - Transposed views cover the other divisions: to gather B by columns, call with C, B and A
///   transposed.
///
/// Errors: Error (Status::invalid_argument) for shapes and types; Status::unavailable without NCCL, a
/// driver, or kernels; Status::device_error; CommunicationError if NCCL reports an error or a rank
/// does not answer in time, after which the object is of no further use and C is undefined.
class RUNG_API TensorParallel {
 public:
  /// comm: the program's ncclComm_t. Collective: all ranks construct it, with the GPU's context
  /// current. It splits a communicator of its own off, so its calls and the program's do not mix.
  explicit TensorParallel(void* comm, const TensorParallelOptions& options = {});
  /// Waits for its work. Collective; the program destroys `comm` later.
  ~TensorParallel();
  TensorParallel(TensorParallel&&) noexcept;
  TensorParallel& operator=(TensorParallel&&) noexcept;

  int rank() const;
  int ranks() const;
  /// nccl or copy_engine.
  Transport transport() const;

  /// C = alpha A B + beta C, where A is the shards of all ranks, one below the other. `shard` is this
  /// rank's, m / ranks x k; B, k x n, is this rank's columns of a larger B, and C, m x n, those of a
  /// larger C. n may differ between ranks.
  void all_gather_gemm(double alpha, const InputMatrix& shard, const InputMatrix& b, double beta,
                       const OutputMatrix& c, CudaStream stream,
                       const TensorParallelCall& call = {});

  /// C = alpha (A_0 B_0 + A_1 B_1 + ...) + beta C, of which each rank gets m / ranks rows. A, m x k, is
  /// this rank's columns of a larger A, and B, k x n, its rows of a larger B; k may differ between
  /// ranks. `shard`, m / ranks x n, is this rank's part of C: rank 0 has the first rows.
  void gemm_reduce_scatter(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                           const OutputMatrix& shard, CudaStream stream,
                           const TensorParallelCall& call = {});

  /// The same sum, and every rank gets all of C, m x n. m need not be a multiple of the ranks. beta C is
  /// read on one rank, that which sums the rows: C must be equal on all ranks unless beta is 0.
  void gemm_all_reduce(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                       const OutputMatrix& c, CudaStream stream,
                       const TensorParallelCall& call = {});

  /// Waits for the work in the stream, at most the timeout, and throws CommunicationError if another
  /// rank fails meanwhile: waiting by other means, such as cudaStreamSynchronize, does not return if a
  /// rank has died.
  void synchronize(CudaStream stream);

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace rung::dist
