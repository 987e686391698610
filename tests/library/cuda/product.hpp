#pragma once
// Products and dots of small integers in device memory: every partial sum is exact, so the right
// result is known to the bit for any rung. Guards surround every operand.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "rung/rung.hpp"

namespace rung::cuda {

/// Throws std::runtime_error with the driver's name for the error.
inline void demand(const DriverApi& api, Result result, const char* call) {
  if (result == Result::success) return;
  const char* name = "?";
  api.cuGetErrorName(result, &name);
  throw std::runtime_error(std::string(call) + ": " + name);
}

/// The offset of an operand and the padding of its leading dimension, in elements, and its guards:
/// bytes of a known pattern around it, or the ends of the allocation.
struct Placement {
  std::int64_t offset = 0;
  std::int64_t padding = 0;
  bool is_guarded = true;
};

/// Elements in device memory, between guards.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const DriverApi& api, const std::vector<T>& values, Placement placement = {})
      : api_(api),
        count_(values.size()),
        before_((placement.is_guarded ? guard_bytes : 0) +
                static_cast<std::size_t>(placement.offset) * sizeof(T)),
        bytes_(before_ + count_ * sizeof(T) + (placement.is_guarded ? guard_bytes : 0)) {
    demand(api, api.cuMemAlloc(&base_, bytes_), "cuMemAlloc");
    demand(api, api.cuMemsetD8(base_, pattern, bytes_), "cuMemsetD8");
    write(values);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { api_.cuMemFree(base_); }

  T* data() const { return reinterpret_cast<T*>(base_ + before_); }
  void write(const std::vector<T>& values) {
    demand(api_, api_.cuMemcpyHtoD(base_ + before_, values.data(), count_ * sizeof(T)),
           "cuMemcpyHtoD");
  }
  /// Reads the elements. Throws std::runtime_error if a guard has changed.
  std::vector<T> read() const {
    std::vector<unsigned char> all(bytes_);
    demand(api_, api_.cuMemcpyDtoH(all.data(), base_, bytes_), "cuMemcpyDtoH");
    for (std::size_t i = 0; i < bytes_; ++i) {
      const bool is_element = i >= before_ && i < before_ + count_ * sizeof(T);
      if (!is_element && all[i] != pattern) throw std::runtime_error("a guard was overwritten");
    }
    std::vector<T> values(count_);
    const auto* const from = reinterpret_cast<const T*>(all.data() + before_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = from[i];
    return values;
  }

 private:
  static constexpr std::size_t guard_bytes = 512;
  static constexpr unsigned char pattern = 0xA5;

  const DriverApi& api_;
  std::size_t count_, before_, bytes_;
  DevicePointer base_ = 0;
};

/// The number to compare: 16-bit elements by their value.
template <class T>
double value_of(T element) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(element);
  } else {
    return static_cast<double>(static_cast<float>(element));
  }
}

