#include "tools/report/svg/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/embed.hpp"
#include "tools/report/utf8.hpp"

RUNG_EMBED(rung_picture_style, RUNG_STYLE)

namespace rung::svg {
namespace {

/// Rounds to a tenth of a pixel.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string points_of(const std::vector<Point>& points) {
  std::string text;
  for (const auto& [x, y] : points) {
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(x), number(y));
  }
  return text;
}

std::vector<Point> corners(Marker marker, Point at) {
  constexpr double r = 5;
  switch (marker) {
    case Marker::triangle: return {{at.x, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}};
    case Marker::diamond:
      return {
          {at.x, at.y - r - 1}, {at.x + r + 1, at.y}, {at.x, at.y + r + 1}, {at.x - r - 1, at.y}};
    case Marker::cross:
      return {{at.x - r, at.y - 1.5}, {at.x - 1.5, at.y - 1.5}, {at.x - 1.5, at.y - r},
              {at.x + 1.5, at.y - r}, {at.x + 1.5, at.y - 1.5}, {at.x + r, at.y - 1.5},
              {at.x + r, at.y + 1.5}, {at.x + 1.5, at.y + 1.5}, {at.x + 1.5, at.y + r},
              {at.x - 1.5, at.y + r}, {at.x - 1.5, at.y + 1.5}, {at.x - r, at.y + 1.5}};
    default: return {};
  }
}

}  // namespace

Picture::Picture(std::string id, double width, double height, std::string title,
                 std::string description)
    : id_(std::move(id)),
      width_(width),
      height_(height),
      title_(std::move(title)),
      description_(std::move(description)) {}

void Picture::shape(std::string element, std::string_view classes, std::string_view hover) {
  if (!classes.empty()) element += fmt::format(" class=\"{}\"", escape(classes));
  const std::string name = element.substr(1, element.find(' ') - 1);
  body_ += hover.empty() ? element + "/>\n"
                         : fmt::format("{}><title>{}</title></{}>\n", element, escape(hover), name);
}

void Picture::rect(const Box& box, std::string_view classes, std::string_view hover) {
  shape(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(box.x),
                    number(box.y), number(box.width), number(box.height)),
        classes, hover);
}

void Picture::line(Point from, Point to, std::string_view classes, std::string_view hover) {
  shape(fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", number(from.x), number(from.y),
                    number(to.x), number(to.y)),
        classes, hover);
}

void Picture::polyline(const std::vector<Point>& points, std::string_view classes) {
  shape(fmt::format("<polyline points=\"{}\"", points_of(points)), classes, "");
}

void Picture::text(Point at, std::string_view text, std::string_view classes) {
  const std::string attribute =
      classes.empty() ? "" : fmt::format(" class=\"{}\"", escape(classes));
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", number(at.x), number(at.y),
                       attribute, escape(text));
}

void Picture::marker(Marker marker, Point at, std::string_view classes, std::string_view hover) {
  std::string element;
  if (marker == Marker::circle) {
    element = fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"5\"", number(at.x), number(at.y));
  } else if (marker == Marker::square) {
    element = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"9\" height=\"9\"", number(at.x - 4.5),
                          number(at.y - 4.5));
  } else {
    element = fmt::format("<polygon points=\"{}\"", points_of(corners(marker, at)));
  }
  shape(std::move(element), classes, hover);
}

void Picture::begin_group(std::string_view classes, std::string_view hover) {
  body_ += classes.empty() ? "<g>" : fmt::format("<g class=\"{}\">", escape(classes));
  if (!hover.empty()) body_ += fmt::format("<title>{}</title>", escape(hover));
  body_ += "\n";
}

void Picture::end_group() { body_ += "</g>\n"; }

std::string Picture::open(std::string_view attributes) const {
  return fmt::format(
      "<svg{} class=\"picture\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-title "
      "{}-desc\">\n<title id=\"{}-title\">{}</title>\n<desc id=\"{}-desc\">{}</desc>\n",
      attributes, number(width_), number(height_), id_, id_, id_, escape(title_), id_,
      escape(description_));
}

std::string Picture::in_page() const { return open("") + body_ + "</svg>\n"; }

std::string Picture::file() const {
  const std::string attributes =
      fmt::format(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"",
                  number(width_), number(height_));
  return fmt::format(
      "{}<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
      open(attributes), picture_style(), body_);
}

std::string Picture::captioned_file(std::string_view caption) const {
  constexpr double least_width = 480, letter = 6.5, line_height = 17, margin = 12;
  Picture captioned = *this;
  captioned.width_ = std::max(width_, least_width);
  double y = height_ + margin;
  const auto most = static_cast<std::size_t>((captioned.width_ - 2 * margin) / letter);
  while (!caption.empty()) {
    std::size_t end = caption.size() <= most ? caption.size() : caption.rfind(' ', most);
    if (end == caption.npos) end = caption.size();
    captioned.text({margin, y += line_height}, caption.substr(0, end));
    caption.remove_prefix(std::min(end + 1, caption.size()));
  }
  captioned.height_ = y + margin;
  return captioned.file();
}

std::string_view picture_style() { return RUNG_EMBEDDED(rung_picture_style); }

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char character : valid_utf8(text)) {
    switch (character) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\n':
      case '\t': escaped += character; break;
      default:
        if (static_cast<unsigned char>(character) >= 0x20) escaped += character;
    }
  }
  return escaped;
}

}  // namespace rung::svg
