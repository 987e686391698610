#pragma once
// The Metal rungs, from their rungs.inc. The files of ladder/{gemm,dot}/metal define the
// descriptors.

#include <array>
#include <string>
#include <string_view>

#include "backends/rungs/named_rung.hpp"
#include "core/dtype.hpp"
#include "device/metal/descriptor.hpp"
#include "device/metal/dot_descriptor.hpp"

namespace rung {

#define RUNG(number, slug) extern const metal::GemmRung gemm_metal_##number##_##slug;
#include "ladder/gemm/metal/rungs.inc"
#undef RUNG
#define RUNG(number, slug) extern const metal::DotRung dot_metal_##number##_##slug;
#include "ladder/dot/metal/rungs.inc"
#undef RUNG

namespace metal {

inline constexpr auto gemm_rungs = std::to_array<NamedRung<GemmRung>>({
#define RUNG(number, slug) {"gemm/metal/" #number "_" #slug, &gemm_metal_##number##_##slug},
#include "ladder/gemm/metal/rungs.inc"
#undef RUNG
});

inline constexpr auto dot_rungs = std::to_array<NamedRung<DotRung>>({
#define RUNG(number, slug) {"dot/metal/" #number "_" #slug, &dot_metal_##number##_##slug},
#include "ladder/dot/metal/rungs.inc"
#undef RUNG
});

/// True if a gemm rung supports the type. Dot rungs support all types that Metal has.
inline bool has(const Types& types, Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return types.f32;
    case Dtype::i32: return types.i32;
    case Dtype::bf16: return types.bf16;
    case Dtype::f16: return types.f16;
    default: return false;  // Metal has no double
  }
}

/// The name of a kernel in the compiled library.
inline std::string kernel_name(std::string_view entry, Dtype dtype) {
  return std::string(entry).append("_").append(name(dtype));
}

}  // namespace metal
}  // namespace rung
