#pragma once
// Pictures as SVG: shapes with classes, whose colours are in picture.css, for a page and for files.

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

/// Told apart without colour.
enum class Marker { circle, square, triangle, diamond, cross };

class Picture {
 public:
  /// Size in units that are pixels where it is shown as large as it is. `id`: of its title and
  /// description, one of a kind in a page.
  Picture(std::string id, double width, double height, std::string title, std::string description);

  // Classes are those of picture.css. `hover`: what a pointer that rests on it is told.
  void rect(const Box& box, std::string_view classes, std::string_view hover = "");
  void line(Point from, Point to, std::string_view classes, std::string_view hover = "");
  void polyline(const std::vector<Point>& points, std::string_view classes);
  /// `at`: on its baseline; it begins there, or with class "middle" or "end" is or ends there.
  void text(Point at, std::string_view text, std::string_view classes = "");
  void marker(Marker marker, Point at, std::string_view classes, std::string_view hover = "");
  /// Shapes until the next group or end_group() are one thing, told as `hover`.
  void begin_group(std::string_view classes, std::string_view hover = "");
  void end_group();

  double width() const { return width_; }
  double height() const { return height_; }

  /// For a page that has picture.css.
  std::string in_page() const;
  /// A file of its own.
  std::string file() const;

 private:
  std::string open(std::string_view attributes) const;
  void shape(std::string element, std::string_view classes, std::string_view hover);

  std::string id_;
  double width_, height_;
  std::string title_, description_;
  std::string body_;
};

/// The colours and lines of pictures.
std::string_view picture_style();

/// With the characters that XML and HTML take for their own written as entities; others that XML
/// does not allow are left out.
std::string escape(std::string_view text);

}  // namespace rung::svg
