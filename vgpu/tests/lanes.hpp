#pragma once
// Runs one instruction on rows of values, as the engine does: with every lane active, with some
// masked, and with the destination in the row of a source. All results must agree.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "vgpu/engine/arithmetic/arithmetic.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::lanes {

template <class T>
using Row = std::array<T, warp_size>;

inline constexpr Mask some_lanes = 0x5A0FF0A6u;

/// An instruction from a mnemonic. The caller adds operands.
inline ptx::Instruction instruction(const std::string& mnemonic) {
  ptx::Instruction result;
  std::size_t at = mnemonic.find('.');
  result.set_opcode(mnemonic.substr(0, at));
  while (at != std::string::npos) {
    const std::size_t next = mnemonic.find('.', at + 1);
    result.modifiers.push_back(mnemonic.substr(at + 1, next - at - 1));
    at = next;
  }
  return result;
}

inline ptx::Operand reg() {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::reg;
  operand.reg = 0;
  return operand;
}

inline ptx::Operand constant(std::uint64_t bits) {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::immediate;
  operand.bits = bits;
  return operand;
}

inline ptx::Operand group(ptx::Operand::Kind kind, std::size_t count) {
  ptx::Operand operand;
  operand.kind = kind;
  operand.elements.assign(count, reg());
  return operand;
}

/// An instruction with one destination and `sources` sources, all registers.
inline ptx::Instruction plain(const std::string& mnemonic, std::size_t sources) {
  ptx::Instruction result = instruction(mnemonic);
  result.operands.assign(1 + sources, reg());
  return result;
}

inline bool is_known(const ptx::Instruction& instruction) {
  return arithmetic(instruction).has_value();
}

/// A warp with its own frame: row i has 32 lanes of up to eight bytes.
class Machine {
 public:
  Machine() {
    warp.frame = frame_.bytes;
    warp.live = all_lanes;
  }

  static std::uint32_t offset(std::size_t row) {
    return static_cast<std::uint32_t>(64 + row * 256);
  }

  template <class T>
  void set(std::size_t row, const Row<T>& values) {
    if constexpr (std::is_same_v<T, bool>) {
      Mask bits = 0;
      for (int lane = 0; lane < warp_size; ++lane) {
        bits |= static_cast<Mask>(values[static_cast<std::size_t>(lane)]) << lane;
      }
      warp.predicate(offset(row)) = bits;
    } else {
      std::copy(values.begin(), values.end(), warp.row<T>(offset(row)));
    }
  }

  template <class T>
  Row<T> get(std::size_t row) {
    Row<T> values;
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        values[lane] = (warp.predicate(offset(row)) >> lane & 1) != 0;
      }
    } else {
      std::copy_n(warp.row<T>(offset(row)), warp_size, values.begin());
    }
    return values;
  }

  /// Runs the instruction with operand i in row rows[i], or in row i.
  void run(const OpSpec& spec, Mask mask, std::vector<std::size_t> rows = {}) {
    Instr instr{};
    std::vector<std::uint32_t> offsets;
    for (std::size_t i = 0; i < spec.operands.size(); ++i) {
      offsets.push_back(offset(rows.empty() ? i : rows[i]));
    }
    std::copy_n(offsets.begin(), std::min(offsets.size(), instr.row.size()), instr.row.begin());
    instr.rows = offsets.data();
    instr.imm = spec.imm;
    warp.mask = mask;
    (mask == warp.live ? spec.full : spec.masked)(warp, instr);
  }

  Warp warp;

 private:
  struct alignas(64) Frame {
    std::byte bytes[64 + 12 * 256] = {};
  };
  Frame frame_;
};

template <class T>
std::uint64_t bits(T value) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(value);
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(value);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_same_v<T, bool>) return value;
    return static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, int, T>>>(
        value);
  }
}

/// True if the bits are equal. A NaN of double precision may have any payload.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  return bits(a) == bits(b);
}

/// Runs an instruction with one destination, all lanes active.
template <class D, class... S>
Row<D> run_full(const ptx::Instruction& instruction, const Row<S>&... sources) {
  const auto spec = arithmetic(instruction);
  if (!spec) {
    ADD_FAILURE() << instruction.mnemonic() << " is not known";
    return {};
  }
  Machine machine;
  std::size_t row = 1;
  (machine.set(row++, sources), ...);
  machine.run(*spec, all_lanes);
  return machine.get<D>(0);
}

