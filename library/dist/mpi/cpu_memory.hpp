#pragma once
// Local parts in host memory, and products of them. GpuMemory has the same interface.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "library/dist/mpi/transfers.hpp"
#include "library/dist/mpi/views.hpp"
#include "rung/gemm.hpp"

namespace rung::dist {

/// Copies a view to contiguous memory, column by column.
template <class T>
void copy_columns(const MatrixView<const T>& from, T* to) {
  const std::int64_t distance = from.order == Order::row_major ? from.ld : 1;
  for (std::int64_t col = 0; col < from.cols; ++col) {
    const T* const line = &element(from, 0, col);
    if (distance == 1) {
      to = std::copy_n(line, from.rows, to);
    } else {
      for (std::int64_t row = 0; row < from.rows; ++row) *to++ = line[row * distance];
    }
  }
}

/// The smallest sufficient number of slices, because operands are packed again for each slice. On a
/// Xeon, slices of 4096 x 128 take 1.2 times as long as the whole product.
struct Slices {
  std::int64_t rows, cols;

  /// At least `looks` slices, each with at most `max_work` multiply-adds and roughly square.
  static Slices of(std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t looks) {
    constexpr std::int64_t max_work = std::int64_t{1} << 31;  // about 50 ms of a core in f64
    constexpr std::int64_t least = 64;
    Slices slices = {std::max<std::int64_t>(rows, 1), std::max<std::int64_t>(cols, 1)};
    for (std::int64_t count = 1; count < looks || slices.rows * slices.cols * depth > max_work;
         count *= 2) {
      std::int64_t& longer = slices.rows > slices.cols ? slices.rows : slices.cols;
      if (longer <= least) break;
      longer = (longer / 2 + least - 1) / least * least;
    }
    return slices;
  }
};

class CpuMemory {
 public:
  CpuMemory(Transfers& transfers, int threads) : transfers_(transfers), threads_(threads) {}

  /// Throws Error if this kind of memory is not available.
  static void check() {}
  /// Bytes available for copies, in addition to message buffers.
  static std::int64_t available() { return std::numeric_limits<std::int64_t>::max(); }

  /// Allocates a message buffer.
  template <class T>
  T* for_messages(std::int64_t elements) {
    return reinterpret_cast<T*>(transfers_.allocate(elements * std::int64_t{sizeof(T)}));
  }
  /// Allocates an uninitialized local part.
  template <class T>
  MatrixView<T> allocate(std::int64_t rows, std::int64_t cols) {
    return tight(for_messages<T>(rows * cols), rows, cols);
  }
  /// A local part that the CPU can access, its copy back to local memory, and the write-back to the
  /// part itself.
  template <class T>
  MatrixView<T> on_cpu(const MatrixView<T>& local) {
    return local;
  }
  template <class T>
  MatrixView<T> from_cpu(const MatrixView<T>& view) {
    return view;
  }
  template <class T>
  void write_back(const MatrixView<T>& /*from*/, const MatrixView<T>& /*local*/) {}

  /// A copy of columns to a message buffer, which may be asynchronous.
  template <class T>
  struct Copying {
    bool done() const { return true; }
  };
  template <class T>
  Copying<T> copy_out(const MatrixView<const T>& from, T* to, T* /*room*/) {
    copy_columns(from, to);
    return {};
  }
  /// True if copy_out() needs a second buffer of the same size.
  template <class T>
  static bool needs_room(const MatrixView<const T>& /*from*/) {
    return false;
  }

  /// A panel that has arrived, as products read it.
  template <class T>
  class Arrived {
   public:
    MatrixView<const T> view(CpuMemory& /*memory*/, std::int64_t /*panel*/, const T* data,
                             std::int64_t rows, std::int64_t cols) {
      return tight<const T>(data, rows, cols);
    }
    /// True if the panel's message buffer may be reused.
    bool is_free() const { return true; }
  };

  /// Computes c = alpha a b + beta c for panel number `panel`. Calls progress() at least `looks`
  /// times, unless `looks` is 1.
  template <class In, class Out, class Progress>
  void multiply(std::int64_t /*panel*/, Out alpha, const MatrixView<const In>& a,
                const MatrixView<const In>& b, Out beta, const MatrixView<Out>& c,
                std::int64_t looks, const Progress& progress) {
    const Slices slices =
        looks == 1 ? Slices{c.rows, c.cols} : Slices::of(c.rows, c.cols, a.cols, looks);
    for (std::int64_t j = 0; j < c.cols; j += slices.cols) {
      const std::int64_t cols = std::min(slices.cols, c.cols - j);
      for (std::int64_t i = 0; i < c.rows; i += slices.rows) {
        const std::int64_t some = std::min(slices.rows, c.rows - i);
        gemm(alpha, rows(a, i, some), columns(b, j, cols), beta, rows(columns(c, j, cols), i, some),
             {.threads = threads_});
        progress();
      }
    }
  }
  void finish() {}

 private:
  Transfers& transfers_;
  int threads_;
};

}  // namespace rung::dist
