// Bit fields, counts and byte permutations: bfe, bfi, bfind, brev, clz, popc, fns, bmsk, szext
// (PTX ISA, 9.7.1.13 to 9.7.1.22) and prmt (9.7.9.7).

#include <algorithm>
#include <bit>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"

namespace rung::vgpu {

namespace {

template <class U>
constexpr std::uint32_t width = sizeof(U) * 8;

/// A mask of the lowest `count` bits. `count` may exceed the width.
template <class U>
U low_bits(std::uint32_t count) {
  return count >= width<U> ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << count) - 1);
}

template <class U>
U shifted_right(U a, std::uint32_t count) {
  return count >= width<U> ? U{0} : static_cast<U>(a >> count);
}

// bfe: a field of `length` bits at `position`. Bits beyond the register are copies of the sign, or
// 0.
template <class T>
struct Extract {
  static T run(T a, std::uint32_t b, std::uint32_t c) {
    using U = std::make_unsigned_t<T>;
    const std::uint32_t position = b & 0xFF, length = c & 0xFF;
    const U bits = static_cast<U>(a);
    const U field = shifted_right(bits, position) & low_bits<U>(length);
    if (!std::is_signed_v<T> || length == 0) return static_cast<T>(field);
    const std::uint32_t last = std::min(position + length - 1, width<U> - 1);
    const U sign = U{0} - ((bits >> last) & 1);
    const std::uint32_t inside = position >= width<U> ? 0 : std::min(length, width<U> - position);
    return static_cast<T>(field | (sign & ~low_bits<U>(inside)));
  }
};

// bfi: the low `length` bits of a, inserted into b at `position`.
template <class U>
struct Insert {
  static U run(U a, U b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t position = c & 0xFF, length = d & 0xFF;
    if (position >= width<U>) return b;
    const U field = static_cast<U>(low_bits<U>(length) << position);
    return (b & ~field) | (static_cast<U>(a << position) & field);
  }
};

// bfind: position of the highest bit that differs from the sign; all ones if all bits are equal.
template <class T, bool shift_amount>
struct FindHighest {
  static std::uint32_t run(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = static_cast<U>(a < 0 ? ~a : a);
    if (bits == 0) return ~0u;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return shift_amount ? zeros : width<U> - 1 - zeros;
  }
};

template <class U>
struct Reverse {
  static U run(U a) {
    U reversed = 0;
    for (std::uint32_t i = 0; i < width<U>; ++i) reversed |= ((a >> i) & 1) << (width<U> - 1 - i);
    return reversed;
  }
};

