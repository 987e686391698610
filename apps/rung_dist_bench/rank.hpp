#pragma once
// A GPU of the bench: its context, stream, memory, and the operands of the products.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "peers.hpp"
#include "rung/tensor_parallel.hpp"

namespace rung::dist_bench {

enum class Operation { all_gather_gemm, gemm_reduce_scatter, gemm_all_reduce };
std::string name(Operation operation);

/// The product's sizes over all ranks.
struct Size {
  std::int64_t m, n, k;
};

/// A bf16 matrix in device memory.
using Matrix = MatrixView<bfloat16>;

class Rank {
 public:
  /// Uses GPU `rank` and makes its primary context current on the calling thread.
  Rank(const cuda::DriverApi& driver, int rank, int ranks, void* comm);

  /// Makes the context current on the calling thread.
  void enter() const;

  /// Allocates two sets of operands and fills them with the same random numbers in each run. Calls
  /// alternate between the sets, so a call that reads stale data of the previous one is wrong.
  void set_up(Operation operation, const Size& size);
  /// Makes the next call use the first set.
  void restart() { turn_ = 0; }
  /// Saves about 16 rows of each result as the reference for difference().
  void keep_results();
  /// Largest deviation of both results from the reference, relative to its largest element.
  double difference() const;
  void poison();

  struct Shape {
    std::int64_t m, n, k;  // of the local product, if everything is gathered first
  };
  const Shape& shape() const { return shape_; }

  // The timed operations. Each enqueues one call.
  void rung(dist::TensorParallel& parallel, const dist::TensorParallelCall& call = {});
  /// Launches the call as a captured graph. Requires an earlier call of the same shape.
  void rung_in_graph(dist::TensorParallel& parallel);
  void nccl_and(bool cublas);
  void product_alone(bool cublas);
  void collective_alone();

  cuda::Event record();
  void synchronize() const;
  std::string device_name() const;
  const Cublas& cublas() const { return cublas_; }

 private:
  static constexpr std::size_t sets = 2;

  Matrix allocate(std::int64_t rows, std::int64_t cols, int seed);
  std::vector<float> some_rows() const;
  const Matrix& a() const { return a_[turn_]; }
  const Matrix& c() const { return c_[turn_]; }
  void forget_graphs();
  void end_call() { turn_ = (turn_ + 1) % sets; }
  void product(const Matrix& a, const Matrix& c, bool cublas);

  const cuda::DriverApi& driver_;
  cuda::Context context_ = nullptr;
  int rank_, ranks_;
  void* comm_;
  cuda::Stream stream_ = nullptr;
  Cublas cublas_;
  Operation operation_ = Operation::all_gather_gemm;
  Shape shape_ = {};
  std::array<Matrix, sets> a_ = {}, c_ = {};       // of the rank
  std::array<cuda::GraphExec, sets> graphs_ = {};  // null: not captured yet
  std::size_t turn_ = 0;
  Matrix b_ = {};
  std::vector<float> right_;
  Matrix gathered_ = {}, sums_ = {};  // of NCCL's calls
  std::vector<cuda::DevicePointer> memory_;
};

}  // namespace rung::dist_bench
