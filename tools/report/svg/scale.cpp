#include "tools/report/svg/scale.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tools/report/numbers.hpp"

namespace rung::svg {

Scale::Scale(bool logarithmic, double low, double high, double from, double to)
    : logarithmic_(logarithmic),
      low_(low),
      high_(high > low ? high : low + 1),
      from_(from),
      to_(to) {}

Scale Scale::linear(double low, double high, double from, double to) {
  return {false, low, high, from, to};
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  return {true, low, high > low ? high : 2 * low, from, to};
}

double Scale::at(double value) const {
  const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::vector<Tick> round_ticks(double high, int count) {
  const double rough = high / count;
  const double power = decade_below(rough);
  const double step = rough <= power       ? power
                      : rough <= 2 * power ? 2 * power
                      : rough <= 5 * power ? 5 * power
                                           : 10 * power;
  std::vector<Tick> ticks;
  for (int i = 0; i * step <= high * (1 + 1e-9); ++i) {
    ticks.push_back({i * step, tick_label(i * step)});
  }
  return ticks;
}

std::vector<Tick> decade_ticks(double low, double high) {
  const bool few = high / low < 1000;
  std::vector<Tick> ticks;
  for (double power = decade_below(low); power <= high * (1 + 1e-9); power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      if (factor > 1 && !few) continue;
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      ticks.push_back({value, tick_label(value)});
    }
  }
  return ticks;
}

double decade_below(double value) { return std::pow(10, std::floor(std::log10(value) + 1e-9)); }

std::string tick_label(double value) {
  if (value >= 1000) return format_grouped(value);
  return fmt::format("{:.6g}", value);
}

}  // namespace rung::svg
