#pragma once
// Finds the products that a kernel adds up in a result, by running it on other operands: a sum of
// products is linear in A and in B, so a few runs tell how often it takes each element.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/learn/compile.hpp"
#include "tools/learn/exercise.hpp"

namespace rung::learn {

/// A product of two elements, by their indices in the operands, and how often it is added.
struct Term {
  int a = 0, b = 0;
  int times = 1;

  bool operator==(const Term&) const = default;
};

/// The terms of element `result` of C, by ascending b. For vectors, the terms of the sum of all
/// results: x[i] y[i] for the elements of x that are used. Empty if the result is no sum of products.
std::optional<std::vector<Term>> terms_of(const Code& code, const Size& size, std::size_t result);

}  // namespace rung::learn
