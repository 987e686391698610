#pragma once
// cuBLAS and NCCL, opened at run time: what the library is compared with.

#include <cstddef>
#include <vector>

#include "core/cuda_driver/types.hpp"
#include "rung/matrix.hpp"
#include "rung/types.hpp"

namespace rung::dist_bench {

/// One communicator for each of the GPUs 0 to count - 1, of this process. Throws std::runtime_error.
std::vector<void*> make_nccl_comms(int count);
int nccl_version();
/// `count` elements of each rank; of a sum.
void nccl_all_gather(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                     cuda::Stream stream);
void nccl_reduce_scatter(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                         cuda::Stream stream);
void nccl_all_reduce(const bfloat16* from, bfloat16* to, std::size_t count, void* comm,
                     cuda::Stream stream);

/// cuBLAS on the current context.
class Cublas {
 public:
  Cublas();
  int version() const;
  /// C = A B, row-major.
  void gemm(const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
            const MatrixView<bfloat16>& c, cuda::Stream stream) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace rung::dist_bench
