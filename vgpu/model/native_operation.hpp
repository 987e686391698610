#pragma once
// Operations that the translator (native/translate.hpp) converts to machine code.

#include <cstdint>

namespace rung::vgpu {

/// Each has the semantics of the PTX instruction with its name. `none`: not translated; the handler
/// runs the instruction.
enum class NativeOp : std::uint8_t {
  none,
#define RUNG_NATIVE_OPERATION(id, function, sources) id,
#include "vgpu/model/native_operations.def"
};

/// How lanes are interpreted.
enum class NativeType : std::uint8_t { u32, s32, u64, s64, f32, f64 };

struct Native {
  NativeOp op = NativeOp::none;
  NativeType type = NativeType::u32;  // of the sources
  NativeType result = NativeType::u32;
  // setp: the predicate of VCMPPS or VPCMPD. round: the mode of VRNDSCALEPS (Intel SDM, volume 2).
  std::uint8_t relation = 0;

  explicit operator bool() const { return op != NativeOp::none; }
};

inline int bytes_of(NativeType type) {
  return type == NativeType::u64 || type == NativeType::s64 || type == NativeType::f64 ? 8 : 4;
}
inline bool is_float(NativeType type) { return type == NativeType::f32 || type == NativeType::f64; }
inline bool is_signed(NativeType type) {
  return type == NativeType::s32 || type == NativeType::s64;
}

}  // namespace rung::vgpu
