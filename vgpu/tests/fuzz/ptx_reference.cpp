#include "vgpu/tests/fuzz/ptx_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <type_traits>

namespace rung::vgpu {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Maps up to three operands to the result, all as bits.
using Function = std::function<std::uint64_t(const std::array<std::uint64_t, 4>&)>;
using Table = std::map<std::string, Function, std::less<>>;

template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::isnan(value) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

/// `op` on numbers of type T.
template <class T, class Op>
Function on(Op op) {
  if constexpr (std::is_invocable_v<Op, T, T, T>) {
    return [op](const auto& a) {
      return to_bits(op(from_bits<T>(a[0]), from_bits<T>(a[1]), from_bits<T>(a[2])));
    };
  } else if constexpr (std::is_invocable_v<Op, T, T>) {
    return [op](const auto& a) { return to_bits(op(from_bits<T>(a[0]), from_bits<T>(a[1]))); };
  } else {
    return [op](const auto& a) { return to_bits(op(from_bits<T>(a[0]))); };
  }
}

/// `op` on doubles. If operands are NaN, the result is the first of them, quieted.
template <class Op>
Function on_doubles(Op op) {
  return [numbers = on<double>(op)](const auto& a) -> std::uint64_t {
    constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
    const std::uint64_t result = numbers(a);
    if (!std::isnan(from_bits<double>(result))) return result;
    for (const std::uint64_t operand : a) {
      if (std::isnan(from_bits<double>(operand))) return operand | quiet;
    }
    return 0xFFF8000000000000u;
  };
}

template <class T>
void add_integer(Table& table, const std::string& type) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
  const auto low = [](T a, T b) { return static_cast<T>(std::uint64_t{U(a)} * U(b)); };
  table["add." + type] = on<T>([](T a, T b) { return static_cast<T>(std::uint64_t{U(a)} + U(b)); });
  table["sub." + type] = on<T>([](T a, T b) { return static_cast<T>(std::uint64_t{U(a)} - U(b)); });
  table["min." + type] = on<T>([](T a, T b) { return std::min(a, b); });
  table["max." + type] = on<T>([](T a, T b) { return std::max(a, b); });
  table["mul.lo." + type] = on<T>(low);
  table["mad.lo." + type] =
      on<T>([low](T a, T b, T c) { return static_cast<T>(std::uint64_t{U(low(a, b))} + U(c)); });
  table["mul.hi." + type] =
      on<T>([](T a, T b) { return static_cast<T>(static_cast<Wide>(a) * b >> 8 * sizeof(T)); });
  const auto compare = [&](const char* relation, auto holds) {
    table[std::string("setp.") + relation + "." + type] = on<T>(holds);
  };
  compare("eq", [](T a, T b) { return static_cast<T>(a == b); });
  compare("ne", [](T a, T b) { return static_cast<T>(a != b); });
  compare("lt", [](T a, T b) { return static_cast<T>(a < b); });
  compare("le", [](T a, T b) { return static_cast<T>(a <= b); });
  compare("gt", [](T a, T b) { return static_cast<T>(a > b); });
  compare("ge", [](T a, T b) { return static_cast<T>(a >= b); });
}

template <class T>
void add_bits(Table& table, const std::string& type) {
  table["and.b" + type] = on<T>([](T a, T b) { return static_cast<T>(a & b); });
  table["or.b" + type] = on<T>([](T a, T b) { return static_cast<T>(a | b); });
  table["xor.b" + type] = on<T>([](T a, T b) { return static_cast<T>(a ^ b); });
  table["not.b" + type] = on<T>([](T a) { return static_cast<T>(~a); });
  table["cnot.b" + type] = on<T>([](T a) { return static_cast<T>(a == 0); });
  table["selp.b" + type] = [](const auto& a) { return a[2] != 0 ? a[0] : a[1]; };
  // Shift amounts have 32 bits.
  constexpr std::uint32_t bits = 8 * sizeof(T);
  table["shl.b" + type] = [](const auto& a) -> std::uint64_t {
    const auto by = static_cast<std::uint32_t>(a[1]);
    return by >= bits ? 0 : static_cast<T>(a[0] << by);
  };
  table["shr.u" + type] = [](const auto& a) -> std::uint64_t {
    const auto by = static_cast<std::uint32_t>(a[1]);
    return by >= bits ? 0 : a[0] >> by;
  };
  table["shr.s" + type] = [](const auto& a) -> std::uint64_t {
    const auto by = std::min(static_cast<std::uint32_t>(a[1]), bits - 1);
    return static_cast<T>(static_cast<std::make_signed_t<T>>(a[0]) >> by);
  };
}

