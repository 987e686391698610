#include "analysis/traffic.hpp"

#include <fmt/format.h>

namespace rung::analysis {
namespace {

std::string share(int of) { return of == 1 ? "K" : fmt::format("K/{}", of); }

/// An element of A serves `columns` results, one of B `rows`.
Formula operands(int columns, int rows) {
  Formula formula;
  formula.per_k = 1.0 / columns + 1.0 / rows;
  formula.text =
      columns == 1 && rows == 1 ? "2K" : fmt::format("{} + {}", share(columns), share(rows));
  return formula;
}

void add_constant(Formula& formula, int constant) {
  formula.constant += constant;
  formula.text = formula.text == "0" ? std::to_string(constant)
                                     : fmt::format("{} + {}", formula.text, constant);
}

}  // namespace

Traffic gemm_traffic(const cuda::Tiling& tiling, int splits) {
  Traffic traffic;
  const Formula by_threads = operands(tiling.TN, tiling.TM);
  if (tiling.BK == 0) {
    traffic.global_loads = by_threads;
  } else {
    traffic.global_loads = operands(tiling.BN, tiling.BM);
    traffic.shared_stores = traffic.global_loads;
    traffic.shared_loads = by_threads;
  }
  add_constant(traffic.global_stores, 1);
  if (splits > 1) {
    add_constant(traffic.global_stores, splits);
    add_constant(traffic.global_loads, splits);
  }
  return traffic;
}

Traffic gemm_traffic(const metal::Tiling& tiling) {
  const bool by_simdgroups = tiling.WM > 0;
  Traffic traffic = gemm_traffic(cuda::Tiling{.BM = tiling.BM,
                                              .BN = tiling.BN,
                                              .BK = tiling.BK,
                                              .TM = by_simdgroups ? tiling.WM : tiling.TM,
                                              .TN = by_simdgroups ? tiling.WN : tiling.TN},
                                 1);
  if (by_simdgroups) {
    add_constant(traffic.shared_stores, 1);
    add_constant(traffic.shared_loads, 1);
  }
  return traffic;
}

}  // namespace rung::analysis
