#pragma once
// SVG pictures for pages and files: shapes with classes, whose colors are defined in picture.css.

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

/// Distinguishable without color.
enum class Marker { circle, square, triangle, diamond, cross };

class Picture {
 public:
  /// The size is in pixels at full scale. `id`: for title and description; unique within a page.
  Picture(std::string id, double width, double height, std::string title, std::string description);

  // `classes`: CSS classes of picture.css. `hover`: the tooltip.
  void rect(const Box& box, std::string_view classes, std::string_view hover = "");
  void line(Point from, Point to, std::string_view classes, std::string_view hover = "");
  void polyline(const std::vector<Point>& points, std::string_view classes);
  /// `at`: the position on the baseline of the start, the center (class "middle") or the end (class
  /// "end") of the text.
  void text(Point at, std::string_view text, std::string_view classes = "");
  void marker(Marker marker, Point at, std::string_view classes, std::string_view hover = "");
  /// Groups the shapes up to the next begin_group() or end_group(). `hover`: the tooltip of the
  /// group.
  void begin_group(std::string_view classes, std::string_view hover = "");
  void end_group();

  double width() const { return width_; }
  double height() const { return height_; }

  /// For a page that includes picture.css.
  std::string in_page() const;
  /// A self-contained file.
  std::string file() const;
  /// A self-contained file with a caption below the picture, wrapped to its width.
  std::string captioned_file(std::string_view caption) const;

 private:
  std::string open(std::string_view attributes) const;
  void shape(std::string element, std::string_view classes, std::string_view hover);

  std::string id_;
  double width_, height_;
  std::string title_, description_;
  std::string body_;
};

/// The style sheet of pictures.
std::string_view picture_style();

/// Replaces special characters of XML and HTML by entities, and removes characters not allowed in
/// XML.
std::string escape(std::string_view text);

}  // namespace rung::svg
