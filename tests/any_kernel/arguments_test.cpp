// Values as text and as bytes, files, and expectations.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/temporary_folder.hpp"
#include "tools/any_kernel/debug_info.hpp"
#include "tools/any_kernel/expectation.hpp"
#include "tools/any_kernel/launch.hpp"
#include "tools/any_kernel/npy.hpp"
#include "tools/any_kernel/textures.hpp"
#include "tools/any_kernel/values.hpp"

namespace rung::any_kernel {
namespace {

namespace fs = std::filesystem;

TypePtr record(std::vector<Member> members, std::size_t bytes) {
  Type type;
  type.kind = Type::Kind::record;
  type.name = "Sizes";
  type.bytes = bytes;
  type.members = std::move(members);
  return std::make_shared<const Type>(std::move(type));
}

TypePtr sizes() {
  const TypePtr u32 = scalar_type(Scalar::u32);
  return record({{"M", 0, u32}, {"N", 4, u32}, {"K", 8, u32}}, 12);
}

Array array_of(const std::string& text, const TypePtr& type, std::uint64_t seed = 1) {
  return make_array("x", parse_value("x", text), type, seed);
}

std::vector<double> numbers(const Array& array) {
  std::vector<double> all;
  const auto scalar = common_scalar(*array.element);
  for (std::size_t at = 0; at < array.bytes.size(); at += array.element->bytes) {
    for (const Leaf& leaf : leaves(*array.element)) {
      all.push_back(static_cast<double>(load(*scalar, array.bytes.data() + at + leaf.offset)));
    }
  }
  return all;
}

template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(Values, FillBuffers) {
  const TypePtr f32 = scalar_type(Scalar::f32);
  EXPECT_EQ(numbers(array_of("iota:2x3", f32)), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(array_of("iota:2x3", f32).shape, (Shape{2, 3}));
  EXPECT_EQ(numbers(array_of("zeros:2", f32)), (std::vector<double>{0, 0}));
  EXPECT_EQ(numbers(array_of("-1.5:2", f32)), (std::vector<double>{-1.5, -1.5}));
  EXPECT_EQ(numbers(array_of("1,2,4", f32)), (std::vector<double>{1, 2, 4}));
  EXPECT_TRUE(std::isnan(numbers(array_of("nan:1", f32)).front()));
  EXPECT_FALSE(array_of("out:4", f32).is_written);
  for (const double value : numbers(array_of("rand:100", f32))) EXPECT_LE(std::abs(value), 1);
  EXPECT_NE(array_of("rand:100", f32, 1).bytes, array_of("rand:100", f32, 2).bytes);
  EXPECT_EQ(array_of("rand:4:half", nullptr).element->bytes, 2u);
}

TEST(Values, SetFieldsAndNumbers) {
  const auto value = [](const std::string& text, const TypePtr& type) {
    return make_value("p", parse_value("p", text), *type);
  };
  const std::vector<std::byte> bytes = value("K:33,M:40,N:24", sizes());
  EXPECT_EQ(load(Scalar::u32, bytes.data()), 40);
  EXPECT_EQ(load(Scalar::u32, bytes.data() + 8), 33);
  EXPECT_EQ(load(Scalar::u32, value("M:1,*:7", sizes()).data() + 4), 7);
  EXPECT_EQ(load(Scalar::i64, value("-5000000000", scalar_type(Scalar::i64)).data()),
            -5000000000.0L);
  EXPECT_EQ(load(Scalar::boolean, value("true", scalar_type(Scalar::boolean)).data()), 1);
}

TypePtr pointer(const TypePtr& element, const std::string& name, bool to_const) {
  Type type;
  type.kind = Type::Kind::pointer;
  type.name = name;
  type.bytes = 8;
  type.element = element;
  type.to_const = to_const;
  return std::make_shared<const Type>(std::move(type));
}

TEST(Values, GiveArraysToTheMembersOfAStruct) {
  const TypePtr f32 = scalar_type(Scalar::f32), u32 = scalar_type(Scalar::u32);
  const TypePtr type = record({{"n", 0, u32},
                               {"x", 8, pointer(f32, "const float*", true)},
                               {"out", 16, pointer(f32, "float*", false)}},
                              24);
  const auto members = [&](const std::string& text) {
    return member_values("args", parse_value("args", text), *type);
  };
  const std::string text = "n:3,x:rand:2x3,out:out:6";
  const std::vector<MemberValue> both = members(text);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].leaf.offset, 8u);
  EXPECT_EQ(both[0].text.shape, (Shape{2, 3}));
  EXPECT_TRUE(both[1].text.is_out());
  EXPECT_TRUE(members("n:3,x:null,out:null").empty());
  EXPECT_EQ(load(Scalar::u64, make_value("args", parse_value("args", text), *type).data() + 8), 0);
  EXPECT_EQ(error_of([&] { members("n:3,x:full,out:null"); }).substr(0, 33),
            "args.x: 'full' is not a value; it");
  EXPECT_EQ(error_of([&] { make_value("args", parse_value("args", "3,4096,0"), *type); }),
            "args: x is an address (const float*), not 4096; give all fields by name, as in "
            "x:rand:100");
}

/// Elements of one type, as a file or Python has them.
NpyArray elements(const std::string& type, Scalar scalar, Shape shape,
                  const std::vector<long double>& values) {
  NpyArray array{type, bytes(scalar), std::move(shape), {}};
  array.bytes.resize(values.size() * bytes(scalar));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store(scalar, array.bytes.data() + i * bytes(scalar), values[i]);
  }
  return array;
}

