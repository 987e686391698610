#pragma once
// What `rung tune gemm/cpu` has found on a machine: by how much the costs of its rungs are off.

#include <array>
#include <string>
#include <string_view>

#include "core/dtype.hpp"

namespace rung {

inline constexpr std::size_t rungs_with_costs = 6;

/// By which the costs are multiplied, in the order of gemm_rungs_with_costs().
struct CostFactors {
  std::array<double, rungs_with_costs> f32 = {1, 1, 1, 1, 1, 1};
  std::array<double, rungs_with_costs> f64 = {1, 1, 1, 1, 1, 1};

  const std::array<double, rungs_with_costs>& of(Dtype dtype) const {
    return dtype == Dtype::f64 ? f64 : f32;
  }
  std::array<double, rungs_with_costs>& of(Dtype dtype) { return dtype == Dtype::f64 ? f64 : f32; }
};

/// A factor from 0.1 to 10 per line: rung, dtype, factor, separated by blanks. Lines that begin
/// with # are comments. Throws std::runtime_error with the line if it has another form.
CostFactors parse_cost_factors(std::string_view text);
std::string format_cost_factors(const CostFactors& factors, std::string_view cpu);

/// Those of the user's file for this machine's CPU, read at the first use; 1 where there is none,
/// or no valid one. See tuned_path().
const CostFactors& cost_factors() noexcept;

}  // namespace rung