void add_words(Table& table) {
  using S = std::int32_t;
  using U = std::uint32_t;
  table["mul.wide.u32"] = [](const auto& a) { return a[0] * a[1]; };
  table["mul.wide.s32"] = [](const auto& a) {
    return to_bits(std::int64_t{static_cast<S>(a[0])} * static_cast<S>(a[1]));
  };
  table["popc.b32"] = on<U>([](U a) { return static_cast<U>(std::popcount(a)); });
  table["clz.b32"] = on<U>([](U a) { return static_cast<U>(std::countl_zero(a)); });
  table["abs.s32"] = on<U>([](U a) { return static_cast<S>(a) < 0 ? 0 - a : a; });
  table["neg.s32"] = on<U>([](U a) { return 0 - a; });
  table["cvt.u64.u32"] = [](const auto& a) { return a[0]; };
  table["cvt.s64.s32"] = [](const auto& a) { return to_bits(std::int64_t{static_cast<S>(a[0])}); };
  table["cvt.u32.u64"] = [](const auto& a) { return a[0] & 0xFFFFFFFFu; };
  table["cvt.rn.f32.u32"] = [](const auto& a) { return to_bits(static_cast<float>(U(a[0]))); };
  table["cvt.rn.f32.s32"] = [](const auto& a) { return to_bits(static_cast<float>(S(a[0]))); };
  table["cvt.rn.f64.s32"] = [](const auto& a) { return to_bits(static_cast<double>(S(a[0]))); };
  table["mov.b32"] = table["mov.b64"] = [](const auto& a) { return a[0]; };
  table["lop3.b32"] = [](const auto& a) {
    U result = 0;
    for (int bit = 0; bit < 32; ++bit) {
      const auto of = [&](int i) { return a[static_cast<std::size_t>(i)] >> bit & 1; };
      const std::uint64_t row = of(0) << 2 | of(1) << 1 | of(2);
      result |= static_cast<U>(a[3] >> row & 1) << bit;
    }
    return std::uint64_t{result};
  };
  table["dp4a.s32.s32"] = [](const auto& a) {
    auto sum = static_cast<U>(a[2]);
    for (int i = 0; i < 32; i += 8) {
      sum +=
          static_cast<U>(static_cast<std::int8_t>(a[0] >> i) * static_cast<std::int8_t>(a[1] >> i));
    }
    return std::uint64_t{sum};
  };
}

template <class T, class On>
void add_floats(Table& table, const std::string& type, const On& numbers) {
  for (const std::string mode : {"", ".rn"}) {
    table["add" + mode + type] = numbers([](T a, T b) { return a + b; });
    table["sub" + mode + type] = numbers([](T a, T b) { return a - b; });
    table["mul" + mode + type] = numbers([](T a, T b) { return a * b; });
  }
  table["fma.rn" + type] = numbers([](T a, T b, T c) { return std::fma(a, b, c); });
  table["div.rn" + type] = numbers([](T a, T b) { return a / b; });
  table["sqrt.rn" + type] = numbers([](T a) { return std::sqrt(a); });
  table["rcp.rn" + type] = numbers([](T a) { return T{1} / a; });
  const auto compare = [&](const std::string& relation, auto holds) {
    table["setp." + relation + type] = [holds](const auto& a) -> std::uint64_t {
      return holds(from_bits<T>(a[0]), from_bits<T>(a[1]));
    };
  };
  compare("eq", [](T a, T b) { return a == b; });
  compare("ne", [](T a, T b) { return a < b || a > b; });
  compare("lt", [](T a, T b) { return a < b; });
  compare("geu", [](T a, T b) { return !(a < b); });
  compare("nan", [](T a, T b) { return std::isnan(a) || std::isnan(b); });
}

const Table& table() {
  static const Table all = [] {
    Table made;
    add_integer<std::uint16_t>(made, "u16");
    add_integer<std::int16_t>(made, "s16");
    add_integer<std::uint32_t>(made, "u32");
    add_integer<std::int32_t>(made, "s32");
    add_integer<std::uint64_t>(made, "u64");
    add_integer<std::int64_t>(made, "s64");
    add_bits<std::uint16_t>(made, "16");
    add_bits<std::uint32_t>(made, "32");
    add_bits<std::uint64_t>(made, "64");
    add_words(made);
    add_floats<float>(made, ".f32", [](auto op) { return on<float>(op); });
    add_floats<double>(made, ".f64", [](auto op) { return on_doubles(op); });
    return made;
  }();
  return all;
}

std::size_t index_of(const std::string& name) { return static_cast<std::size_t>(name[2] - '0'); }

std::uint64_t read(const std::string& operand, const PtxRegisters& registers) {
  if (operand.starts_with("0f") || operand.starts_with("0d")) {
    return std::strtoull(operand.c_str() + 2, nullptr, 16);
  }
  if (operand.front() != '%') return std::strtoull(operand.c_str(), nullptr, 0);
  switch (operand[1]) {
    case 'd': return registers.d[index_of(operand)];
    case 'r': return registers.r[index_of(operand)];
    case 'h': return registers.h[index_of(operand)];
    default: return registers.p >> index_of(operand) & 1;
  }
}

void write(const std::string& operand, std::uint64_t value, PtxRegisters& registers) {
  const std::size_t index = index_of(operand);
  switch (operand[1]) {
    case 'd': registers.d[index] = value; return;
    case 'r': registers.r[index] = static_cast<std::uint32_t>(value); return;
    case 'h': registers.h[index] = static_cast<std::uint16_t>(value); return;
    default:
      registers.p &= ~(1u << index);
      registers.p |= static_cast<std::uint32_t>(value) << index;
  }
}

}  // namespace

bool has_reference(const PtxStep& step) {
  const auto is_vector = [](const std::string& operand) { return operand.front() == '{'; };
  return table().contains(step.mnemonic) && std::ranges::none_of(step.operands, is_vector);
}

void follow(const std::vector<PtxStep>& steps, PtxRegisters& registers) {
  for (const PtxStep& step : steps) {
    if (!step.guard.empty()) {
      const bool negated = step.guard.front() == '!';
      if ((read(step.guard.substr(negated ? 1 : 0), registers) != 0) == negated) continue;
    }
    std::array<std::uint64_t, 4> operands{};
    for (std::size_t i = 1; i < step.operands.size(); ++i) {
      operands[i - 1] = read(step.operands[i], registers);
    }
    write(step.operands.front(), table().find(step.mnemonic)->second(operands), registers);
  }
}

}  // namespace rung::vgpu
