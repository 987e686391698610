#pragma once
// Device or host memory shared by all random problems: filling operands for each problem would take
// longer than the timing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/call.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

/// Random elements of one data type, as bytes. Operands repeat them periodically.
class RandomElements {
 public:
  /// At least `count` elements, but at most one period, which is prime so that no operand has equal
  /// rows.
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

/// A GEMM in the pool's memory.
struct PooledGemm {
  GemmCall call;
  const RandomElements* elements;  // of A and B, repeated
  std::int64_t b_begin;            // index of B's first element in the repeated sequence; A's is 0
};

class ProblemPool {
 public:
  virtual ~ProblemPool() = default;

  /// The number of bytes of a problem's inputs.
  static std::size_t input_bytes(const Size& size, Dtype dtype);

  /// C = A B, row-major except transposed inputs. C is undefined. Operands are aligned to 256
  /// bytes. A and B keep their values until bind() is called for another dtype or a kernel fails.
  /// Throws cuda::DriverError and std::bad_alloc.
  virtual PooledGemm bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) = 0;
  /// Sets all elements of C to 0. If beta = 0, in which case C must not be read, sets all bytes to
  /// 0xff instead: NaN in floating-point types.
  virtual void reset_c(const GemmCall& call) const = 0;
  /// Copies a row of C to the host. `to` has the size of the row.
  virtual void download_row(std::int64_t row, std::span<std::byte> to) const = 0;

 protected:
  /// The elements for inputs of this number of bytes; generated once per data type.
  const RandomElements& elements_of(Dtype dtype, std::size_t bytes);
  static unsigned char initial_c(const GemmCall& call) { return call.beta == 0 ? 0xff : 0; }
  static PooledGemm pooled(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed,
                           const RandomElements& elements, std::uintptr_t inputs, std::uintptr_t c);

 private:
  std::map<Dtype, RandomElements> elements_;
};

}  // namespace rung