TEST(Textures, ReturnWhatTheyWereMadeOf) {
  const TextureType plane;
  const NpyArray halves = elements("<f2", Scalar::f16, {1, 2, 3}, {0.5L, -1, 2, 3, 4, 5});
  const Array texels = make_texture("t", halves, plane);
  EXPECT_EQ(texels.shape, (Shape{1, 2}));
  EXPECT_EQ(numbers(texels), (std::vector<double>{0.5, -1, 2, 1, 3, 4, 5, 1}));
  std::vector<std::byte> back(halves.bytes.size());
  store_texels(texels, halves, back);
  EXPECT_EQ(back, halves.bytes);

  const NpyArray gray = elements("|u1", Scalar::u8, {1, 2}, {0, 128});
  Array levels = make_texture("t", gray, plane);
  store_texels(levels, gray, back = std::vector<std::byte>(2));
  EXPECT_EQ(back, gray.bytes);
  store(Scalar::f32, levels.bytes.data(), 1.5L);
  store(Scalar::f32, levels.bytes.data() + 16, -0.5L);
  store_texels(levels, gray, back);
  EXPECT_EQ(back, (std::vector<std::byte>{std::byte{255}, std::byte{0}}));

  const TextureType line{1, false, true, Scalar::i32};
  const NpyArray shorts = elements("<i2", Scalar::i16, {2}, {-7, 300});
  Array whole = make_texture("t", shorts, line);
  store(Scalar::i32, whole.bytes.data(), 40000);
  store_texels(whole, shorts, back = std::vector<std::byte>(4));
  EXPECT_EQ(back, elements("<i2", Scalar::i16, {2}, {32767, 300}).bytes);
}

TEST(Textures, RefuseOtherArrays) {
  const auto error = [](const std::string& type, Scalar scalar, const Shape& shape,
                        const TextureType& texture) {
    const std::vector<long double> zeros(static_cast<std::size_t>(count(shape)));
    return error_of([&] { make_texture("t", elements(type, scalar, shape, zeros), texture); });
  };
  EXPECT_EQ(error("<f4", Scalar::f32, {2, 2, 5}, {}),
            "t: the shape 2x2x5 is not a texture's; give its rows and columns, and 1 to 4 "
            "components as a last extent");
  EXPECT_EQ(error("<f4", Scalar::f32, {4}, {3, true, false, Scalar::f32}),
            "t: the shape 4 is not a texture's; give its elements, rows and columns, and 1 to 4 "
            "components as a last extent");
  EXPECT_EQ(error("<i4", Scalar::i32, {2, 2}, {}),
            "t: the elements have type '<i4'; a texture of float takes float32, float16, float64, "
            "or uint8 for 0 to 1");
  EXPECT_EQ(error("<i8", Scalar::i64, {2}, {1, false, false, Scalar::u32}),
            "t: the elements have type '<i8'; a texture of uint takes integers of at most 32 bits, "
            "such as int32 and uint8");
}

