#include "tools/analysis/extrapolation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace rung::analysis {
namespace {

std::uint64_t count(std::uint64_t shorter, std::uint64_t longer, const Extrapolation& to) {
  const double first = static_cast<double>(shorter), second = static_cast<double>(longer);
  return static_cast<std::uint64_t>(
      std::llround(std::max(0.0, to.times * (first + to.step * (second - first)))));
}

SiteCount site(const SiteCount& shorter, const SiteCount& longer, const Extrapolation& to) {
  return {longer.ptx_line, count(shorter.executions, longer.executions, to),
          count(shorter.lanes, longer.lanes, to), count(shorter.units, longer.units, to)};
}

/// Extrapolates a structure that consists only of counts.
template <class Counts>
Counts all(const Counts& shorter, const Counts& longer, const Extrapolation& to) {
  using Array = std::array<std::uint64_t, sizeof(Counts) / sizeof(std::uint64_t)>;
  static_assert(sizeof(Array) == sizeof(Counts));
  const auto first = std::bit_cast<Array>(shorter), second = std::bit_cast<Array>(longer);
  Array whole;
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = count(first[i], second[i], to);
  return std::bit_cast<Counts>(whole);
}

/// The count of the same instruction in the shorter problem; zero if it was not executed there.
SiteCount found_in(const std::vector<SiteCount>& sites, std::size_t index, const SiteCount& wanted,
                   std::size_t longer) {
  if (sites.size() == longer) return sites[index];
  const auto found = std::ranges::find(sites, wanted.ptx_line, &SiteCount::ptx_line);
  return found == sites.end() ? SiteCount{wanted.ptx_line, 0, 0, 0} : *found;
}

}  // namespace

KernelTrace extrapolated(const KernelTrace& shorter, const KernelTrace& longer,
                         const Extrapolation& to) {
  KernelTrace trace = longer;
  trace.counters = all(shorter.counters, longer.counters, to);
  for (std::size_t i = 0; i < trace.sites.size(); ++i) {
    trace.sites[i] =
        site(found_in(shorter.sites, i, longer.sites[i], longer.sites.size()), longer.sites[i], to);
  }
  const bool same = shorter.accesses.size() == longer.accesses.size();
  for (std::size_t i = 0; i < trace.accesses.size(); ++i) {
    const SiteCount& second = longer.accesses[i].count;
    trace.accesses[i].count = site(same ? shorter.accesses[i].count : second, second, to);
  }
  trace.multiply_adds =
      static_cast<double>(count(static_cast<std::uint64_t>(shorter.multiply_adds),
                                static_cast<std::uint64_t>(longer.multiply_adds), to));
  trace.footprint = {all<vgpu::FootprintCounts>(shorter.footprint, longer.footprint, to), {}};
  return trace;
}

}  // namespace rung::analysis
