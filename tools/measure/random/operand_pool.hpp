#pragma once
// The memory pool of a GPU: one allocation for the largest problem, filled on the device.

#include <cstddef>
#include <memory>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/gpu.hpp"
#include "tools/measure/random/problem_pool.hpp"

namespace rung {

class OperandPool final : public ProblemPool {
 public:
  /// Memory for problems with at most this many bytes of inputs and of C.
  OperandPool(cuda::Gpu& gpu, std::size_t input_bytes, std::size_t c_bytes);

  /// Returns calls with on_device set and device pointers.
  PooledGemm bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) override;
  void reset_c(const GemmCall& call) const override;
  void download_row(std::int64_t row, std::span<std::byte> to) const override;

 private:
  void renew();
  void fill(const RandomElements& elements, std::size_t bytes);

  cuda::Gpu& gpu_;
  std::size_t input_bytes_, c_bytes_;
  std::unique_ptr<cuda::DeviceBuffer> inputs_, c_;
  const RandomElements* filled_with_ = nullptr;
  std::size_t filled_bytes_ = 0;
};

}  // namespace rung
