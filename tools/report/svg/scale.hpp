#pragma once
// Maps values to positions along an axis.

#include <string>
#include <vector>

namespace rung::svg {

struct Tick {
  double value;
  std::string label;
};

/// A linear or logarithmic map of the values from `low` to `high` to the positions from `from` to
/// `to`.
class Scale {
 public:
  static Scale linear(double low, double high, double from, double to);
  /// Precondition: low > 0.
  static Scale logarithmic(double low, double high, double from, double to);

  double at(double value) const;
  bool contains(double value) const { return value >= low_ && value <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  Scale(bool logarithmic, double low, double high, double from, double to);

  bool logarithmic_;
  double low_, high_, from_, to_;
};

/// Round numbers (1, 2 or 5 times a power of ten) from 0 to `high`, about `count` of them.
std::vector<Tick> round_ticks(double high, int count);
/// Powers of ten from `low` to `high`; if there are fewer than three, also 2 and 5 times these.
std::vector<Tick> decade_ticks(double low, double high);

/// The largest power of ten not above the value.
double decade_below(double value);

/// "0.5", "1000", "20 000".
std::string tick_label(double value);

}  // namespace rung::svg