template <class T>
T element(std::int64_t value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

struct ProductShape {
  std::int64_t m, n, k;
  Order a = Order::row_major, b = Order::row_major;
  Placement placement = {};
  int seed = 0;
};

/// C = A * B. The device memory belongs to the context that is current in the constructor.
template <class In, class Out>
class Product {
 public:
  Product(const DriverApi& api, const ProductShape& shape)
      : shape_(shape),
        expected_(static_cast<std::size_t>(shape.m * ld_of_c())),
        a_(api, stored(shape.m, shape.k, shape.a, a_of), shape.placement),
        b_(api, stored(shape.k, shape.n, shape.b, b_of), shape.placement),
        c_(api, expected_, shape.placement) {
    poison();
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < ld_of_c(); ++j) {
        const auto at = static_cast<std::size_t>(i * ld_of_c() + j);
        expected_[at] = j < shape.n ? element<Out>(sum(i, j)) : element<Out>(untouched);
      }
    }
  }

  void run(CudaStream stream, const CudaOptions& options = {}) const {
    using Scale =
        std::conditional_t<std::is_same_v<Out, double> || std::is_same_v<Out, int>, Out, float>;
    gemm(Scale{1}, view(a_, shape_.m, shape_.k, shape_.a), view(b_, shape_.k, shape_.n, shape_.b),
         Scale{0}, MatrixView<Out>{c_.data(), shape_.m, shape_.n, ld_of_c(), Order::row_major},
         stream, options);
  }
  /// C = -C, by the kernel that only scales.
  void negate(CudaStream stream) const {
    using Scale =
        std::conditional_t<std::is_same_v<Out, double> || std::is_same_v<Out, int>, Out, float>;
    gemm(Scale{0}, view(a_, shape_.m, shape_.k, shape_.a), view(b_, shape_.k, shape_.n, shape_.b),
         Scale{-1}, MatrixView<Out>{c_.data(), shape_.m, shape_.n, ld_of_c(), Order::row_major},
         stream);
  }
  void poison() { c_.write(std::vector<Out>(expected_.size(), element<Out>(untouched))); }
  /// Checks completed work. Throws std::runtime_error if a guard, or an element between rows, has
  /// changed.
  bool is_right() const {
    return is([&](std::size_t i) { return value_of(expected_[i]); });
  }
  bool is_poison_negated() const {
    return is([&](std::size_t i) {
      const bool is_padding = static_cast<std::int64_t>(i) % ld_of_c() >= shape_.n;
      return static_cast<double>(is_padding ? untouched : -untouched);
    });
  }

 private:
  static constexpr std::int64_t untouched = 77;

  template <class Expected>
  bool is(const Expected& expected) const {
    a_.read();
    b_.read();
    const std::vector<Out> got = c_.read();
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (value_of(got[i]) != expected(i)) return false;
    }
    return true;
  }
  std::int64_t ld_of_c() const { return shape_.n + shape_.placement.padding; }
  static std::int64_t a_of(std::int64_t i, std::int64_t p, int seed) {
    return (i * 7 + p * 3 + seed) % 5 - 2;
  }
  static std::int64_t b_of(std::int64_t p, std::int64_t j, int seed) {
    return (p * 5 + j * 11 + 2 * seed) % 4 - 1;
  }
  std::int64_t sum(std::int64_t i, std::int64_t j) const {
    std::int64_t total = 0;
    for (std::int64_t p = 0; p < shape_.k; ++p) {
      total += a_of(i, p, shape_.seed) * b_of(p, j, shape_.seed);
    }
    return total;
  }
  std::int64_t ld(std::int64_t rows, std::int64_t cols, Order order) const {
    return (order == Order::row_major ? cols : rows) + shape_.placement.padding;
  }
  template <class F>
  std::vector<In> stored(std::int64_t rows, std::int64_t cols, Order order, const F& f) const {
    const std::int64_t lines = order == Order::row_major ? rows : cols;
    const std::int64_t width = ld(rows, cols, order);
    std::vector<In> values(static_cast<std::size_t>(lines * width), element<In>(1));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        const std::int64_t at = order == Order::row_major ? i * width + j : j * width + i;
        values[static_cast<std::size_t>(at)] = element<In>(f(i, j, shape_.seed));
      }
    }
    return values;
  }
  MatrixView<const In> view(const DeviceArray<In>& array, std::int64_t rows, std::int64_t cols,
                            Order order) const {
    return {array.data(), rows, cols, ld(rows, cols, order), order};
  }

  ProductShape shape_;
  std::vector<Out> expected_;
  DeviceArray<In> a_, b_;
  DeviceArray<Out> c_;
};

/// x and y of n small integers each, and their dot product.
template <class T, class Out>
class DotProduct {
 public:
  DotProduct(const DriverApi& api, std::int64_t n, int seed = 0, Placement placement = {})
      : n_(n),
        x_(api, values(n, seed), placement),
        y_(api, values(n, seed + 1), placement),
        result_(api, std::vector<Out>(1), {.is_guarded = placement.is_guarded}) {
    for (std::int64_t i = 0; i < n; ++i) {
      expected_ += static_cast<Out>(value(i, seed) * value(i, seed + 1));
    }
  }

  void run(CudaStream stream, const CudaDotOptions& options = {}) const {
    dot(n_, x_.data(), 1, y_.data(), 1, result_.data(), stream, options);
  }
  Out returned(CudaStream stream, const CudaDotOptions& options = {}) const {
    return dot(n_, x_.data(), 1, y_.data(), 1, stream, options);
  }
  void poison() { result_.write({Out{-1}}); }
  bool is_right() const { return result_.read().front() == expected_; }
  Out expected() const { return expected_; }

 private:
  static std::int64_t value(std::int64_t i, int seed) { return (i * 3 + seed) % 4; }
  static std::vector<T> values(std::int64_t n, int seed) {
    std::vector<T> made(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      made[static_cast<std::size_t>(i)] = element<T>(value(i, seed));
    }
    return made;
  }

  std::int64_t n_;
  DeviceArray<T> x_, y_;
  DeviceArray<Out> result_;
  Out expected_ = 0;
};

}  // namespace rung::cuda
