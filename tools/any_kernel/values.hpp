#pragma once
// The values of arguments, as text on the command line and as bytes.
//
//   40  1.5,2,3  true                numbers
//   M:40,N:24,K:33                   the fields of a struct; *:0 for all others
//   x:rand:24x33,y:out:24            the arrays of its pointers and textures
//   rand:24x33  iota:100:int         an array: what fills it, its shape, its type if the kernel does not say
//   zeros:4  7:4  nan:4  out:24x40   out is memory without a value, which the kernel writes
//   @x.npy  x.npy                    a file of NumPy's
//   shared:4096                      bytes of threadgroup memory
//   null                             a null pointer

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/any_kernel/types.hpp"

namespace rung::any_kernel {

using Shape = std::vector<std::int64_t>;

/// "24x33"
std::string to_text(const Shape& shape);
std::int64_t count(const Shape& shape);

/// Fills memory that has no value: NaN in every real type.
inline constexpr std::byte poison{0xFF};

struct ValueText {
  enum class Kind : std::uint8_t { numbers, fields, fill, file, shared, null };

  Kind kind = Kind::numbers;
  std::string text;                  // all of it, for messages
  std::vector<std::string> numbers;  // of kind numbers; of kind fill the number that fills, if any
  std::vector<std::pair<std::string, std::string>> fields;
  std::string fill;  // "rand", "iota", "number", "out"
  Shape shape;       // of kind fill; empty if not given
  std::string type;  // of kind fill; empty if not given
  std::string path;
  std::int64_t bytes = 0;  // of kind shared

  bool is_out() const { return kind == Kind::fill && fill == "out"; }
};

/// `what` begins messages: the argument as the user named it. Throws ArgumentError.
ValueText parse_value(const std::string& what, const std::string& text);

/// Contents of a buffer.
struct Array {
  TypePtr element;
  Shape shape;
  std::vector<std::byte> bytes;
  bool is_written = true;  // otherwise the bytes are a pattern that no kernel should read

  /// The shape in scalars: with the vectors' or structs' own if all scalars are of one type.
  Shape scalar_shape() const;
};

/// `element` is null if the kernel does not say it (void*). Throws ArgumentError.
Array make_array(const std::string& what, const ValueText& value, const TypePtr& element,
                 std::uint64_t seed);

/// A pointer or a texture within a struct, and its value.
struct MemberValue {
  Leaf leaf;
  ValueText text;
};

/// The members of a struct to which a value of kind fields gives arrays. Throws ArgumentError.
std::vector<MemberValue> member_values(const std::string& what, const ValueText& value,
                                       const Type& type);

/// The bytes of an argument that is passed by value. Pointers in it stay 0, see member_values().
std::vector<std::byte> make_value(const std::string& what, const ValueText& value,
                                  const Type& type);

}  // namespace rung::any_kernel
