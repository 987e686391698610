#pragma once
// Local parts in the CPU's memory, and their products. GpuMemory has the same interface.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "dist/mpi/slices.hpp"
#include "dist/mpi/transfers.hpp"
#include "dist/mpi/views.hpp"
#include "rung/gemm.hpp"

namespace rung::dist {

/// Copies a view to contiguous memory, a column after the other.
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

class CpuMemory {
 public:
  CpuMemory(Transfers& transfers, int threads) : transfers_(transfers), threads_(threads) {}

  /// Throws Error where there is no such memory.
  static void check() {}
  /// Bytes for copies, besides what messages may take.
  static std::int64_t available() { return std::numeric_limits<std::int64_t>::max(); }

  /// Memory for messages.
  template <class T>
  T* for_messages(std::int64_t elements) {
    return reinterpret_cast<T*>(transfers_.allocate(elements * std::int64_t{sizeof(T)}));
  }
  /// A local part, without values.
  template <class T>
  MatrixView<T> allocate(std::int64_t rows, std::int64_t cols) {
    return tight(for_messages<T>(rows * cols), rows, cols);
  }
  /// A local part where the CPU reads and writes it, from there to local memory, and back to itself.
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

  /// A copy of columns to messages' memory, on its way.
  template <class T>
  struct Copying {
    bool done() const { return true; }
  };
  template <class T>
  Copying<T> copy_out(const MatrixView<const T>& from, T* to, T* /*room*/) {
    copy_columns(from, to);
    return {};
  }
  /// Whether copy_out() needs as much room besides.
  template <class T>
  static bool needs_room(const MatrixView<const T>& /*from*/) {
    return false;
  }

  /// Where products read a panel that has arrived.
  template <class T>
  class Arrived {
   public:
    MatrixView<const T> view(CpuMemory& /*memory*/, std::int64_t /*panel*/, const T* data,
                             std::int64_t rows, std::int64_t cols) {
      return tight<const T>(data, rows, cols);
    }
    /// Whether its memory for messages may be used again.
    bool is_free() const { return true; }
  };

  /// c = alpha a b + beta c, of panel number `panel`. Calls progress() at least `looks` times, unless that is 1.
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
