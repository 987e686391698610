// Variables, their initialisers, and constant expressions.

#include <bit>
#include <cstring>
#include <limits>

#include "vgpu/tests/ptx_text.hpp"

namespace rung::vgpu::ptx {
namespace {

/// The last variable of `text`.
Variable variable(const std::string& text) {
  return parse(module_text(text + "\n")).variables.back();
}

template <class T>
std::vector<T> values(const std::string& text) {
  const std::vector<std::uint8_t> bytes = variable(text).initial;
  std::vector<T> all(bytes.size() / sizeof(T));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

/// The value of a constant expression.
std::uint64_t evaluate(const std::string& expression) {
  return values<std::uint64_t>(".global .u64 x = " + expression + ";").at(0);
}

std::string expression_error(const std::string& expression) {
  return module_error(".global .u64 x = " + expression + ";");
}

TEST(PtxVariable, SpaceTypeSizeAndAlignment) {
  const Variable v = variable(".visible .global .align 16 .v4 .f32 v[3];");
  EXPECT_EQ(v.name, "v");
  EXPECT_EQ(v.space, Space::global);
  EXPECT_EQ(v.type, Type::f32);
  EXPECT_EQ(v.vector, 4);
  EXPECT_EQ(v.count, 3);
  EXPECT_EQ(v.bytes(), 48);
  EXPECT_EQ(v.align, 16);
  EXPECT_EQ(v.line, 4);
  EXPECT_FALSE(v.external);
  EXPECT_TRUE(v.initial.empty());
  EXPECT_EQ(variable(".shared .f32 x[2][3][4];").count, 24);
  EXPECT_EQ(variable(".const .u64 x;").space, Space::constant);
  EXPECT_EQ(variable(".local .f64 x;").align, 8);  // natural alignment
  EXPECT_EQ(variable(".global .v2 .u32 x;").align, 8);
  EXPECT_EQ(variable(".global .align 1 .u64 x;").align, 1);
}

TEST(PtxVariable, ExternalArraysHaveNoSize) {
  const Variable v = variable(".extern .shared .align 16 .b8 buffer[];");
  EXPECT_TRUE(v.external);
  EXPECT_EQ(v.count, 0);
  EXPECT_EQ(v.bytes(), 0);
}

TEST(PtxVariable, ADefinitionReplacesADeclaration) {
  const Module m = parse(module_text(
      ".extern .global .u32 a;\n.visible .global .u32 a = 7;\n.extern .global .u32 a;\n"));
  ASSERT_EQ(m.variables.size(), 1U);
  EXPECT_FALSE(m.variables[0].external);
  EXPECT_EQ(m.variables[0].initial.at(0), 7);
}

TEST(PtxVariable, Attributes) {
  EXPECT_TRUE(variable(".global .attribute(.managed) .align 4 .u32 x = 3;").managed);
  EXPECT_FALSE(variable(".global .attribute(.unified(1, 0xFF)) .u32 x;").managed);
}

TEST(PtxVariable, SeveralInOneDeclaration) {
  const Module m = parse(module_text(".global .u16 a = 1, b[2] = {2, 3}, c;"));
  ASSERT_EQ(m.variables.size(), 3U);
  EXPECT_EQ(m.variables[1].initial, (std::vector<std::uint8_t>{2, 0, 3, 0}));
  EXPECT_EQ(m.variables[2].count, 1);
}

TEST(PtxInitializer, IntegersInTwosComplement) {
  EXPECT_EQ(values<std::uint8_t>(".global .b8 x[4] = {1, -1, 0x80};"),
            (std::vector<std::uint8_t>{1, 255, 128, 0}));
  EXPECT_EQ(values<std::int16_t>(".global .s16 x[2] = {-2, 3};"),
            (std::vector<std::int16_t>{-2, 3}));
  EXPECT_EQ(values<std::uint64_t>(".const .b64 x = 0xFFFFFFFFFFFFFFFF;").at(0),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(PtxInitializer, FloatingPoint) {
  EXPECT_EQ(values<float>(".global .f32 x[5] = {0f3FC00000, -1.5, 0d3FF0000000000000, 1e-3, 0.1};"),
            (std::vector<float>{1.5F, -1.5F, 1.0F, 1e-3F, 0.1F}));
  EXPECT_EQ(values<double>(".global .f64 x[3] = {0d3FF8000000000000, 0f3F800000, -0.1};"),
            (std::vector<double>{1.5, 1.0, -0.1}));
  EXPECT_EQ(values<std::uint32_t>(".global .b32 x[3] = {0f7FA00001, 1.5, 7};"),
            (std::vector<std::uint32_t>{0x7FA00001, 0x3FC00000, 7}));
  EXPECT_EQ(values<std::uint64_t>(".global .b64 x[2] = {1.5, 0f3FC00000};"),
            (std::vector<std::uint64_t>{0x3FF8000000000000, 0x3FC00000}));
}

TEST(PtxInitializer, NestedBracesFillRowByRow) {
  EXPECT_EQ(values<int>(".global .b32 x[2][3] = {{1, 2}, {3}};"),
            (std::vector<int>{1, 2, 0, 3, 0, 0}));
  EXPECT_EQ(values<int>(".global .b32 x[3] = {};"), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(values<int>(".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};"),
            (std::vector<int>{1, 2, 3, 4}));
}

TEST(PtxInitializer, DecidesAnOpenSize) {
  EXPECT_EQ(variable(".global .u32 x[] = {1, 2, 3};").count, 3);
  EXPECT_EQ(variable(".global .u32 x[][2] = {{1, 2}, {3}};").count, 4);
  EXPECT_EQ(variable(".global .v2 .u32 x[] = {{1, 2}};").count, 1);
}

TEST(PtxInitializer, AddressesOfSymbols) {
  const Variable v = variable(
      ".func f();\n.global .u32 a;\n"
      ".global .u64 x[6] = {a, 7, generic(a), a+8, generic(a)+16, f};");
  ASSERT_EQ(v.fixups.size(), 5U);
  EXPECT_EQ(v.initial.size(), 48U);
  EXPECT_EQ(v.initial[8], 7);
  EXPECT_EQ(v.fixups[0].at, 0U);
  EXPECT_EQ(v.fixups[0].bytes, 8);
  EXPECT_EQ(v.fixups[0].shift, 0);
  EXPECT_FALSE(v.fixups[0].generic);
  EXPECT_TRUE(v.fixups[1].generic);
  EXPECT_EQ(v.fixups[1].at, 16U);
  EXPECT_EQ(v.fixups[2].offset, 8);
  EXPECT_EQ(v.fixups[3].offset, 16);
  EXPECT_EQ(v.fixups[4].symbol, "f");
}

TEST(PtxInitializer, MaskedAddressesAreBytes) {
  const Variable v = variable(
      ".global .u32 a;\n.global .u8 x[3] = {1, 0XFF(generic(a)+8), 0xFF00000000000000(a)};");
  ASSERT_EQ(v.fixups.size(), 2U);
  EXPECT_EQ(v.fixups[0].at, 1U);
  EXPECT_EQ(v.fixups[0].bytes, 1);
  EXPECT_EQ(v.fixups[0].shift, 0);
  EXPECT_EQ(v.fixups[0].offset, 8);
  EXPECT_TRUE(v.fixups[0].generic);
  EXPECT_EQ(v.fixups[1].shift, 56);
}

TEST(PtxConstant, OperatorsHaveTheirPrecedence) {
  EXPECT_EQ(evaluate("1 + 2 * 3"), 7U);
  EXPECT_EQ(evaluate("(1 + 2) * 3"), 9U);
  EXPECT_EQ(evaluate("10 - 3 - 2"), 5U);
  EXPECT_EQ(evaluate("100 / 7 % 5"), 4U);
  EXPECT_EQ(evaluate("1 << 4 | 3"), 19U);
  EXPECT_EQ(evaluate("6 & 3 ^ 1"), 3U);
  EXPECT_EQ(evaluate("1 + 1 == 2 && 3 > 4 || 0"), 0U);
  EXPECT_EQ(evaluate("3 >= 3 != 0"), 1U);
  EXPECT_EQ(evaluate("0 ? 1 : 2 ? 3 : 4"), 3U);
  EXPECT_EQ(evaluate("~0 + !5 + !0"), 0U);
}

TEST(PtxConstant, SignedAndUnsigned) {
  EXPECT_EQ(evaluate("-7 / 2"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(evaluate("-7 % 4"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(evaluate("-8 >> 1"), static_cast<std::uint64_t>(-4));
  EXPECT_EQ(evaluate("(.u64)-8 >> 1"), 0x7FFFFFFFFFFFFFFCU);
  EXPECT_EQ(evaluate("-1 < 0"), 1U);
  EXPECT_EQ(evaluate("-1 < 0U"), 0U);
  EXPECT_EQ(evaluate("(.s64)0xFFFFFFFFFFFFFFFF < 0"), 1U);
  EXPECT_EQ(evaluate("-8 >> 99"), ~std::uint64_t{0});
  EXPECT_EQ(evaluate("1 << 64"), 0U);
  EXPECT_EQ(evaluate("(.s64)0x8000000000000000 / -1"), 0x8000000000000000U);
  EXPECT_EQ(evaluate("(.s64)0x8000000000000000 % -1"), 0U);
  EXPECT_EQ(evaluate("1.5 + 2 == 3.5"), 1U);
  EXPECT_EQ(evaluate("0f3F800000 < 1.5"), 1U);
}

TEST(PtxConstant, Errors) {
  EXPECT_EQ(expression_error("1 / 0"), "text:4: division by zero in a constant expression");
  EXPECT_EQ(expression_error("1 % (2 - 2)"), "text:4: division by zero in a constant expression");
  EXPECT_EQ(expression_error("~1.5"), "text:4: ~ applies to integers only");
  EXPECT_EQ(expression_error("1.5 & 1"), "text:4: & applies to integers only");
  EXPECT_EQ(expression_error("(1"), "text:4: expected ')', found ';'");
  EXPECT_EQ(expression_error("1 ? 2"), "text:4: expected ':', found ';'");
  EXPECT_EQ(expression_error("1 +"), "text:4: expected a constant, found ';'");
  const std::string deep = "text:4: constant expression nested more than 64 deep";
  EXPECT_EQ(expression_error(std::string(100000, '(')), deep);
  EXPECT_EQ(expression_error(std::string(100000, '-')), deep);
}

TEST(PtxConstant, MalformedLiterals) {
  EXPECT_EQ(expression_error("08"), "text:4: '08' is not an integer of 64 bits");
  EXPECT_EQ(expression_error("0x"), "text:4: '0x' is not an integer of 64 bits");
  EXPECT_EQ(expression_error("12abc"), "text:4: '12abc' is not an integer of 64 bits");
  EXPECT_EQ(expression_error("0b2"), "text:4: '0b2' is not an integer of 64 bits");
  EXPECT_EQ(expression_error("18446744073709551616"),
            "text:4: '18446744073709551616' is not an integer of 64 bits");
  EXPECT_EQ(expression_error("0f3F8000"), "text:4: '0f3F8000' is not 0f and 8 hexadecimal digits");
  EXPECT_EQ(expression_error("0d3FF"), "text:4: '0d3FF' is not 0d and 16 hexadecimal digits");
  EXPECT_EQ(expression_error("1e"), "text:4: '1e' is not a number that a double holds");
  EXPECT_EQ(expression_error("1e999"), "text:4: '1e999' is not a number that a double holds");
  EXPECT_EQ(expression_error("1.5f"), "text:4: '1.5' is not a number that a double holds");
}

TEST(PtxVariable, ConstantMemoryHas64Kilobytes) {
  EXPECT_EQ(module_error(".const .b8 a[65000];\n.const .b8 b[536];"), "no error");
  EXPECT_EQ(module_error(".const .b8 a[65000];\n.const .b8 b[537];"),
            "text:5: 'b' exceeds constant memory: the constant variables of a module may have "
            "65536 bytes "
            "together");
}

TEST(PtxVariableError, Declarations) {
  EXPECT_EQ(module_error(".global x;"), "text:4: expected a type, found 'x'");
  EXPECT_EQ(module_error(".global .align 3 .u32 x;"),
            "text:4: an alignment is 3, allowed are powers of two");
  EXPECT_EQ(module_error(".global .align 0 .u32 x;"),
            "text:4: an alignment is 0, allowed are 1 to 1048576");
  EXPECT_EQ(module_error(".global .pred x;"), "text:4: only registers are of type pred");
  EXPECT_EQ(module_error(".global .u32 .u32 x;"), "text:4: expected a name, found '.u32'");
  EXPECT_EQ(module_error(".global .texref x;"),
            "text:4: expected a type, such as '.b32', found '.texref'");
  EXPECT_EQ(module_error(".global .u32 x[0];"),
            "text:4: the number of elements is 0, allowed are 1 to 274877906944");
  EXPECT_EQ(module_error(".global .u32 x[1000000][1000000];"),
            "text:4: 'x' takes more than the 1099511627776 bytes allowed");
  EXPECT_EQ(module_error(".global .u32 x[3"), "text:4: expected ']', found the end of the text");
  EXPECT_EQ(module_error(".global .u32 x;\n.global .u32 x;"), "text:5: 'x' is defined twice");
  EXPECT_EQ(module_error(".func f();\n.global .u32 f;"), "text:5: 'f' is defined twice");
  EXPECT_EQ(module_error(".global .attribute(.foo) .u32 x;"),
            "text:4: expected '.managed' or '.unified', found '.foo'");
  std::string dimensions;
  for (int i = 0; i < 17; ++i) dimensions += "[1]";
  EXPECT_EQ(module_error(".global .u32 x" + dimensions + ";"),
            "text:4: 'x' has more dimensions than the 16 allowed");
}

TEST(PtxVariableError, Initialisers) {
  EXPECT_EQ(module_error(".global .u32 x[2] = {1, 2, 3};"),
            "text:4: more than 2 elements in the initialiser of 'x'");
  EXPECT_EQ(module_error(".global .u32 x[2] = 1;"), "text:4: expected '{', found '1'");
  EXPECT_EQ(module_error(".global .u32 x[2][2] = {1};"), "text:4: expected '{', found '1'");
  EXPECT_EQ(module_error(".global .u32 x = {1};"), "text:4: expected an initial value, found '{'");
  EXPECT_EQ(module_error(".global .b8 x[3] = \"ab\";"), "text:4: expected '{', found 'ab'");
  EXPECT_EQ(module_error(".global .f32 x = 1;"),
            "text:4: initial value of 'x' is an integer, its type is f32");
  EXPECT_EQ(module_error(".global .u32 x = 1.5;"),
            "text:4: initial value of 'x' is floating point, its type is u32");
  EXPECT_EQ(module_error(".global .b16 x = 1.5;"),
            "text:4: initial value of 'x' is floating point, its type is b16");
  EXPECT_EQ(
      module_error(".shared .u32 x = 1;"),
      "text:4: 'x' has an initialiser; only .global and .const variables that are not .extern "
      "may");
  EXPECT_EQ(module_error(".global .u64 x = nothing;"),
            "text:4: 'nothing' in the initialiser of 'x' is not declared");
  EXPECT_EQ(module_error(".global .u16 x = x;"),
            "text:4: an address does not fit the type u16 of 'x'");
  EXPECT_EQ(module_error(".global .u8 x = 0x1FF(x);"),
            "text:4: mask '0x1FF' is not one byte, 0xFF shifted by a multiple of 8");
  EXPECT_EQ(module_error(".global .u16 x = 0xFF(x);"),
            "text:4: a masked address is one byte, the type of 'x' is u16");
  EXPECT_EQ(module_error(".global .u8 x[300000000] = {1};"),
            "text:4: initialised variables take more than 268435456 bytes");
}

}  // namespace
}  // namespace rung::vgpu::ptx
