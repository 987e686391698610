// mov: between registers of the same width, and packing and unpacking of vectors (PTX ISA, 9.7.9).

#include <array>

#include "vgpu/engine/arithmetic/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/moves.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class T>
struct Move {
  static T run(T a) { return a; }
};

// The first element becomes the least significant one.
template <class Whole, class Part>
struct Pack2 {
  static Whole run(Part a, Part b) {
    return static_cast<Whole>(static_cast<Whole>(b) << (sizeof(Part) * 8) | a);
  }
};
struct Pack4 {
  static std::uint64_t run(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
    return std::uint64_t{d} << 48 | std::uint64_t{c} << 32 | std::uint64_t{b} << 16 | a;
  }
};

/// Registers of 8 bits are in rows of 16.
struct PackBytes {
  static std::uint32_t run(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
    const auto byte = [](std::uint16_t x) { return std::uint32_t{x} & 0xFFu; };
    return byte(d) << 24 | byte(c) << 16 | byte(b) << 8 | byte(a);
  }
};

template <class Whole, class Part, bool masked, int bits = sizeof(Part) * 8>
void unpack(Warp& warp, const Instr& instr) {
  constexpr int parts = sizeof(Whole) * 8 / bits;
  constexpr Part part_mask = static_cast<Part>(~Part{0}) >> (sizeof(Part) * 8 - bits);
  const Source<Whole> source(warp, instr, parts);
  alignas(64) Whole whole[warp_size];  // a destination may start where the source does
  for (int lane = 0; lane < warp_size; ++lane) whole[lane] = source[lane];
  for (int part = 0; part < parts; ++part) {
    Part* const row = std::assume_aligned<64>(warp.row<Part>(instr.row[part]));
    const Mask mask = warp.mask;
    RUNG_LANES
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto value =
          static_cast<Part>(static_cast<Part>(whole[lane] >> (part * bits)) & part_mask);
      row[lane] = masked ? select({lane_mask<Part>(mask, lane)}, value, row[lane]) : value;
    }
  }
}

template <class Whole, class Part, int bits = sizeof(Part) * 8>
OpSpec unpack_spec() {
  constexpr int parts = sizeof(Whole) * 8 / bits;
  std::vector<ptx::Type> types(parts, ptx_type<Part>());
  types.push_back(ptx_type<Whole>());
  return {unpack<Whole, Part, false, bits>, unpack<Whole, Part, true, bits>, types, parts};
}

template <class T>
void add_moves_of(OpTable& table, std::initializer_list<const char*> types) {
  for (const char* type : types) {
    OpSpec spec = vector_spec<Move<T>>();
    spec.operands.assign(2, ptx::type_named(type));
    table.add({"mov.", type}, spec);
  }
}

void fill_moves(OpTable& table) {
  add_moves_of<std::uint16_t>(table, {"b16", "u16", "s16"});
  add_moves_of<std::uint32_t>(table, {"b32", "u32", "s32", "f32"});
  add_moves_of<std::uint64_t>(table, {"b64", "u64", "s64", "f64"});
  table.add({"mov.b32 pack2"}, vector_spec<Pack2<std::uint32_t, std::uint16_t>>());
  table.add({"mov.b64 pack2"}, vector_spec<Pack2<std::uint64_t, std::uint32_t>>());
  table.add({"mov.b64 pack4"}, vector_spec<Pack4>());
  table.add({"mov.b32 pack4"}, vector_spec<PackBytes>());
  table.add({"mov.b32 unpack4"}, unpack_spec<std::uint32_t, std::uint16_t, 8>());
  table.add({"mov.b32 unpack2"}, unpack_spec<std::uint32_t, std::uint16_t>());
  table.add({"mov.b64 unpack2"}, unpack_spec<std::uint64_t, std::uint32_t>());
  table.add({"mov.b64 unpack4"}, unpack_spec<std::uint64_t, std::uint16_t>());
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_moves(OpTable& table) { RUNG_PICK_LANES(fill_moves)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
