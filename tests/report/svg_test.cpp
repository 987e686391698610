// Pictures: their text, and the positions of their elements.

#include <gtest/gtest.h>

#include "tools/report/numbers.hpp"
#include "tools/report/svg/picture.hpp"
#include "tools/report/svg/scale.hpp"

namespace rung {
namespace {

TEST(Svg, TextIsEscaped) {
  EXPECT_EQ(svg::escape("a<b & \"c\">\x01"), "a&lt;b &amp; &quot;c&quot;&gt;");
  svg::Picture picture("p", 10, 10, "<title>", "a & b");
  picture.rect({0, 0, 1, 1}, "blue", "x < y");
  const std::string text = picture.in_page();
  EXPECT_NE(text.find("&lt;title&gt;</title>"), std::string::npos) << text;
  EXPECT_NE(text.find("<title>x &lt; y</title></rect>"), std::string::npos) << text;
}

TEST(Svg, AFileHasItsStyleAndSize) {
  const std::string text = svg::Picture("p", 10, 20.25, "t", "d").file();
  EXPECT_NE(text.find("xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"20.2\""),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(Scale, LinearAndLogarithmic) {
  EXPECT_DOUBLE_EQ(svg::Scale::linear(0, 10, 100, 200).at(5), 150);
  EXPECT_DOUBLE_EQ(svg::Scale::logarithmic(1, 100, 100, 200).at(10), 150);
  // If all values are equal, the scale is still valid.
  EXPECT_DOUBLE_EQ(svg::Scale::logarithmic(4, 4, 0, 1).at(4), 0);
}

std::vector<std::string> labels(const std::vector<svg::Tick>& ticks) {
  std::vector<std::string> text;
  for (const svg::Tick& tick : ticks) text.push_back(tick.label);
  return text;
}

TEST(Scale, TicksAreRound) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(svg::round_ticks(1050, 5)), (Labels{"0", "500", "1000"}));
  EXPECT_EQ(labels(svg::decade_ticks(0.05, 200)), (Labels{"0.1", "1", "10", "100"}));
  EXPECT_EQ(labels(svg::decade_ticks(3, 30)), (Labels{"5", "10", "20"}));
}

TEST(Numbers, AsReadersWantThem) {
  EXPECT_EQ(format_three(0.0605), "0.0605");
  EXPECT_EQ(format_three(2.526), "2.53");
  EXPECT_EQ(format_three(500.08), "500");
  EXPECT_EQ(format_three(51748.2), "51\u00a0748");
  EXPECT_EQ(format_percent(0.794), "79 %");
  EXPECT_EQ(format_percent(0.0077), "0.8 %");
  EXPECT_EQ(format_ratio(1.064), "1.06");
  EXPECT_EQ(format_ratio(0.0097), "0.010");
  EXPECT_EQ(format_ratio(std::nullopt), "–");
  EXPECT_EQ(format_time(6.16e-6), "6.16 µs");
  EXPECT_EQ(format_time(2), "2.00 s");
}

TEST(Numbers, OfProgress) {
  EXPECT_EQ(format_progress(0.25, 30), "25 % done, 1:30 left");
  EXPECT_EQ(format_progress(1, 30), "100 % done, 0:00 left");
  EXPECT_EQ(format_progress(0.01, 30), "1 % done");  // too early for an estimate
  EXPECT_EQ(format_progress(0.5, 0.1), "50 % done");
}

}  // namespace
}  // namespace rung
