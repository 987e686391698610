// Tables, questions and expressions.

#include "tools/layout/view.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/layout/expression.hpp"
#include "vgpu/layout.hpp"

namespace rung::layout {
namespace {

View fragment_view() {
  View view;
  view.axes = {"row", "column"};
  view.fragment = vgpu::layout::fragment("mma", "m16n8k16", vgpu::MatrixElement::bf16,
                                         vgpu::MatrixElement::f32, 'A');
  view.title = view.fragment->what;
  return view;
}

View memory_view() {
  View view;
  view.title = "two rows";
  view.axes = {"row", "column"};
  view.element_bits = 16;
  view.along = 1;
  view.cells = {{{0, 0}, 0, 16}, {{0, 8}, 16, 16}, {{1, 0}, 144, 16}};
  return view;
}

TEST(View, AnswersWhereAnElementIs) {
  EXPECT_EQ(where_is(fragment_view(), {9, 11}),
            std::vector<std::string>{
                "row 9, column 11: lane 5, register 3, element 1 from the low bits"});
  EXPECT_EQ(
      where_is(memory_view(), {0, 11}),
      std::vector<std::string>{"row 0, column 11: byte 22 (0x16), in bank 5, chunk 1 of line 0"});
  EXPECT_THROW((void)where_is(memory_view(), {1, 8}), std::invalid_argument);
  EXPECT_THROW((void)where_is(memory_view(), {1}), std::invalid_argument);
}

TEST(View, AnswersWhatIsThere) {
  EXPECT_EQ(at_byte(memory_view(), 149), "byte 149 (0x95): row 1, column 2, byte 1 of it");
  EXPECT_EQ(at_byte(memory_view(), 40), "byte 40 (0x28): no element of two rows");
  EXPECT_EQ(in_thread(fragment_view(), 5, 1),
            std::vector<std::string>{"lane 5, register 1: (9, 2) (9, 3)"});
  EXPECT_EQ(in_thread(fragment_view(), 31, std::nullopt).size(), 4u);
}

TEST(View, TablesFitATerminal) {
  View wide;
  wide.axes = {"row", "column"};
  wide.fragment = vgpu::layout::fragment("wgmma", "m64n256k16", vgpu::MatrixElement::bf16,
                                         vgpu::MatrixElement::f32, 'D');
  const std::string text = table(wide, 16);
  std::size_t begin = 0, lines = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_LE(end - begin, 80u);
    ++lines;
  }
  EXPECT_EQ(lines, 18u);
  EXPECT_NE(text.find("16 of 64 rows"), std::string::npos);
  EXPECT_EQ(table(memory_view(), 0),
            "byte    +0   +16   +32   +48   +64   +80   +96  +112\n"
            "   0   0,0   0,8     .     .     .     .     .     .\n"
            " 128     .   1,0     .     .     .     .     .     .\n");
}

TEST(View, JsonHasEveryElement) {
  const auto json = nlohmann::json::parse(json_of(fragment_view()));
  ASSERT_EQ(json.at("registers").size(), 256u);
  EXPECT_EQ(json.at("registers")[3].at("at"), nlohmann::json({8, 1}));
  EXPECT_FALSE(json.contains("memory"));
  EXPECT_EQ(nlohmann::json::parse(json_of(memory_view())).at("memory")[2].at("byte"), 144);
}

TEST(View, PicturesNameEveryField) {
  const std::string svg = picture(fragment_view());
  EXPECT_NE(svg.find(">5 r3<"), std::string::npos);
  EXPECT_NE(svg.find("<svg"), std::string::npos);
}

TEST(Expression, HasCsOperators) {
  EXPECT_EQ(value_of("lane / 4 * 128 + lane % 4 * 16", 7), 176);
  EXPECT_EQ(value_of("(lane ^ 0x3) << 2 | 1", 5), 25);
  EXPECT_EQ(value_of("10 - 2 - 3", 0), 5);
  for (const char* wrong : {"", "lane +", "2 lane", "(1", "1 / 0", "1 << 40", "-1"}) {
    EXPECT_THROW((void)value_of(wrong, 0), std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace rung::layout
