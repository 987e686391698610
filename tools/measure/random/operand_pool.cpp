#include "tools/measure/random/operand_pool.hpp"

#include <algorithm>

#include "core/cuda_driver/error.hpp"
#include "core/dtype.hpp"

namespace rung {

OperandPool::OperandPool(cuda::Gpu& gpu, std::size_t input_bytes, std::size_t c_bytes)
    : gpu_(gpu), input_bytes_(input_bytes), c_bytes_(c_bytes) {}

// Allocates memory initially, and again after a failed kernel has destroyed the context.
void OperandPool::renew() {
  gpu_.make_current();
  if (inputs_ != nullptr && inputs_->is_present()) return;
  filled_with_ = nullptr;
  inputs_ = std::make_unique<cuda::DeviceBuffer>(gpu_, input_bytes_);
  c_ = std::make_unique<cuda::DeviceBuffer>(gpu_, c_bytes_);
}

// Uploads the elements once, then repeatedly doubles them on the device.
void OperandPool::fill(const RandomElements& elements, std::size_t bytes) {
  const cuda::DriverApi& api = gpu_.api();
  const cuda::DevicePointer begin = inputs_->address();
  const std::size_t once = elements.bytes().size();
  if (filled_with_ != &elements) {
    check(api, api.cuMemcpyHtoD(begin, elements.bytes().data(), once), "cuMemcpyHtoD");
    filled_bytes_ = once;
    filled_with_ = &elements;
  }
  while (filled_bytes_ < bytes) {
    // Copies from a position that continues the periodic sequence.
    const std::size_t whole = filled_bytes_ / once * once;
    const std::size_t from = filled_bytes_ - whole;
    const std::size_t count = std::min(bytes - filled_bytes_, whole - from);
    check(api, api.cuMemcpyDtoD(begin + filled_bytes_, begin + from, count), "cuMemcpyDtoD");
    filled_bytes_ += count;
  }
}

PooledGemm OperandPool::bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) {
  renew();
  const RandomElements& elements = elements_of(dtype, input_bytes_);
  fill(elements, input_bytes(size, dtype));
  PooledGemm problem =
      pooled(dtype, size, a_transposed, b_transposed, elements, inputs_->address(), c_->address());
  problem.call.on_device = true;
  return problem;
}

void OperandPool::reset_c(const GemmCall& call) const {
  const std::size_t bytes = static_cast<std::size_t>(call.m) * static_cast<std::size_t>(call.n) *
                            output_bytes(call.dtype);
  check(gpu_.api(), gpu_.api().cuMemsetD8(c_->address(), initial_c(call), bytes), "cuMemsetD8");
}

void OperandPool::download_row(std::int64_t row, std::span<std::byte> to) const {
  const auto from = static_cast<std::size_t>(row) * to.size();
  check(gpu_.api(), gpu_.api().cuMemcpyDtoH(to.data(), c_->address() + from, to.size()),
        "cuMemcpyDtoH");
}

}  // namespace rung
