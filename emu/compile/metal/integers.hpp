#pragma once
// The value of an integer constant expression in a Metal file, such as the n of [[buffer(n)]].

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "emu/compile/metal/source.hpp"

namespace rung::emu::metal {

/// The file's enumerators and integer constants outside of functions.
class Integers {
 public:
  explicit Integers(const Source& source);

  /// The value of tokens [from, to); empty if it is not a sum, product, shift or the like of
  /// numbers and of
  /// names that have a value. A name in namespaces or classes counts by its last word.
  std::optional<std::int64_t> value(std::size_t from, std::size_t to) const;

 private:
  void add_enumerators(std::size_t open);
  void add_constant(std::size_t equals);

  const Source& source_;
  std::map<std::string, std::int64_t> values_;
};

}  // namespace rung::emu::metal
