#pragma once
// The memory pool of the CPU: one allocation for the largest problem.

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "tools/measure/random/problem_pool.hpp"

namespace rung {

class HostPool final : public ProblemPool {
 public:
  /// Allocates memory for problems with at most this many bytes of inputs and of C. Throws
  /// std::bad_alloc.
  HostPool(std::size_t input_bytes, std::size_t c_bytes);

  PooledGemm bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) override;
  void reset_c(const GemmCall& call) const override;
  void download_row(std::int64_t row, std::span<std::byte> to) const override;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  static Memory pages(std::size_t bytes);

  std::size_t input_bytes_;
  Memory inputs_, c_;
  const RandomElements* filled_with_ = nullptr;
};

}  // namespace rung
