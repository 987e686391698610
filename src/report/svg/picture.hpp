#pragma once
// SVG pictures: shapes with classes, whose colours are in picture.css, for pages and for files.

#include <string>
#include <string_view>
#include <vector>

namespace rung::svg {

struct Point {
  double x, y;
};

struct Box {
  double x, y, width, height;
};

/// Distinguishable without colour.
enum class Marker { circle, square, triangle, diamond, cross };

class Picture {
 public:
  /// The size is in pixels at full size. `id`: of its title and description, unique in a page.
  Picture(std::string id, double width, double height, std::string title, std::string description);

  // Classes are those of picture.css. `hover`: the tooltip.
  void rect(const Box& box, std::string_view classes, std::string_view hover = "");
  void line(Point from, Point to, std::string_view classes, std::string_view hover = "");
  void polyline(const std::vector<Point>& points, std::string_view classes);
  /// `at`: the position on the baseline, where the text begins or, with class "middle" or "end", is
  /// centred or ends.
  void text(Point at, std::string_view text, std::string_view classes = "");
  void marker(Marker marker, Point at, std::string_view classes, std::string_view hover = "");
  /// Shapes until the next group or end_group() belong together, with the tooltip `hover`.
  void begin_group(std::string_view classes, std::string_view hover = "");
  void end_group();

  double width() const { return width_; }
  double height() const { return height_; }

  /// For a page that includes picture.css.
  std::string in_page() const;
  /// A self-contained file.
  std::string file() const;
  /// The same, with a text below the picture, wrapped to its width.
  std::string captioned_file(std::string_view caption) const;

 private:
  std::string open(std::string_view attributes) const;
  void shape(std::string element, std::string_view classes, std::string_view hover);

  std::string id_;
  double width_, height_;
  std::string title_, description_;
  std::string body_;
};

/// The stylesheet of pictures.
std::string_view picture_style();

/// Escapes characters with a meaning in XML and HTML as entities, and drops others that XML does
/// not allow.
std::string escape(std::string_view text);

}  // namespace rung::svg