TEST(Values, ErrorsNameTheArgument) {
  const TypePtr f32 = scalar_type(Scalar::f32), u32 = scalar_type(Scalar::u32);
  const auto array_error = [](const std::string& text, const TypePtr& type) {
    return error_of([&] { array_of(text, type); });
  };
  const auto value_error = [](const std::string& text, const TypePtr& type) {
    return error_of([&] { make_value("p", parse_value("p", text), *type); });
  };
  EXPECT_EQ(array_error("rand:24y33", f32), "x: '24y33' is not a shape, such as 1000 or 24x33");
  EXPECT_EQ(array_error("rand:4:int", f32), "x: 'int' differs from the kernel's type, float");
  EXPECT_EQ(array_error("rand:4", nullptr),
            "x: the kernel does not say its type; name one, as in rand:4:float");
  EXPECT_EQ(value_error("-1", u32),
            "p: '-1' is not an integer from 0 to 4294967295, as uint holds");
  EXPECT_EQ(value_error("1.5", u32),
            "p: '1.5' is not an integer from 0 to 4294967295, as uint holds");
  EXPECT_EQ(value_error("M:40,N:24", sizes()),
            "p: no value for K of Sizes; *:0 sets all others to 0");
  EXPECT_EQ(value_error("M:1,N:1,L:1", sizes()),
            "p: Sizes has no field 'L'; its fields are M, N, K");
  EXPECT_EQ(value_error("1,2", sizes()), "p: '1,2' has 2 numbers; Sizes has 3: M, N, K");
  EXPECT_EQ(value_error("rand:4", u32),
            "p: 'rand:4' is a buffer's value, but uint is passed by value");
}

