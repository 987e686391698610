#pragma once
// Local products of matrices whose types are known at run time, and the memory layout of their
// rows.

#include <cstdint>

#include "library/dist/nccl/block.hpp"
#include "rung/any_matrix.hpp"
#include "rung/cuda_stream.hpp"

namespace rung::nccl {

/// C = alpha A B + beta C, plus addend if there is one.
struct Product {
  double alpha = 1;
  InputMatrix a, b;
  double beta = 0;
  OutputMatrix c;
  InputMatrix addend = {};
};

void multiply(const Product& product, CudaStream stream, const CudaOptions& options = {});

/// Computes C = beta C + addend.
void add(const InputMatrix& addend, double beta, const OutputMatrix& c, CudaStream stream);

std::int64_t bytes_of(ElementType type);

template <class Pointer>
Pointer advanced(Pointer data, std::int64_t bytes) {
  return reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(data) +
                                   static_cast<std::uintptr_t>(bytes));
}

template <class Pointer>
AnyMatrixView<Pointer> rows(AnyMatrixView<Pointer> view, std::int64_t first, std::int64_t count) {
  const std::int64_t distance = view.order == Order::row_major ? first * view.ld : first;
  view.data = advanced(view.data, distance * bytes_of(view.type));
  view.rows = count;
  return view;
}

inline InputMatrix read_only(const OutputMatrix& view) {
  return {view.data, view.type, view.rows, view.cols, view.ld, view.order};
}

template <class Pointer>
Block block_of(const AnyMatrixView<Pointer>& view) {
  const bool by_rows = view.order == Order::row_major;
  const std::int64_t element = bytes_of(view.type);
  return {reinterpret_cast<cuda::DevicePointer>(view.data), by_rows ? view.rows : view.cols,
          (by_rows ? view.cols : view.rows) * element, view.ld * element};
}

}  // namespace rung::nccl
