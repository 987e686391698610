#pragma once
// The conditions of a selection rule. A table of rules is read from the top; the first match
// decides.

#include <cstdint>
#include <limits>
#include <optional>

#include "backends/cpu/rungs.hpp"
#include "core/dtype.hpp"
#include "device/cpu/isa.hpp"
#include "device/cpu/rung.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A rung with its name in the catalog.
template <class Rung>
struct Named {
  const char* id;
  const Rung* rung;
};
#define RUNG_GEMM(number, idea) \
  Named<cpu::GemmRung> { "gemm/cpu/" #number "_" #idea, &gemm_cpu_##number##_##idea }
#define RUNG_DOT(number, idea) \
  Named<cpu::DotRung> { "dot/cpu/" #number "_" #idea, &dot_cpu_##number##_##idea }

/// A set of dtypes: of(Dtype::f32, Dtype::f64).
class Dtypes {
 public:
  template <class... D>
  static constexpr Dtypes of(D... dtypes) {
    return Dtypes((0u | ... | bit(dtypes)));
  }
  static constexpr Dtypes all() { return Dtypes(~0u); }

  constexpr bool has(Dtype dtype) const { return (bits_ & bit(dtype)) != 0; }

 private:
  explicit constexpr Dtypes(unsigned bits) : bits_(bits) {}
  static constexpr unsigned bit(Dtype dtype) { return 1u << static_cast<unsigned>(dtype); }

  unsigned bits_;
};

inline constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();
/// Work is a double, because m * n * k may exceed 2^63.
inline constexpr double any_work = std::numeric_limits<double>::infinity();
/// For work_per_thread: more threads never pay off.
inline constexpr double one_thread = any_work;

/// Whether a rung of one compute mode may compute in another: the promises of standard include those
/// of split, and for integers all.
constexpr bool fits_mode(ComputeMode rung, ComputeMode asked, Dtype dtype) {
  if (rung == asked) return true;
  return rung == ComputeMode::standard && (asked == ComputeMode::split || is_integer(dtype));
}

struct GemmRule {
  Dtypes dtypes = Dtypes::all();
  ComputeMode compute_mode = ComputeMode::standard;
  cpu::Isa needs = cpu::Isa::scalar;         // of the machine
  std::int64_t min_m = 0, max_m = any_size;  // inclusive, for the canonical form: C is row-major
  std::int64_t min_n = 0, max_n = any_size;
  std::int64_t min_k = 0, max_k = any_size;
  double max_work = any_work;           // m * n * k
  std::optional<Order> a = {}, b = {};  // storage order of A and B; empty: any
  double work_per_thread;               // multiply-adds that pay for one more thread
  Named<cpu::GemmRung> use;
};

struct DotRule {
  Dtypes dtypes = Dtypes::all();
  DotMode mode = DotMode::deterministic;  // none is specific to fast: see select.hpp
  std::int64_t max_n = any_size;
  double work_per_thread;  // elements that justify one more thread
  Named<cpu::DotRung> use;
  bool strides_are_unit = true;  // false: any strides
};

}  // namespace rung
