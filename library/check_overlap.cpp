#include "library/check_overlap.hpp"

#include <algorithm>
#include <string>

#include "core/dtype.hpp"
#include "rung/error.hpp"

namespace rung::check {
namespace {

/// a / b rounded down, for b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::int64_t distance(const void* from, const void* to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) -
                                   reinterpret_cast<std::uintptr_t>(from));
}

Region moved(Region region, std::int64_t bytes) {
  region.begin = static_cast<const char*>(region.begin) + bytes;
  return region;
}

struct Range {
  std::int64_t first, last;
};

/// The integers t for which [t step, t step + x) and [offset, offset + y) intersect.
Range meeting(std::int64_t step, std::int64_t x, std::int64_t offset, std::int64_t y) {
  return {floor_div(offset - x, step) + 1, -floor_div(-(offset + y), step) - 1};
}

std::int64_t bytes_of_matrix(const Region& x) { return (x.lines - 1) * x.pitch + x.length; }
std::int64_t bytes_of(const Region& x) { return (x.matrices - 1) * x.step + bytes_of_matrix(x); }

/// True if two matrices with a common pitch share a byte.
bool lines_overlap(const Region& x, const Region& y, std::int64_t pitch) {
  // Line i of x and line j of y share a byte if i - j is in the range.
  const Range t = meeting(pitch, x.length, distance(x.begin, y.begin), y.length);
  return std::max(t.first, 1 - y.lines) <= std::min(t.last, x.lines - 1);
}

bool matrices_overlap(const Region& x, const Region& y) {
  if (x.lines > y.lines) return matrices_overlap(y, x);
  if (y.lines == 1) return lines_overlap(x, y, std::max(x.length, y.length));
  if (x.pitch == y.pitch) return lines_overlap(x, y, y.pitch);
  for (std::int64_t i = 0; i < x.lines; ++i) {
    const Region line = {.begin = moved(x, i * x.pitch).begin, .length = x.length};
    if (lines_overlap(line, y, y.pitch)) return true;
  }
  return false;
}

/// The bytes from the first element of an operand to its last.
struct Span {
  std::uintptr_t begin;
  std::int64_t bytes;
};

template <class Pointer>
Span span_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
             std::int64_t element_bytes, std::int64_t batch) {
  const std::int64_t elements = (rows - 1) * matrix.row_stride + (cols - 1) * matrix.col_stride +
                                (batch - 1) * matrix.batch_stride + 1;
  return {reinterpret_cast<std::uintptr_t>(matrix.data), elements * element_bytes};
}

bool share_bytes(const Span& x, const Span& y) {
  return static_cast<std::int64_t>(y.begin - x.begin) < x.bytes &&
         static_cast<std::int64_t>(x.begin - y.begin) < y.bytes;
}

bool is_empty(const Region& x) { return x.length <= 0 || x.lines <= 0 || x.matrices <= 0; }

}  // namespace

bool overlap(const Region& x, const Region& y) {
  if (is_empty(x) || is_empty(y)) return false;
  const std::int64_t offset = distance(x.begin, y.begin);
  if (offset >= bytes_of(x) || -offset >= bytes_of(y)) return false;
  for (std::int64_t i = 0; i < x.matrices; ++i) {
    const Region one = moved(x, i * x.step);
    Range j = {0, 0};
    if (y.step > 0) {
      j = meeting(y.step, bytes_of_matrix(y), distance(y.begin, one.begin), bytes_of_matrix(x));
      j = {std::max<std::int64_t>(j.first, 0), std::min(j.last, y.matrices - 1)};
    }
    for (; j.first <= j.last; ++j.first) {
      if (matrices_overlap(one, moved(y, j.first * y.step))) return true;
    }
    if (x.step == 0) break;
  }
  return false;
}

void apart(const char* op, const char* written, const Region& target, const char* operand,
           const Region& source) {
  if (!overlap(target, source)) [[likely]]
    return;
  throw Error(Status::invalid_argument, "rung: " + std::string(op) + ": " + written + " overlaps " +
                                            operand + "; it must have memory of its own");
}

void apart(const char* op, const GemmCall& call, std::int64_t a_bytes, std::int64_t b_bytes) {
  if (call.c.pointers != nullptr) return;
  const auto c_bytes = static_cast<std::int64_t>(output_bytes(call.dtype));
  // Nearly all calls: the lines and matrices need no look where the whole ranges are apart.
  const Span whole = span_of(call.c, call.m, call.n, c_bytes, call.batch);
  if (!share_bytes(whole, span_of(call.a, call.m, call.k, a_bytes, call.batch)) &&
      !share_bytes(whole, span_of(call.b, call.k, call.n, b_bytes, call.batch))) [[likely]] {
    return;
  }
  const Region c = region_of(call.c, call.m, call.n, c_bytes, call.batch);
  // A column-major C exchanges A and B in the canonical problem.
  constexpr const char* name = "A or B";
  if (call.a.pointers == nullptr) {
    apart(op, "C", c, name, region_of(call.a, call.m, call.k, a_bytes, call.batch));
  }
  if (call.b.pointers == nullptr) {
    apart(op, "C", c, name, region_of(call.b, call.k, call.n, b_bytes, call.batch));
  }
}

void apart(const char* op, const GemmCall& call) {
  const auto bytes = static_cast<std::int64_t>(input_bytes(call.dtype));
  apart(op, call, bytes, bytes);
}

}  // namespace rung::check
