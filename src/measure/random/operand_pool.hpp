#pragma once
// Device memory that all random problems share: one allocation for the largest, because filling
// and uploading operands for each would take longer than the timing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/gpu.hpp"
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
  GemmCall call;                   // on_device: its pointers are the device's
  const RandomElements* elements;  // of A and B, repeated
  std::int64_t b_begin;            // index of B's first element in the repeated elements; A's is 0
};

class OperandPool {
 public:
  /// Room for problems whose inputs, and whose C, take at most that many bytes.
  OperandPool(cuda::Gpu& gpu, std::size_t input_bytes, std::size_t c_bytes);

  /// The bytes that the constructor needs for a problem.
  static std::size_t input_bytes(const Size& size, Dtype dtype);

  /// C = A B, all stored row by row except transposed inputs. C is undefined. Each operand begins
  /// at a multiple of 256 bytes. Until the next call of bind() for another dtype, and while no
  /// kernel fails, A and B keep their values. Throws cuda::DriverError and std::bad_alloc.
  PooledGemm bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed);
  /// Sets every byte of the problem's C to 0xff: NaN in floating-point types.
  void poison_c(const GemmCall& call) const;
  /// Copies that row of C, whose size is that of `to`, to the host.
  void download_row(std::int64_t row, std::span<std::byte> to) const;

 private:
  void renew();
  void fill(const RandomElements& elements, std::size_t bytes);

  cuda::Gpu& gpu_;
  std::size_t input_bytes_, c_bytes_;
  std::unique_ptr<cuda::DeviceBuffer> inputs_, c_;
  std::map<Dtype, RandomElements> elements_;
  const RandomElements* filled_with_ = nullptr;
  std::size_t filled_bytes_ = 0;
};

}  // namespace rung
