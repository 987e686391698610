#pragma once
// PTX's types and state spaces, and source locations.

#include <cstdint>
#include <string_view>

namespace rung::vgpu::ptx {

/// State spaces (PTX ISA, 5.1). `generic`: an access or address without an explicit space.
enum class Space : std::uint8_t { generic, reg, global, shared, local, constant, param };

/// Fundamental, packed and alternate types (PTX ISA, 5.2). `none`: not specified.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
};

/// Size of an element in bytes; 0 for pred and none.
int size_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);
/// The name without the leading dot: "f32".
const char* name(Type type);
/// The type with that name, given without the leading dot; `none` for other names.
Type type_named(std::string_view name);

/// A source location from `.loc`. `file` is an index into Module::files, 0 if unknown. For inlined
/// code, the location of the inlined text.
struct SourceLine {
  int file = 0;
  int line = 0;
};

}  // namespace rung::vgpu::ptx
