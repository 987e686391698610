#pragma once
// What plots with two axes share.

#include <string>
#include <vector>

#include "report/svg/picture.hpp"
#include "report/svg/scale.hpp"

namespace rung {

inline constexpr double plot_width = 480;

/// An area with a grid, ticks and the names of its axes.
struct Frame {
  double left, right, top, bottom;
  svg::Scale x, y;

  svg::Point at(double x_value, double y_value) const { return {x.at(x_value), y.at(y_value)}; }
  void draw(svg::Picture& picture, const std::vector<svg::Tick>& x_ticks,
            const std::vector<svg::Tick>& y_ticks, const std::string& x_name,
            const std::string& y_name) const;
};

/// What the labels of an axis take at its side.
double width_of_labels(const std::vector<svg::Tick>& ticks);

/// Finds places for labels where no other label is.
class Labels {
 public:
  /// Labels keep inside.
  explicit Labels(const svg::Box& area) : area_(area) {}

  void keep_free(const svg::Box& box) { taken_.push_back(box); }
  /// Writes `text` beside a point, with a line to it where that is not next to it.
  void place(svg::Picture& picture, svg::Point point, const std::string& text);

 private:
  bool is_free(const svg::Box& box) const;

  svg::Box area_;
  std::vector<svg::Box> taken_;
};

/// How the nth series of a plot looks.
struct Look {
  const char* hue;  // a class
  svg::Marker marker;
  const char* line;  // a class: "", "dashed", "dotted"
};
Look look(std::size_t series);

}  // namespace rung