/// Runs a lane-wise instruction in all the ways in which the engine may run it. Results must agree.
template <class D, class... S>
Row<D> run(const ptx::Instruction& instruction, const Row<S>&... sources) {
  const auto spec = arithmetic(instruction);
  if (!spec) {
    ADD_FAILURE() << instruction.mnemonic() << " is not known";
    return {};
  }
  EXPECT_EQ(spec->operands.size(), 1 + sizeof...(S)) << instruction.mnemonic();
  Machine machine;
  const auto fill = [&](std::size_t first) { (machine.set(first++, sources), ...); };

  fill(1);
  machine.run(*spec, all_lanes);
  const Row<D> full = machine.get<D>(0);

  Row<D> before{};
  for (std::size_t i = 0; i < warp_size; ++i) before[i] = static_cast<D>(i % 7);
  machine.set(0, before);
  machine.run(*spec, some_lanes);
  const Row<D> masked = machine.get<D>(0);
  for (std::size_t i = 0; i < warp_size; ++i) {
    const bool active = (some_lanes >> i & 1) != 0;
    EXPECT_TRUE(same(masked[i], active ? full[i] : before[i]))
        << instruction.mnemonic() << ", lane " << i << (active ? "" : ", which is masked");
  }

  // With the destination in the row of each source in turn.
  for (std::size_t place = 1; place <= sizeof...(S); ++place) {
    fill(1);
    std::vector<std::size_t> rows(spec->operands.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i == 0 ? place : i;
    machine.run(*spec, all_lanes, rows);
    const Row<D> in_place = machine.get<D>(place);
    for (std::size_t i = 0; i < warp_size; ++i) {
      EXPECT_TRUE(same(in_place[i], full[i])) << instruction.mnemonic() << " in place, lane " << i;
    }
  }
  return full;
}

/// Edge cases of a type.
template <class T>
std::vector<T> edges() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T least = Limits::denorm_min(), normal = Limits::min(), most = Limits::max();
    const T nan = Limits::quiet_NaN(), infinity = Limits::infinity();
    std::vector<T> values = {0,
                             1,
                             T(0.5),
                             T(1.5),
                             T(2.5),
                             3,
                             T(0.1),
                             T(1e-7),
                             T(65504),
                             T(65519),
                             T(65520),
                             T(2147483648.0),
                             T(9.3e18),
                             T(1.9e19),
                             least,
                             normal,
                             normal - least,
                             normal / 3,
                             most,
                             most / 2,
                             std::sqrt(most),
                             std::nextafter(T(1), T(2)),
                             std::nextafter(T(1), T(0)),
                             infinity};
    for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
    values.push_back(nan);
    return values;
  } else {
    using Limits = std::numeric_limits<T>;
    const T low = Limits::min(), high = Limits::max();
    return {0,
            1,
            2,
            3,
            7,
            31,
            32,
            33,
            64,
            100,
            127,
            T(128),
            T(255),
            T(0xAA55),
            high,
            T(high - 1),
            low,
            T(low + 1),
            T(-1),
            T(-2),
            T(-3),
            T(high / 2),
            T(high / 3 * 2),
            T(high / 7)};
  }
}

/// Calls body(row of the first, row of the second, …) until every combination has occurred.
template <class A, class F>
void for_combinations(const F& body) {
  const auto values = edges<A>();
  for (std::size_t at = 0; at < values.size(); at += warp_size) {
    Row<A> a;
    for (std::size_t i = 0; i < warp_size; ++i) a[i] = values[(at + i) % values.size()];
    body(a);
  }
}

template <class A, class B, class F>
void for_combinations(const F& body) {
  const auto first = edges<A>();
  const auto second = edges<B>();
  const std::size_t count = first.size() * second.size();
  for (std::size_t at = 0; at < count; at += warp_size) {
    Row<A> a;
    Row<B> b;
    for (std::size_t i = 0; i < warp_size; ++i) {
      const std::size_t index = (at + i) % count;
      a[i] = first[index % first.size()];
      b[i] = second[index / first.size()];
    }
    body(a, b);
  }
}

template <class A, class B, class C, class F>
void for_combinations(const F& body) {
  const auto third = edges<C>();
  std::size_t shift = 0;
  for_combinations<A, B>([&](const Row<A>& a, const Row<B>& b) {
    for (std::size_t step = 0; step < third.size(); step += 5) {
      Row<C> c;
      for (std::size_t i = 0; i < warp_size; ++i) {
        c[i] = third[(i * 7 + step + shift) % third.size()];
      }
      body(a, b, c);
    }
    ++shift;
  });
}

/// Compares an instruction with a function of one lane, for every combination of edge cases.
template <class D, class... S, class F>
void check(const ptx::Instruction& instruction, const F& expected) {
  int failures = 0;
  for_combinations<S...>([&](const Row<S>&... sources) {
    if (failures > 3) return;
    const Row<D> results = run<D>(instruction, sources...);
    for (std::size_t i = 0; i < warp_size; ++i) {
      const D wanted = expected(sources[i]...);
      if (same(results[i], wanted)) continue;
      ++failures;
      std::string operands;
      ((operands += " " + std::to_string(sources[i])), ...);
      ADD_FAILURE() << instruction.mnemonic() << operands << " is " << std::hex << bits(results[i])
                    << ", not " << bits(wanted);
    }
  });
}

template <class D, class... S, class F>
void check(const std::string& mnemonic, const F& expected) {
  check<D, S...>(plain(mnemonic, sizeof...(S)), expected);
}

}  // namespace rung::vgpu::lanes
