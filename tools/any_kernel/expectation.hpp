#pragma once
// Expected results of a kernel, and their verification.
//
//   C = A B              a product; also A^T, B^T, a factor (2 A B, alpha A B) and + beta C, whose C is the
//                        one before the launch. A matrix of one dimension is a column
//   r = dot(x, y)        also with a factor
//   r = sum(x)
//   C=ref.npy            within a tolerance
//
// The left-hand side may also be one element, r[0], or sum(r), for partial results.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/any_kernel/values.hpp"

namespace rung::any_kernel {

struct Operand {
  std::string name;
  bool transposed = false;
};

/// A factor: a number, or the name of a parameter.
struct Factor {
  double number = 1;
  std::string name;
};

struct Expectation {
  enum class Kind : std::uint8_t { product, dot, sum, file };

  std::string text;  // as the user wrote it
  std::string result;
  std::optional<std::int64_t> element;  // only this one
  bool sums_result = false;
  Kind kind = Kind::product;
  std::vector<Operand> operands;
  Factor alpha;
  std::optional<Factor> beta;
  std::string path;  // of kind file
};

/// Throws ArgumentError.
Expectation parse_expectation(const std::string& text);

struct Tolerance {
  std::optional<double> relative, absolute;  // by type where not given
};

/// Arrays and numbers by the names of parameters. Arrays are those before the launch, but for the result.
struct Operands {
  std::function<const Array&(const std::string&)> before, after;  // throw ArgumentError
  std::function<double(const std::string&)> number;
};

struct Judgement {
  bool right = false;
  double max_error_ratio = 0;  // |got - expected| / bound, at most 1 if right
  std::string message;         // one line
};

/// The shape of the result, from those of the operands. Throws ArgumentError if they do not fit.
Shape result_shape(const Expectation& expected, const Operands& operands);

/// The bound of each element is that of `rung verify` (core/verify.hpp); integers must be exact. Throws
/// ArgumentError.
Judgement judge(const Expectation& expected, const Operands& operands, const Tolerance& tolerance);

}  // namespace rung::any_kernel
