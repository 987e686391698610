#include "tools/analysis/traffic.hpp"

#include <fmt/format.h>

namespace rung::analysis {
namespace {

std::string share(int of) { return of == 1 ? "K" : fmt::format("K/{}", of); }

/// Each element of A is used for `columns` results, each element of B for `rows`.
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

void scale(Formula& formula, double factor) {
  if (factor == 1) return;
  formula.per_k *= factor;
  formula.text = fmt::format("{} ({})", factor, formula.text);
}

}  // namespace

Traffic gemm_traffic(const cuda::Tiling& tiling, const TrafficForm& form) {
  Traffic traffic;
  const Formula by_threads = form.fragment_rows > 0
                                 ? operands(form.fragment_columns, form.fragment_rows)
                                 : operands(tiling.TN, tiling.TM);
  if (tiling.BK == 0) {
    traffic.global_loads = by_threads;
  } else {
    traffic.global_loads = operands(tiling.BN, tiling.BM * form.cluster);
    traffic.shared_stores = operands(tiling.BN, tiling.BM);
    traffic.shared_loads = by_threads;
    scale(traffic.global_loads, form.copied_of_element);
    scale(traffic.shared_stores, form.copied_of_element);
    scale(traffic.shared_loads, form.read_of_element);
  }
  if (form.stages_results) {
    add_constant(traffic.shared_stores, 1);
    add_constant(traffic.shared_loads, 1);
  }
  add_constant(traffic.global_stores, 1);
  if (form.splits > 1) {
    add_constant(traffic.global_stores, form.splits);
    add_constant(traffic.global_loads, form.splits);
  }
  return traffic;
}

Traffic gemm_traffic(const metal::Tiling& tiling) {
  const cuda::Tiling same = {
      .BM = tiling.BM, .BN = tiling.BN, .BK = tiling.BK, .TM = tiling.TM, .TN = tiling.TN};
  return gemm_traffic(
      same,
      {.fragment_rows = tiling.WM, .fragment_columns = tiling.WN, .stages_results = tiling.WM > 0});
}

}  // namespace rung::analysis
