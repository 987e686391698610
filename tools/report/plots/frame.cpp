#include "tools/report/plots/frame.hpp"

#include <algorithm>
#include <cmath>

#include "tools/report/utf8.hpp"

namespace rung {

void Frame::draw(svg::Picture& picture, const std::vector<svg::Tick>& x_ticks,
                 const std::vector<svg::Tick>& y_ticks, const std::string& x_name,
                 const std::string& y_name) const {
  for (const svg::Tick& tick : y_ticks) {
    if (!y.contains(tick.value)) continue;
    const double at = y.at(tick.value);
    picture.line({left, at}, {right, at}, "grid");
    picture.text({left - 6, at + 4}, tick.label, "soft end");
  }
  double last = -100;
  for (const svg::Tick& tick : x_ticks) {
    if (!x.contains(tick.value)) continue;
    const double at = x.at(tick.value);
    picture.line({at, top}, {at, bottom}, "grid");
    const double half = 3.6 * static_cast<double>(tick.label.size());
    if (at - half < last) continue;
    last = at + half + 4;
    picture.text({at, bottom + 16}, tick.label, "soft middle");
  }
  picture.line({left, bottom}, {right, bottom}, "axis");
  picture.text({right, bottom + 33}, x_name, "soft end");
  picture.text({4, 14}, y_name, "soft");
}

double width_of_labels(const std::vector<svg::Tick>& ticks) {
  std::size_t longest = 0;
  for (const svg::Tick& tick : ticks) longest = std::max(longest, tick.label.size());
  return 7.0 * static_cast<double>(longest);
}

bool Labels::is_free(const svg::Box& box) const {
  if (box.x < area_.x || box.y < area_.y || box.x + box.width > area_.x + area_.width ||
      box.y + box.height > area_.y + area_.height) {
    return false;
  }
  return std::none_of(taken_.begin(), taken_.end(), [&](const svg::Box& other) {
    return box.x < other.x + other.width && other.x < box.x + box.width &&
           box.y < other.y + other.height && other.y < box.y + box.height;
  });
}

void Labels::place(svg::Picture& picture, svg::Point point, const std::string& text) {
  constexpr double height = 12, gap = 8;
  constexpr std::size_t crowded = 500;  // labels would be unreadable, and placement is quadratic
  if (taken_.size() > crowded) return;
  const double width = 6.8 * static_cast<double>(count_characters(text));
  const auto try_at = [&](double dx, double dy) {
    const svg::Box box{point.x + dx, point.y + dy - height / 2, width, height};
    if (!is_free(box)) return false;
    if (std::hypot(dx, dy) > gap + width + 6 || std::abs(dy) > 20) {
      const double end = dx > 0 ? box.x - 1 : box.x + width + 1;
      picture.line(point, {end, box.y + height / 2}, "axis");
    }
    picture.text({box.x, box.y + height - 2}, text, "halo");
    keep_free(box);
    return true;
  };
  for (double distance = 0; distance < 160; distance += 5) {
    for (const double dy : {-distance, distance}) {
      if (try_at(gap, dy) || try_at(-gap - width, dy)) return;
    }
  }
  picture.text({point.x + gap, point.y + 4}, text);
}

Look look(std::size_t series) {
  using svg::Marker;
  constexpr Look looks[] = {{"blue", Marker::circle, ""},
                            {"orange", Marker::square, "dashed"},
                            {"green", Marker::triangle, "dashed"},
                            {"purple", Marker::diamond, "dashed"},
                            {"grey", Marker::cross, "dotted"}};
  return looks[std::min(series, std::size(looks) - 1)];
}

}  // namespace rung
