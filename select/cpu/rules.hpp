#pragma once
// Selection rules for CPUs: the form of the tables in tables.hpp.

#include <cstdint>
#include <optional>

#include "backends/rungs/cpu.hpp"
#include "core/dtype_traits.hpp"
#include "device/cpu/isa.hpp"
#include "device/cpu/rung_descriptor.hpp"
#include "rung/matrix.hpp"
#include "select/rules.hpp"

namespace rung {

/// A rung with its name in the catalog.
template <class Rung>
struct Named {
  const char* id;
  const Rung* rung;
};
#define RUNG_GEMM(slug) \
  Named<cpu::GemmRung> { "gemm/cpu/" #slug, &gemm_cpu_##slug }
#define RUNG_DOT(slug) \
  Named<cpu::DotRung> { "dot/cpu/" #slug, &dot_cpu_##slug }

/// For work_per_thread: more threads never pay off.
inline constexpr double one_thread = any_work;

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
  DotMode mode = DotMode::deterministic;  // no rule is specific to fast: see select.hpp
  std::int64_t max_n = any_size;
  double work_per_thread;  // elements that justify one more thread
  Named<cpu::DotRung> use;
  bool strides_are_unit = true;  // false: any strides
};

}  // namespace rung
