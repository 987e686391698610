#pragma once
// Components shared by plots with two axes.

#include <string>
#include <vector>

#include "tools/report/svg/picture.hpp"
#include "tools/report/svg/scale.hpp"

namespace rung {

inline constexpr double plot_width = 480;

/// An area with a grid, ticks and axis titles.
struct Frame {
  double left, right, top, bottom;
  svg::Scale x, y;

  svg::Point at(double x_value, double y_value) const { return {x.at(x_value), y.at(y_value)}; }
  void draw(svg::Picture& picture, const std::vector<svg::Tick>& x_ticks,
            const std::vector<svg::Tick>& y_ticks, const std::string& x_name,
            const std::string& y_name) const;
};

/// The width of the labels of an axis.
double width_of_labels(const std::vector<svg::Tick>& ticks);

/// Places labels without overlaps.
class Labels {
 public:
  /// `area`: the area in which labels may be placed.
  explicit Labels(const svg::Box& area) : area_(area) {}

  void keep_free(const svg::Box& box) { taken_.push_back(box); }
  /// Writes `text` next to a point, with a connecting line if it is not adjacent.
  void place(svg::Picture& picture, svg::Point point, const std::string& text);

 private:
  bool is_free(const svg::Box& box) const;

  svg::Box area_;
  std::vector<svg::Box> taken_;
};

/// The style of the nth series of a plot.
struct Look {
  const char* hue;  // CSS class
  svg::Marker marker;
  const char* line;  // CSS class: "", "dashed", "dotted"
};
Look look(std::size_t series);

}  // namespace rung