class Files : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Files, OfNumPyAreReadAndWritten) {
  const Array array = array_of("iota:2x3", scalar_type(Scalar::f32));
  const std::string path = write("a.npy", npy_text(Scalar::f32, array.shape, array.bytes));
  const NpyArray read = read_npy(path);
  EXPECT_EQ(read.type, "<f4");
  EXPECT_EQ(read.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(read.bytes, array.bytes);
  EXPECT_EQ(array_of("@" + path, scalar_type(Scalar::f32)).bytes, array.bytes);
}

TEST_F(Files, InColumnMajorOrderAreTransposed) {
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
  header.append(117 - header.size(), ' ').append("\n");
  const std::string path =
      write("f.npy", std::string("\x93NUMPY\1\0", 8) + std::string("\x76\0", 2) + header +
                         std::string("\0\3\1\4\2\5", 6));
  EXPECT_EQ(numbers(array_of(path, scalar_type(Scalar::u8))),
            (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST_F(Files, ThatDoNotFitAreRefused) {
  const std::string ints = write("i.npy", npy_text(Scalar::i32, {2}, std::vector<std::byte>(8)));
  const auto error = [](const std::string& path, const TypePtr& type) {
    return error_of([&] { array_of(path, type); });
  };
  EXPECT_EQ(error(ints, scalar_type(Scalar::f32)),
            "x: the file has elements of type '<i4'; the kernel takes float");
  EXPECT_EQ(error_of([&] { make_value("p", parse_value("p", ints), *sizes()); }),
            "p: the file has elements of type '<i4'; the kernel takes Sizes");
  const std::string few = write("u.npy", npy_text(Scalar::u32, {2}, std::vector<std::byte>(8)));
  EXPECT_EQ(error_of([&] { make_value("p", parse_value("p", few), *sizes()); }),
            "p: '" + few + "' has 8 bytes; Sizes has 12");
  EXPECT_EQ(error(few, sizes()),
            "x: '" + few + "' has 8 bytes, which is not a multiple of 12, the size of Sizes");
  const std::string text = write("t.npy", "hello");
  EXPECT_EQ(error(text, scalar_type(Scalar::f32)),
            "'" + text + "': is not a file of NumPy's format .npy");
  const std::string cut =
      write("c.npy", npy_text(Scalar::f32, {4}, std::vector<std::byte>(16)).substr(0, 136));
  EXPECT_EQ(error(cut, scalar_type(Scalar::f32)),
            "'" + cut + "': has 8 bytes of data; its shape needs 16");
  EXPECT_EQ(error("absent.npy", scalar_type(Scalar::f32)), "'absent.npy': is not a readable file");
}

/// Named arrays of f32.
struct Named {
  std::map<std::string, Array> arrays;

  Operands operands() const {
    const auto find = [this](const std::string& name) -> const Array& { return arrays.at(name); };
    return {find, find, [](const std::string&) { return 2.0; }};
  }
  Judgement judge(const std::string& text) const {
    return any_kernel::judge(parse_expectation(text), operands(), {});
  }
};

Named small_product() {
  const TypePtr f32 = scalar_type(Scalar::f32);
  Named named;
  named.arrays = {{"A", array_of("1,2,3,4,5,6", f32)}, {"B", array_of("1,0,0,1,1,1", f32)},
                  {"C", array_of("4,5,10,11", f32)},   {"x", array_of("1,2,3", f32)},
                  {"y", array_of("1,1,2", f32)},       {"r", array_of("9", f32)}};
  named.arrays["A"].shape = {2, 3};
  named.arrays["B"].shape = {3, 2};
  named.arrays["C"].shape = {2, 2};
  return named;
}

TEST(Expectations, OfProductsAndSums) {
  const Named named = small_product();
  EXPECT_TRUE(named.judge("C = A B").right);
  EXPECT_TRUE(named.judge("C = 1 * A * B").right);
  EXPECT_FALSE(named.judge("C = 2 A B").right);
  EXPECT_FALSE(named.judge("C = factor A B").right);
  EXPECT_TRUE(named.judge("C = 0 A B + 1 C").right);
  EXPECT_TRUE(named.judge("r = dot(x, y)").right);
  EXPECT_FALSE(named.judge("r = sum(x)").right);
  EXPECT_TRUE(named.judge("C[3] = 2.2 dot(x, x)").message.starts_with("WRONG: "));
  EXPECT_TRUE(named.judge("sum(x) = 1.5 sum(y)").right);
}

TEST(Expectations, NameTheFirstWrongElement) {
  Named named = small_product();
  store(Scalar::f32, named.arrays["C"].bytes.data() + 8, 7);
  EXPECT_TRUE(named.judge("C = A B").message.starts_with(
      "WRONG: C = A B; 1 of 4 elements, first: C[1, 0] is 7, expected 10 within "))
      << named.judge("C = A B").message;
}

TEST(Expectations, MayTransposeOperands) {
  Named named = small_product();
  named.arrays["A"].shape = {3, 2};
  named.arrays["C"] = array_of("9,8,12,10", scalar_type(Scalar::f32));
  named.arrays["C"].shape = {2, 2};
  const Judgement judgement = named.judge("C = A^T B");
  EXPECT_EQ(result_shape(parse_expectation("C = A^T B"), named.operands()), (Shape{2, 2}));
  // A^T B = [[1, 3, 5], [2, 4, 6]] [[1, 0], [0, 1], [1, 1]] = [[6, 8], [8, 10]]
  EXPECT_FALSE(judgement.right);
  named.arrays["C"] = array_of("6,8,8,10", scalar_type(Scalar::f32));
  named.arrays["C"].shape = {2, 2};
  EXPECT_TRUE(named.judge("C = A^T B").right) << named.judge("C = A^T B").message;
}

TEST(Expectations, OfIntegersWrap) {
  Named named;
  named.arrays = {{"x", array_of("255,255", scalar_type(Scalar::u8))},
                  {"r", array_of("254", scalar_type(Scalar::u8))}};
  EXPECT_TRUE(named.judge("r = sum(x)").right);
}

TEST(Expectations, NanIsWrong) {
  Named named = small_product();
  named.arrays["r"] = array_of("nan:1", scalar_type(Scalar::f32));
  EXPECT_FALSE(named.judge("r = dot(x, y)").right);
}

TEST(Expectations, ErrorsSayWhatIsAllowed) {
  const Named named = small_product();
  const auto error = [&](const std::string& text) { return error_of([&] { named.judge(text); }); };
  EXPECT_EQ(error("C = A A"), "--expect: 'C = A A': A is 2x3 and A is 2x3; 3 and 2 must be equal");
  EXPECT_EQ(error("r = A B"), "--expect: 'r = A B' has 4 elements; r is 1");
  EXPECT_EQ(error("C is A"),
            "--expect: 'C is A' is not understood from 'is A' on; write C = A B, C = alpha A^T B + "
            "beta C, r = dot(x, y), r = sum(x) or C=FILE.npy");
}

TEST(DebugInfo, HasTheLayoutOfParameters) {
  constexpr const char* ir = R"(
define dso_local void @_Z1kPKf5Sizes(ptr %0, ptr byval(%struct.Sizes) %1) #0 !dbg !10 {
define internal void @helper() !dbg !30 {
!1 = !{ptr @_Z1kPKf5Sizes, !"kernel", i32 1}
!10 = distinct !DISubprogram(name: "k<float, 3>", scope: !11, line: 7, type: !12)
!11 = !DINamespace(name: "ns", scope: null)
!12 = !DISubroutineType(types: !13)
!13 = !{null, !14, !17}
!14 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !15, size: 64)
!15 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !16)
!16 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!17 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "Sizes", size: 96, elements: !18)
!18 = !{!19, !20}
!19 = !DIDerivedType(tag: DW_TAG_member, name: "n", baseType: !21, size: 32)
!20 = !DIDerivedType(tag: DW_TAG_member, name: "f", baseType: !22, size: 64, offset: 32)
!21 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!22 = !DICompositeType(tag: DW_TAG_array_type, baseType: !16, size: 64, elements: !23)
!23 = !{!24}
!24 = !DISubrange(count: 2)
!25 = !DILocalVariable(name: "x", arg: 1, scope: !10, line: 7, type: !14)
!30 = distinct !DISubprogram(name: "helper", type: !31)
!31 = !DISubroutineType(types: !32)
!32 = !{null}
)";
  const std::vector<DebugFunction> functions = debug_functions(debug_lines(ir));
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_FALSE(functions[1].is_kernel);
  const DebugFunction& kernel = functions[0];
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_EQ(kernel.symbol, "_Z1kPKf5Sizes");
  EXPECT_EQ(kernel.name, "ns::k<float, 3>");
  EXPECT_EQ(kernel.line, 7);
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_EQ(kernel.parameters[0].name, "x");
  EXPECT_EQ(kernel.parameters[0].type->name, "const float*");
  EXPECT_TRUE(kernel.parameters[0].type->to_const);
  EXPECT_EQ(kernel.parameters[1].name, "");
  const std::vector<Leaf> fields = leaves(*kernel.parameters[1].type);
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[2].name, "f[1]");
  EXPECT_EQ(fields[2].offset, 8u);
}

