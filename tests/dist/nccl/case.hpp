#pragma once
// A tensor parallel product to test, and its operands on each rank: small integers, whose sums are
// exact in every type and order.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../library/cuda/product.hpp"
#include "library/dist/nccl/product.hpp"
#include "rung/nccl.hpp"

namespace rung::nccl {

using dist::Schedule, dist::TensorParallel, dist::Transport;

enum class Kind { all_gather, reduce_scatter, all_reduce };

struct Case {
  Kind kind = Kind::all_gather;
  int ranks = 2;
  std::int64_t m = 0, n = 0, k = 0;  // sizes of the whole product
  Transport transport = Transport::nccl;
  Schedule schedule = Schedule::overlapped;
  int chunks = 1;
  ElementType in = ElementType::bf16, out = ElementType::bf16;
  Order a = Order::row_major, b = Order::row_major, c = Order::row_major;
  std::int64_t padding = 0;
  double alpha = 1, beta = 0;
  int calls = 2;

  std::string text() const;
};

/// Elements of the whole operands.
double a_of(std::int64_t i, std::int64_t p);
double b_of(std::int64_t p, std::int64_t j);
double c_of(std::int64_t i, std::int64_t j);
/// An element of the result.
double result_of(const Case& o, std::int64_t i, std::int64_t j);

/// A part of a matrix on a rank's device, with guard elements between its lines.
class DevicePart {
 public:
  using Element = double(std::int64_t, std::int64_t);

  DevicePart(ElementType type, std::int64_t first_row, std::int64_t first_col, std::int64_t rows,
             std::int64_t cols, Order order, std::int64_t padding, Element* element);

  const OutputMatrix& view() const { return view_; }
  InputMatrix input() const { return read_only(view_); }
  void reset() { memory_->write(before_); }
  /// The first byte with an unexpected value, between lines, too. Zeros may have either sign.
  std::string difference(const std::function<Element>& expected);

 private:
  std::size_t at(std::int64_t i, std::int64_t j) const;
  void make_zero_positive(unsigned char* element) const;
  void put(std::int64_t i, std::int64_t j, double value);

  std::int64_t first_row_, first_col_;
  OutputMatrix view_;
  std::vector<unsigned char> bytes_, before_;
  std::unique_ptr<cuda::DeviceArray<unsigned char>> memory_;
};

/// A rank's matrices of a case.
struct Operands {
  Operands(const Case& o, int rank);

  std::pair<std::int64_t, std::int64_t> rows_of_c, cols_of_c, inner, rows_of_a;
  DevicePart a, b, c;

  /// Describes the first wrong element of C; empty if C is right.
  std::string difference();

 private:
  Case case_;
};

/// Calls the library with the case's options.
void call(TensorParallel& parallel, const Case& o, const Operands& operands, cuda::Stream stream,
          std::vector<dist::TimelineSpan>* timeline = nullptr);

}  // namespace rung::nccl
