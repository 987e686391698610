#include "library/cost_factors.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <locale>
#include <sstream>
#include <stdexcept>

#include "core/tuned_path.hpp"
#include "device/cpu/machine.hpp"
#include "library/cheapest_gemm.hpp"

namespace rung {
namespace {

constexpr double least = 0.1, most = 10;

void read_line(const std::string& line, CostFactors& factors) {
  std::istringstream words(line);
  words.imbue(std::locale::classic());
  std::string rung, dtype, more;
  double factor = 0;
  const bool complete = static_cast<bool>(words >> rung >> dtype >> factor) && !(words >> more);
  const auto rungs = gemm_rungs_with_costs();
  const auto found =
      std::find_if(rungs.begin(), rungs.end(), [&](const auto& named) { return named.id == rung; });
  const bool is_known = found != rungs.end() && (dtype == "f32" || dtype == "f64");
  if (!complete || !is_known || !(factor >= least && factor <= most)) {
    throw std::runtime_error("'" + line +
                             "' is not 'RUNG DTYPE FACTOR', as rung tune gemm/cpu writes it");
  }
  factors.of(dtype == "f64" ? Dtype::f64
                            : Dtype::f32)[static_cast<std::size_t>(found - rungs.begin())] = factor;
}

}  // namespace

CostFactors parse_cost_factors(std::string_view text) {
  CostFactors factors;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') read_line(line, factors);
  }
  return factors;
}

std::string format_cost_factors(const CostFactors& factors, std::string_view cpu) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(4);
  text << "# Found by `rung tune` on " << cpu << ": rung, dtype, factor of its costs.\n";
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (std::size_t i = 0; i < rungs_with_costs; ++i) {
      text << gemm_rungs_with_costs()[i].id << (dtype == Dtype::f64 ? " f64 " : " f32 ")
           << factors.of(dtype)[i] << '\n';
    }
  }
  return text.str();
}

const CostFactors& cost_factors() noexcept {
  static const CostFactors found = []() -> CostFactors {
    try {
      std::ifstream file(tuned_path(cpu::model()));
      if (!file) return {};
      return parse_cost_factors(std::string(std::istreambuf_iterator<char>(file), {}));
    } catch (...) {  // no memory, or not what `rung tune` has written
      return {};
    }
  }();
  return found;
}

}  // namespace rung
