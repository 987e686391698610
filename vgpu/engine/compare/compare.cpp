// setp, set, selp, slct of integers, f32 and f64, and testp (PTX ISA, 9.7.6 and 9.7.3).

#include "vgpu/engine/compare/compare.hpp"

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/relations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/compare/compare.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/compare/compare-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class T, class Relation, bool ftz = false>
struct Compare {
  static bool run(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return Relation::holds(flushed<ftz>(a), flushed<ftz>(b));
    } else {
      return Relation::holds(a, b);
    }
  }
};

template <class Word>
struct Select {
  static Word run(Word a, Word b, LaneMask<Word> c) { return select(c, a, b); }
};

template <class Word, class C, bool ftz>
struct SelectBySign {
  static Word run(Word a, Word b, C c) {
    const bool first = ftz ? flushed<ftz>(static_cast<float>(c)) >= 0 : c >= 0;
    return select({static_cast<Word>(Word{0} - static_cast<Word>(first))}, a, b);
  }
};

template <class T>
void add_integers(OpTable& table, const std::string& type) {
  using Bits = std::make_unsigned_t<T>;
  add_comparison<Compare<Bits, Equal>, T>(table, "eq." + type);
  add_comparison<Compare<Bits, Not<Equal>>, T>(table, "ne." + type);
  if (type[0] == 'b') return;
  add_comparison<Compare<T, Less>, T>(table, "lt." + type);
  add_comparison<Compare<T, LessEqual>, T>(table, "le." + type);
  add_comparison<Compare<T, Not<LessEqual>>, T>(table, "gt." + type);
  add_comparison<Compare<T, Not<Less>>, T>(table, "ge." + type);
  if (type[0] == 's') return;
  add_comparison<Compare<T, Less>, T>(table, "lo." + type);
  add_comparison<Compare<T, LessEqual>, T>(table, "ls." + type);
  add_comparison<Compare<T, Not<LessEqual>>, T>(table, "hi." + type);
  add_comparison<Compare<T, Not<Less>>, T>(table, "hs." + type);
}

template <class T, bool ftz>
struct Comparisons {
  template <class Relation>
  static void add(OpTable& table, const std::string& relation) {
    const std::string type = sizeof(T) == 8 ? ".f64" : ftz ? ".ftz.f32" : ".f32";
    add_comparison<Compare<T, Relation, ftz>, T>(table, relation + type);
  }
};

template <class Op>
OpSpec selection(const std::string& type) {
  OpSpec spec = vector_spec<Op>();
  for (int i = 0; i < 3; ++i) spec.operands[static_cast<std::size_t>(i)] = ptx::type_named(type);
  return spec;
}

template <class Word>
void add_selections(OpTable& table, std::initializer_list<const char*> types) {
  for (const std::string type : types) {
    table.add({"selp.", type}, selection<Select<Word>>(type));
    table.add({"slct.", type, ".s32"}, selection<SelectBySign<Word, std::int32_t, false>>(type));
    table.add({"slct.", type, ".f32"}, selection<SelectBySign<Word, float, false>>(type));
    table.add({"slct.ftz.", type, ".f32"}, selection<SelectBySign<Word, float, true>>(type));
  }
}

void fill_comparisons(OpTable& table) {
  add_integers<std::uint16_t>(table, "b16");
  add_integers<std::uint32_t>(table, "b32");
  add_integers<std::uint64_t>(table, "b64");
  add_integers<std::uint16_t>(table, "u16");
  add_integers<std::uint32_t>(table, "u32");
  add_integers<std::uint64_t>(table, "u64");
  add_integers<std::int16_t>(table, "s16");
  add_integers<std::int32_t>(table, "s32");
  add_integers<std::int64_t>(table, "s64");
  add_relations<Comparisons<float, false>>(table);
  add_relations<Comparisons<float, true>>(table);
  add_relations<Comparisons<double, false>>(table);
  add_selections<std::uint16_t>(table, {"b16", "u16", "s16"});
  add_selections<std::uint32_t>(table, {"b32", "u32", "s32", "f32"});
  add_selections<std::uint64_t>(table, {"b64", "u64", "s64", "f64"});
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_comparisons(OpTable& table) { RUNG_PICK_LANES(fill_comparisons)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