/// y[i] = a[i] + b[i] + add, by thread i.
constexpr const char* sum_ptx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry _Z3sumIjEvPKT_S1_PS0_S0_(.param .u64 a, .param .u64 b, .param .u64 y, .param .u32 add) {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [y];
  ld.param.u32 %r1, [add];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd1, %rd1, %rd4;
  add.u64 %rd2, %rd2, %rd4;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.u32 %r3, [%rd1];
  ld.global.u32 %r4, [%rd2];
  add.u32 %r3, %r3, %r4;
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

template <class T>
std::span<std::byte> as_bytes(T& object) {
  return std::as_writable_bytes(std::span(object));
}

struct SumKernel {
  TemporaryFolder folder;
  Program program = compiled();
  const Kernel& kernel = program.find("sum<unsigned>");
  vgpu::DeviceDescription device = vgpu::parse_device("h200");
  LoadedKernel loaded{program, kernel, device};

  Program compiled() const {
    const fs::path path = folder.path() / "sum.ptx";
    std::ofstream(path) << sum_ptx;
    return compile_program({path, "", {}, 80, {}});
  }
  Outcome run(std::vector<GivenValue> given, unsigned threads) {
    LaunchRequest request;
    request.given = std::move(given);
    request.group = {threads, 1, 1};
    request.device = device;
    return launch(loaded, kernel, request);
  }
};

GivenValue buffer(std::span<std::byte> bytes, bool is_result = false, bool is_written = true) {
  GivenValue given;
  given.kind = GivenValue::Kind::buffer;
  given.bytes = bytes;
  given.is_written = is_written;
  given.is_result = is_result;
  return given;
}

GivenValue value(std::span<std::byte> bytes) {
  GivenValue given;
  given.kind = GivenValue::Kind::value;
  given.bytes = bytes;
  return given;
}

TEST(GivenValues, ArePassedSeveralTimes) {
  SumKernel sum;
  std::vector<std::uint32_t> a = {1, 2, 3, 4}, b = {10, 20, 30, 40}, y(4), add = {100};
  for (std::uint32_t i = 0; i < 3; ++i) {
    add[0] = i;
    const Outcome outcome = sum.run(
        {buffer(as_bytes(a)), buffer(as_bytes(b)), buffer(as_bytes(y), true), value(as_bytes(add))},
        4);
    EXPECT_TRUE(outcome.is_right());
    EXPECT_EQ(y, (std::vector<std::uint32_t>{11 + i, 22 + i, 33 + i, 44 + i}));
    EXPECT_EQ(a, (std::vector<std::uint32_t>{1, 2, 3, 4}));
  }
}

TEST(GivenValues, MayShareMemory) {
  SumKernel sum;
  std::vector<std::uint32_t> all = {1, 2, 3, 4, 5, 6}, add = {0};
  GivenValue first = buffer(as_bytes(all), true), second, third;
  first.offset = 8;
  second.kind = third.kind = GivenValue::Kind::alias;
  second.offset = 4;
  third.offset = 16;
  const Outcome outcome = sum.run({first, second, third, value(as_bytes(add))}, 2);
  EXPECT_TRUE(outcome.is_right());
  EXPECT_EQ(all, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 7}));
}

TEST(GivenValues, WithoutAValueAreHazardsToRead) {
  SumKernel sum;
  std::vector<std::uint32_t> a(4, 1), y(4), add = {0};
  const std::vector<GivenValue> given = {buffer(as_bytes(a), false, false), buffer(as_bytes(a)),
                                         buffer(as_bytes(y), true, false), value(as_bytes(add))};
  for (int i = 0; i < 2; ++i) {  // also after the previous launch has written the buffer
    const Outcome outcome = sum.run(given, 2);
    ASSERT_FALSE(outcome.report.hazards.empty());
    EXPECT_NE(outcome.report.hazards[0].message.find("parameter 0"), std::string::npos);
    ASSERT_EQ(outcome.results.size(), 1u);
    EXPECT_EQ(outcome.results[0].unwritten, 8);  // bytes: PTX has no types
    EXPECT_EQ(y[2], 0xFFFFFFFFu);
  }
}

TEST(GivenValues, AreAsManyAsTheParameters) {
  SumKernel sum;
  EXPECT_THROW(sum.run({GivenValue()}, 1), ArgumentError);
}

}  // namespace
}  // namespace rung::any_kernel
