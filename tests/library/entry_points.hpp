#pragma once
// Every function of rung.h that computes on CPUs, with uniform operands, for tests that all of them
// must pass: options, lack of memory, and guard pages.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rung/rung.h"

namespace rung::entry {

/// `count` products of m x n x k, or one of them, or a dot product of length k. A function that
/// needs other layouts, or a k of whole groups of weights, uses those instead.
struct Problem {
  std::int64_t m, n, k, count = 1;
  double alpha = 1, beta = 0;
  bool a_by_columns = false, b_by_columns = false, c_by_columns = false;
  std::int64_t padding = 0;  // elements between rows or columns
  bool integers = true;      // from -3 to 3, with exact sums; otherwise reals from -1 to 1
  std::uint64_t seed = 1;
};

/// Allocates memory for an operand.
using Allocate = std::function<std::byte*(std::size_t bytes)>;

struct Call {
  std::function<rung_status(int threads, int mode)> run;
  std::vector<std::span<std::byte>> inputs;
  std::span<std::byte> result;
  /// The results without padding, by [product][row][column].
  std::function<std::vector<double>()> values;
};

struct EntryPoint {
  const char* function;  // name in rung.h
  std::string variant;   // the types, and the path
  /// The function with the same types that computes one product per call with the same bits, unless
  /// beta is given (rung_gemm). Null for functions with separate rules.
  const EntryPoint* reference;
  std::function<Call(const Problem&, const Allocate&)> make;

  std::string name() const { return std::string(function) + " " + variant; }
};

std::span<const EntryPoint> entry_points();

/// Allocates memory that lives until the program ends.
std::byte* allocate(std::size_t bytes);

}  // namespace rung::entry
