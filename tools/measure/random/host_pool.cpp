#include "tools/measure/random/host_pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/dtype.hpp"

namespace rung {

HostPool::HostPool(std::size_t input_bytes, std::size_t c_bytes)
    : input_bytes_(input_bytes), inputs_(pages(input_bytes)), c_(pages(c_bytes)) {}

HostPool::Memory HostPool::pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t whole = std::max((bytes + page - 1) / page * page, page);
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(page, whole)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

PooledGemm HostPool::bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) {
  const RandomElements& elements = elements_of(dtype, input_bytes_);
  if (filled_with_ != &elements) {
    const auto once = elements.bytes();
    for (std::size_t at = 0; at < input_bytes_; at += once.size()) {
      std::memcpy(inputs_.get() + at, once.data(), std::min(once.size(), input_bytes_ - at));
    }
    filled_with_ = &elements;
  }
  return pooled(dtype, size, a_transposed, b_transposed, elements,
                reinterpret_cast<std::uintptr_t>(inputs_.get()),
                reinterpret_cast<std::uintptr_t>(c_.get()));
}

void HostPool::reset_c(const GemmCall& call) const {
  const std::size_t elements = static_cast<std::size_t>(call.m) * static_cast<std::size_t>(call.n);
  std::memset(c_.get(), initial_c(call), elements * output_bytes(call.dtype));
}

void HostPool::download_row(std::int64_t row, std::span<std::byte> to) const {
  std::memcpy(to.data(), c_.get() + static_cast<std::size_t>(row) * to.size(), to.size());
}

}  // namespace rung
