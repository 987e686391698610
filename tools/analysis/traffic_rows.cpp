#include "tools/analysis/traffic_rows.hpp"

#include <fmt/format.h>

#include "backends/rungs/cuda.hpp"
#include "core/dtype.hpp"

namespace rung::analysis {
namespace {

TrafficForm form_of(const GemmSetting& setting, const MatrixUnits& units) {
  const cuda::Tiling tiling = setting.tiling();
  TrafficForm form;
  form.splits = setting.config.splits;
  form.cluster = setting.launch().cluster;
  const auto tiles = cuda::tiles_of(*setting.rung, setting.dtype);
  const bool stages_results =
      !tiles.empty() && tiles[static_cast<std::size_t>(setting.config.tile)].stages_results;
  form.stages_results = units.results_by_shared || stages_results;
  if (units.wgmma_rows > 0) {
    form.fragment_rows = units.wgmma_rows;
    form.fragment_columns = units.wgmma_columns;
    if (setting.info->compute_mode != ComputeMode::standard) form.read_of_element = 1.5;
    if (setting.info->compute_mode == ComputeMode::reproducible) form.copied_of_element = 0.75;
  } else if (units.instructions > 0) {
    form.fragment_rows = tiling.WM;
    form.fragment_columns = tiling.WN;
    if (setting.info->compute_mode == ComputeMode::split) form.read_of_element = 2;
  }
  return form;
}

TrafficRow counted_row(std::string name, std::string formula, double expected, double counted) {
  TrafficRow row;
  row.name = std::move(name);
  row.expected.text = std::move(formula);
  row.expected.constant = expected;
  row.constant = counted;
  return row;
}

/// There is no formula for rungs that do not use tiles in shared memory, compute several products
/// per block, find their tiles already in shared memory, read one operand in parts, stream rows
/// past the columns of an operand (repeatedly for long k), or load boxes wider than their tiles.
/// Uses the counted traffic instead.
Traffic counted_traffic(const Samples& samples) {
  const auto formula = [&](double Quantities::* member) {
    return Formula{samples.per_k(member), samples.constant(member), "-"};
  };
  return {.global_loads = formula(&Quantities::global_load_elements),
          .global_stores = formula(&Quantities::global_store_elements),
          .shared_loads = formula(&Quantities::shared_load_elements),
          .shared_stores = formula(&Quantities::shared_store_elements)};
}

}  // namespace

Traffic expected_traffic(const GemmSetting& setting, const Samples& samples) {
  const cuda::Tiling tiling = setting.tiling();
  const bool has_room = setting.launch().products_per_block > 1;
  const bool reads_parts =
      setting.info->compute_mode == ComputeMode::split && setting.dtype == Dtype::bf16;
  const bool rows_pass = tiling.WN > 0 && tiling.WM == 0;
  const bool boxes_are_wider = setting.launch().products_per_block > 0 && tiling.BN % 32 != 0;
  if (has_room || setting.rung->groups || reads_parts || rows_pass || boxes_are_wider ||
      (tiling.BM > 0 && tiling.BK == 0)) {
    return counted_traffic(samples);
  }
  return gemm_traffic(setting.tiling(), form_of(setting, samples.trace2.matrix_units));
}

std::vector<TrafficRow> traffic_rows(const Traffic& expected, const Samples& samples) {
  const auto row = [&](std::string name, const Formula& formula, double Quantities::* member) {
    return TrafficRow{std::move(name), formula, samples.per_k(member), samples.constant(member)};
  };
  return {row("global loads", expected.global_loads, &Quantities::global_load_elements),
          row("global stores", expected.global_stores, &Quantities::global_store_elements),
          row("shared loads", expected.shared_loads, &Quantities::shared_load_elements),
          row("shared stores", expected.shared_stores, &Quantities::shared_store_elements)};
}

std::vector<TrafficRow> gemm_rows(const GemmSetting& setting, const Samples& samples) {
  return traffic_rows(expected_traffic(setting, samples), samples);
}

std::vector<TrafficRow> vector_rows(const Quantities& counted, double vectors, Dtype dtype,
                                    double n) {
  const auto element = static_cast<double>(input_bytes(dtype));
  return {counted_row("global loads", fmt::format("{:.0f}", vectors), vectors,
                      counted.global_load_bytes / element / n),
          counted_row("global stores", "", 0, counted.global_store_elements / n),
          counted_row("shared loads", "", 0, counted.shared_load_elements / n),
          counted_row("shared stores", "", 0, counted.shared_store_elements / n)};
}

}  // namespace rung::analysis