template <class U>
struct LeadingZeros {
  static std::uint32_t run(U a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
};
template <class U>
struct Count {
  static std::uint32_t run(U a) { return static_cast<std::uint32_t>(std::popcount(a)); }
};

// fns: position of the n-th set bit from `base`, upwards for n > 0 and downwards for n < 0. For n =
// 0, `base` itself if that bit is set.
struct FindNthSet {
  static std::uint32_t run(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
    const int step = n < 0 ? -1 : 1;
    std::int64_t left = n < 0 ? -std::int64_t{n} : std::int64_t{n};
    if (base > 31) return ~0u;
    if (n == 0) return ((mask >> base) & 1) != 0 ? base : ~0u;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
      if (((mask >> at) & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
    }
    return ~0u;
  }
};

// bmsk: b ones, starting at bit a.
template <bool clamp>
struct MakeMask {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    if (!clamp) {
      a &= 31;
      b &= 31;
    }
    if (a > 31) return 0;
    return static_cast<std::uint32_t>(std::uint64_t{low_bits<std::uint32_t>(b)} << a);
  }
};

// szext: the low b bits of a, sign- or zero-extended.
template <class T, bool clamp>
struct Extend {
  static T run(T a, std::uint32_t b) {
    const std::uint32_t bits = static_cast<std::uint32_t>(a);
    if (clamp && b > 31) return a;
    b &= 31;
    const std::uint32_t field = bits & low_bits<std::uint32_t>(b);
    const bool negative = std::is_signed_v<T> && b != 0 && ((bits >> (b - 1)) & 1) != 0;
    return static_cast<T>(negative ? field | ~low_bits<std::uint32_t>(b) : field);
  }
};

enum class Permute { generic, f4e, b4e, rc8, ecl, ecr, rc16 };

// prmt: each byte of the result is one of the eight bytes of b:a. In the default mode, each hex
// digit of c selects a byte; if the digit's high bit is set, the byte's sign is replicated instead.
// The other modes are patterns selected by the low two bits of c.
template <Permute mode>
struct PermuteBytes {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t selector = mode == Permute::generic ? c >> (4 * i) : pattern(i, c & 3);
      auto byte = static_cast<std::uint32_t>(bytes >> ((selector & 7) * 8)) & 0xFF;
      if (mode == Permute::generic && (selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  }

  static std::uint32_t pattern(std::uint32_t i, std::uint32_t c) {
    switch (mode) {
      case Permute::f4e: return i + c;
      case Permute::b4e: return c - i;
      case Permute::rc8: return c;
      case Permute::ecl: return std::max(i, c);
      case Permute::ecr: return std::min(i, c);
      case Permute::rc16: return (c & 1) * 2 + (i & 1);
      case Permute::generic: break;
    }
    return 0;
  }
};

template <class T>
void add_fields(OpTable& table, const std::string& type) {
  table.add({"bfe.", type}, lane_spec<Extract<T>>());
  table.add({"bfind.", type}, lane_spec<FindHighest<T, false>>());
  table.add({"bfind.shiftamt.", type}, lane_spec<FindHighest<T, true>>());
}

template <class U>
void add_counts(OpTable& table, const std::string& type) {
  table.add({"bfi.", type}, lane_spec<Insert<U>>());
  table.add({"brev.", type}, lane_spec<Reverse<U>>());
  table.add({"clz.", type}, lane_spec<LeadingZeros<U>>());
  table.add({"popc.", type}, lane_spec<Count<U>>());
}

}  // namespace

void add_bit_fields(OpTable& table) {
  add_fields<std::uint32_t>(table, "u32");
  add_fields<std::int32_t>(table, "s32");
  add_fields<std::uint64_t>(table, "u64");
  add_fields<std::int64_t>(table, "s64");
  add_counts<std::uint32_t>(table, "b32");
  add_counts<std::uint64_t>(table, "b64");
  table.add({"fns.b32"}, lane_spec<FindNthSet>());
  table.add({"bmsk.clamp.b32"}, lane_spec<MakeMask<true>>());
  table.add({"bmsk.wrap.b32"}, lane_spec<MakeMask<false>>());
  table.add({"szext.clamp.u32"}, lane_spec<Extend<std::uint32_t, true>>());
  table.add({"szext.wrap.u32"}, lane_spec<Extend<std::uint32_t, false>>());
  table.add({"szext.clamp.s32"}, lane_spec<Extend<std::int32_t, true>>());
  table.add({"szext.wrap.s32"}, lane_spec<Extend<std::int32_t, false>>());
  table.add({"prmt.b32"}, lane_spec<PermuteBytes<Permute::generic>>());
  table.add({"prmt.b32.f4e"}, lane_spec<PermuteBytes<Permute::f4e>>());
  table.add({"prmt.b32.b4e"}, lane_spec<PermuteBytes<Permute::b4e>>());
  table.add({"prmt.b32.rc8"}, lane_spec<PermuteBytes<Permute::rc8>>());
  table.add({"prmt.b32.ecl"}, lane_spec<PermuteBytes<Permute::ecl>>());
  table.add({"prmt.b32.ecr"}, lane_spec<PermuteBytes<Permute::ecr>>());
  table.add({"prmt.b32.rc16"}, lane_spec<PermuteBytes<Permute::rc16>>());
}

}  // namespace rung::vgpu
