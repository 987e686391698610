#pragma once
// Types of kernel parameters, as far as their layout in memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rung::any_kernel {

/// An argument, a shape or a file that does not fit the kernel. The message is one line.
struct ArgumentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Scalar : std::uint8_t {
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
};

/// "float", as on the command line and in results.
std::string_view name(Scalar scalar);
/// Accepts the names above, NumPy's ("float32"), Rung's ("f32") and C's ("unsigned").
std::optional<Scalar> parse_scalar(std::string_view text);
std::size_t bytes(Scalar scalar);
bool is_real(Scalar scalar);
bool is_signed(Scalar scalar);

/// A long double holds every value of every scalar type.
long double load(Scalar scalar, const std::byte* from);
/// Rounds to nearest; integers keep their low bits.
void store(Scalar scalar, std::byte* to, long double value);
/// Stores a number written as text: decimal, hexadecimal, "true", "nan" or "inf". Throws ArgumentError, which
/// begins with `what`, if the type cannot hold it.
void store_text(Scalar scalar, std::byte* to, std::string_view text, std::string_view what);

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Member {
  std::string name;  // empty for a base class
  std::size_t offset = 0;
  TypePtr type;
};

struct Type {
  enum class Kind : std::uint8_t { scalar, record, array, pointer, reference, unknown };

  Kind kind = Kind::unknown;
  std::string name;
  std::size_t bytes = 0;
  Scalar scalar = Scalar::u8;   // of kind scalar
  std::vector<Member> members;  // of kind record
  TypePtr element;              // of arrays, pointers and references; null for void
  std::size_t count = 0;        // of arrays
  bool to_const = false;        // of pointers and references

  bool is_address() const { return kind == Kind::pointer || kind == Kind::reference; }
};

TypePtr scalar_type(Scalar scalar);

/// A scalar within a type.
struct Leaf {
  std::string name;  // "stride[1]", "inner.x"; empty for a scalar itself
  std::size_t offset = 0;
  Scalar scalar = Scalar::u8;
  TypePtr address;  // for a pointer: its type; null otherwise
};

/// All scalars and pointers, in order; in a union those of its first member.
std::vector<Leaf> leaves(const Type& type);
/// The leaves of all members of unions.
std::vector<Leaf> leaves_with_aliases(const Type& type);
bool overlap(const Leaf& a, const Leaf& b);

/// The type that all leaves share; nullopt if they differ or if one is a pointer.
std::optional<Scalar> common_scalar(const Type& type);

}  // namespace rung::any_kernel
