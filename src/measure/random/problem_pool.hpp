#pragma once
// Memory that all random problems share, on the device that multiplies: filling operands for each
// would take longer than the timing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/call.hpp"
#include "measure/workload.hpp"

namespace rung {

/// The random elements of one type, as bytes. Operands repeat them.
class RandomElements {
 public:
  /// At least that many elements, but not more than a period, which is a prime number so that the
  /// rows of no operand are equal.
  RandomElements(Dtype dtype, std::int64_t count);

  Dtype dtype() const { return dtype_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// T is the input type of the dtype.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  Dtype dtype_;
  std::vector<std::byte> bytes_;
};

/// A gemm in the memory of the pool.
struct PooledGemm {
  GemmCall call;
  const RandomElements* elements;  // of A and B, repeated
  std::int64_t b_begin;            // index of B's first element in the repeated elements; A's is 0
};

class ProblemPool {
 public:
  virtual ~ProblemPool() = default;

  /// The bytes of the inputs of a problem.
  static std::size_t input_bytes(const Size& size, Dtype dtype);

  /// C = A B, all stored row by row except transposed inputs. C is undefined. Each operand begins
  /// at a multiple of 256 bytes. Until the next call of bind() for another dtype, and while no
  /// kernel fails, A and B keep their values. Throws cuda::DriverError and std::bad_alloc.
  virtual PooledGemm bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) = 0;
  /// Sets every element of the problem's C to 0 or, with beta = 0, which must not read it, every byte to
  /// 0xff: NaN in floating-point types.
  virtual void reset_c(const GemmCall& call) const = 0;
  /// Copies that row of C, whose size is that of `to`, to the host.
  virtual void download_row(std::int64_t row, std::span<std::byte> to) const = 0;

 protected:
  /// The elements for inputs of so many bytes; made once for each type.
  const RandomElements& elements_of(Dtype dtype, std::size_t bytes);
  static unsigned char initial_c(const GemmCall& call) { return call.beta == 0 ? 0xff : 0; }
  static PooledGemm pooled(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed,
                           const RandomElements& elements, std::uintptr_t inputs, std::uintptr_t c);

 private:
  std::map<Dtype, RandomElements> elements_;
};

}  // namespace rung
