// Compiles and runs front_end.metal: parts of the language that clang lacks, and host calls.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "backends/metal/threadgroup_memory.hpp"
#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"
#include "kernel_test.hpp"
#include "rung/types.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal_tests {
namespace {

using emu::metal::ParameterKind;
using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

constexpr const char* source = RUNG_SOURCES "/tests/metal/front_end.metal";

class MetalFrontEnd : public ArraysTest {
 protected:
  static void SetUpTestSuite() {
    ptx_ = emu::metal::compile_all(source);
    described_ = emu::metal::describe(source);
  }

  static const emu::metal::Kernel& kernel(const std::string& name) {
    for (const emu::metal::Kernel& each : described_.kernels) {
      if (each.name == name) return each;
    }
    throw std::invalid_argument("no kernel " + name);
  }

  /// Runs a kernel over `threads` threads in groups of `group`. Arguments are those of buffers 0, 1, …
  std::vector<vgpu::Hazard> run(const std::string& name, vgpu::Dim3 threads, vgpu::Dim3 group,
                                const std::vector<std::uint64_t>& arguments) {
    const auto module = vgpu::Module::load(ptx_, "front_end", memory_);
    const vgpu::Kernel& code = *module->kernel(name);
    vgpu::LaunchOptions options;
    options.block = group;
    options.grid = {(threads.x + group.x - 1) / group.x, (threads.y + group.y - 1) / group.y};
    options.grid_threads = threads;
    std::vector<std::byte> parameters(vgpu::info(code).parameter_bytes);
    for (const emu::metal::Parameter& each : kernel(name).parameters) {
      const auto& [offset, bytes] =
          vgpu::info(code).parameters[static_cast<std::size_t>(each.ptx_parameter)];
      const std::uint64_t address = arguments[static_cast<std::size_t>(each.index)];
      if (each.kind == ParameterKind::value) {
        memory_.read(parameters.data() + offset, address, bytes);
      } else {
        std::memcpy(parameters.data() + offset, &address, sizeof address);
      }
    }
    metal::lay_out({}, *module, memory_, options);
    return vgpu::launch(code, options, parameters, memory_, vgpu::parse_device("m1pro")).hazards;
  }
  void run_clean(const std::string& name, vgpu::Dim3 threads, vgpu::Dim3 group,
                 const std::vector<std::uint64_t>& arguments) {
    for (const vgpu::Hazard& hazard : run(name, threads, group, arguments)) {
      ADD_FAILURE() << name << ": " << hazard.message;
    }
  }

  static std::string ptx_;
  static emu::metal::Description described_;
};
std::string MetalFrontEnd::ptx_;
emu::metal::Description MetalFrontEnd::described_;

TEST_F(MetalFrontEnd, StructuresHaveMethodsInEveryAddressSpace) {
  const auto in = array(Floats{1, 2, 3, 4, 5, 6, 7, 8}), out = array(Floats(8));
  run_clean("structures", {4}, {4}, {in, out});
  EXPECT_EQ(values<float>(out, 8), (Floats{2, 6, 6, 14, 10, 22, 0, 15}));
}

TEST_F(MetalFrontEnd, BuffersHaveNumbers) {
  const auto out = array(Floats(4));
  run_clean("by_number", {4}, {4}, {array(Floats{3}), out, array(Floats{1, 2, 3, 4})});
  EXPECT_EQ(values<float>(out, 4), (Floats{3, 6, 9, 12}));
}

TEST_F(MetalFrontEnd, ConstantBuffersEndWithTheirMemory) {
  const auto out = array(Floats(4));
  const auto found = run("by_number", {4}, {4}, {array(Floats{3}), out, array(Floats{1, 2, 3})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::HazardKind::out_of_bounds) << found[0].message;
}

TEST_F(MetalFrontEnd, ReferencesToConstantMemoryAreValues) {
  Floats bytes(28, 0);
  const std::int32_t n = 2;
  std::memcpy(bytes.data(), &n, sizeof n);
  bytes[1] = 1, bytes[2] = 2, bytes[3] = 3;              // offset
  bytes[8] = 10, bytes[9] = 20, bytes[10] = 30;          // weights[1]
  for (int i = 0; i < 4; ++i) bytes[12 + 5 * i] = 1.0f;  // the unit matrix
  const auto out = array(Floats(4));
  run_clean("settings", {1}, {1}, {array(bytes), out});
  EXPECT_EQ(values<float>(out, 4), (Floats{21, 42, 63, 1}));
}

TEST_F(MetalFrontEnd, LayoutsComeFromDebugInformation) {
  const auto compiled = emu::metal::compile(source, "settings");
  ASSERT_EQ(compiled.kernel.parameters.size(), 2u);
  const emu::metal::Parameter& settings = compiled.kernel.parameters[0];
  EXPECT_EQ(settings.kind, ParameterKind::value);
  EXPECT_EQ(settings.element.name, "Settings");
  EXPECT_EQ(settings.element.bytes, 112u);
  ASSERT_EQ(settings.element.fields.size(), 4u);
  EXPECT_EQ(settings.element.fields[1].name, "offset");
  EXPECT_EQ(settings.element.fields[1].offset, 4u);
  EXPECT_EQ(settings.element.fields[2].type.kind, emu::metal::Type::Kind::array);
  EXPECT_EQ(settings.element.fields[2].type.count, 2u);
  EXPECT_EQ(settings.element.fields[3].offset, 48u);
  const emu::metal::Parameter& out = compiled.kernel.parameters[1];
  EXPECT_EQ(out.kind, ParameterKind::buffer);
  EXPECT_EQ(out.element.kind, emu::metal::Type::Kind::vector);
  EXPECT_EQ(out.element.count, 4u);
  EXPECT_EQ(out.element.bytes, 16u);
}

TEST_F(MetalFrontEnd, MathematicsAndVectors) {
  const auto out = array(Floats{2, 0, 0, 0, 0, 0, 0, 0});
  run_clean("mathematics", {1}, {1}, {out});
  const Floats got = values<float>(out, 8);
  EXPECT_NEAR(got[0], std::exp(2.0) + 1 / std::sqrt(8.0) + 8 + std::log(2.0), 1e-5);
  EXPECT_EQ(Floats(got.begin() + 1, got.end() - 1),
            (Floats{14, 1.5f, 24.5f, 2, 11.5f, 65504 + 31 + 2}));
  EXPECT_NEAR(got[7], 0.2, 1e-6);
}

TEST_F(MetalFrontEnd, TemplatesMayMakeVectors) {
  const auto out = array(Floats(2));
  run_clean("in_template", {1}, {1}, {out});
  EXPECT_EQ(values<float>(out, 2), (Floats{1, 2}));
}

TEST_F(MetalFrontEnd, InstantiationsAreKernels) {
  const auto halves = array(std::vector<float16>{float16(1.5f), float16(2.0f)});
  run_clean("twice_half", {2}, {2}, {halves});
  EXPECT_EQ(static_cast<float>(values<float16>(halves, 2)[0]), 3);
  const auto floats = array(Floats{1, 2});
  run_clean("twice_float", {2}, {2}, {floats});
  EXPECT_EQ(values<float>(floats, 2), (Floats{2, 4}));
}

TEST_F(MetalFrontEnd, FunctionConstantsHaveTheHostsValues) {
  ASSERT_EQ(described_.function_constants.size(), 1u);
  EXPECT_EQ(described_.function_constants[0].name, "chosen");
  const auto out = array(std::vector<int>{0});
  run_clean("with_constant", {1}, {1}, {out});
  EXPECT_EQ(values<int>(out, 1)[0], -1);
  for (const char* const key : {"chosen", "0"}) {
    emu::metal::Options options;
    options.function_constants[key] = "4";
    const auto compiled = emu::metal::compile(source, "with_constant", options);
    const auto module = vgpu::Module::load(compiled.ptx, "constant", memory_);
    const auto launched =
        vgpu::launch(*module->kernel(compiled.entry), {}, std::as_bytes(std::span(&out, 1)),
                     memory_, vgpu::parse_device("m1pro"));
    EXPECT_EQ(values<int>(out, 1)[0], 7) << key;
    EXPECT_TRUE(launched.hazards.empty());
  }
}

TEST_F(MetalFrontEnd, ThreadgroupMemoryIsDeclaredAnywhere) {
  for (const char* const name : {"from_header", "initialised"}) {
    Floats numbers(32);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    const auto a = array(numbers);
    run_clean(name, {32}, {32}, {a});
    EXPECT_EQ(values<float>(a, 32), Floats(numbers.rbegin(), numbers.rend())) << name;
  }
}

TEST_F(MetalFrontEnd, BfloatsConvertToHalf) {
  const auto a = array(std::vector<bfloat16>{bfloat16(1.0f), bfloat16(0.0f), bfloat16(0.0f)});
  run_clean("bfloats", {1}, {1}, {a});
  EXPECT_EQ(static_cast<float>(values<bfloat16>(a, 3)[1]), 2.71875f);
  EXPECT_EQ(static_cast<float>(values<bfloat16>(a, 3)[2]), 2);
}

TEST_F(MetalFrontEnd, TexturesAreReadAndWritten) {
  Floats texels(3 * 2 * 4);
  std::iota(texels.begin(), texels.end(), 0.0f);
  emu::metal::TextureDescriptor in{3, 2, 1, 1, array(texels)}, out = in;
  out.texels = array(Floats(texels.size()));
  run_clean("copied", {4, 4}, {4, 4}, {array(std::vector{in}), array(std::vector{out})});
  const Floats got = values<float>(out.texels, texels.size());
  for (std::size_t i = 0; i < texels.size(); ++i) EXPECT_EQ(got[i], texels[i] + 1) << i;
}

TEST_F(MetalFrontEnd, FunctionsOfASimdgroupActOnItsThreads) {
  const auto out = array(Floats(20));
  run_clean("partial", {20}, {20}, {out});
  const Floats got = values<float>(out, 20);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(got[i], 190 + i + 19000) << i;
}

TEST_F(MetalFrontEnd, AShuffleMayReadLanesThatTookAnotherBranch) {
  const auto a = array(std::vector<int>(32, 1));
  run_clean("in_branch", {32}, {32}, {a});
  const auto got = values<int>(a, 32);
  EXPECT_EQ(std::vector<int>(got.begin(), got.begin() + 5), (std::vector<int>{1, 2, 3, 4, 4}));
}

TEST_F(MetalFrontEnd, AShuffleMayNotReadLanesThatAreAbsent) {
  const auto found = run("absent", {20}, {20}, {array(std::vector<int>(20))});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::HazardKind::bad_participant);
}

TEST_F(MetalFrontEnd, ThreadsOfASimdgroupVoteFillAndReduce) {
  const auto out = array(Words(32));
  run_clean("together", {32}, {32}, {out});
  const Words got = values<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(got[i], 0xAAAAAAAAu + (i < 2 ? 100 : i - 2) + 4 + 3) << i;
  }
}

TEST_F(MetalFrontEnd, MatricesAreLaidOutAsOnApplesGpus) {
  Floats numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const auto out = array(Floats(64));
  run_clean("fragments", {32}, {32}, {array(numbers), out});
  EXPECT_EQ(values<float>(out, 64), numbers);
}

TEST_F(MetalFrontEnd, AtomicsOfEveryType) {
  const auto u = array(Words{4}), f = array(Floats{1}), b = array(Words{0});
  run_clean("atomics", {1}, {1}, {u, f, b});
  EXPECT_EQ(values<std::uint32_t>(u, 1)[0], 7u);
  EXPECT_EQ(values<float>(f, 1)[0], 2);
  EXPECT_EQ(values<std::uint32_t>(b, 1)[0] & 0xFF, 1u);
}

TEST_F(MetalFrontEnd, AStoreToComponentsLeavesTheOthers) {
  const auto p = array(Floats(64 * 4, 1));
  run_clean("components", {64}, {64}, {p});
  const Floats got = values<float>(p, 8);
  EXPECT_EQ(got, (Floats{64, 65, 66, 1, 64, 65, 66, 1}));
}

TEST_F(MetalFrontEnd, AMissingBarrierIsARace) {
  const auto found = run("unordered", {64}, {64}, {array(Floats(64))});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, vgpu::HazardKind::shared_race) << found[0].message;
}

TEST_F(MetalFrontEnd, ThreadgroupsAtTheEdgeOfTheGridMayBeSmaller) {
  const auto a = array(Words(10 * 5));
  run_clean("partial_group", {10, 5}, {8, 4}, {a});
  const Words got = values<std::uint32_t>(a, 50);
  for (std::uint32_t y = 0; y < 5; ++y) {
    for (std::uint32_t x = 0; x < 10; ++x) {
      const std::uint32_t wide = x < 8 ? 8 : 2, high = y < 4 ? 4 : 1;
      EXPECT_EQ(got[10 * y + x], 1000 * wide + 100 * high + 80 + y % 4 * wide + x % 8)
          << x << ", " << y;
    }
  }
}

TEST_F(MetalFrontEnd, ClassesWithConstructorsInThreadgroupMemory) {
  const auto out = array(Floats(4));
  run_clean("constructed", {4}, {4}, {out});
  EXPECT_EQ(values<float>(out, 4), (Floats{1 + 2 + 11, 2 + 5 + 11, 3 + 10 + 11, 0 + 1 + 11}));
}

TEST_F(MetalFrontEnd, ArgumentsOfATemplateFollowFromTypes) {
  const auto out = array(Floats(2));
  run_clean("incremented_float", {2}, {2}, {array(Floats{1, 2}), out});
  EXPECT_EQ(values<float>(out, 2), (Floats{2, 3}));
}

TEST_F(MetalFrontEnd, PositionsMayBeVariablesOfTheFile) {
  const auto out = array(Floats(4)), sum = array(Floats(1));
  run_clean("gathered", {4}, {4}, {out, sum, 0});
  const Floats got = values<float>(out, 4);
  EXPECT_EQ(got, (Floats{1.5f + 68, 3 + 68, 2.5f + 68, 2 + 68}));
  EXPECT_EQ(values<float>(sum, 1)[0], 6);
}

TEST_F(MetalFrontEnd, ResultsOfMethodsMayBeInEveryAddressSpace) {
  const auto out = array(Floats(4));
  const auto eight = array(std::vector<float16>(8, float16(100.0f)));
  run_clean("elements", {4}, {4}, {out, array(Floats{1, 2, 3, 4}), eight});
  const float rest = 2 + 3 + 2 + 10 + 100;
  EXPECT_EQ(values<float>(out, 4),
            (Floats{1 + 2 + rest, 2 + 6 + rest, 3 + 10 + rest, 4 + 14 + rest}));
}

TEST_F(MetalFrontEnd, ComparisonsAreVectorsOfBool) {
  const auto a = array(Floats{1, 2, 3, 4});
  run_clean("truths", {1}, {1}, {a});
  EXPECT_EQ(values<float>(a, 4), (Floats{1110, 1110, 1113, 1114}));
}

TEST_F(MetalFrontEnd, ProgramsSpecializeNamesOfTheLibrary) {
  const auto out = array(std::vector<int>(1));
  run_clean("specialized", {1}, {1}, {out});
  EXPECT_EQ(values<int>(out, 1)[0], std::numeric_limits<int>::lowest() + 3);
}

TEST_F(MetalFrontEnd, PackedVectorsHaveParts) {
  const auto p = array(Floats{1, 2, 3, 4});
  run_clean("parts", {1}, {1}, {p});
  EXPECT_EQ(values<float>(p, 4), (Floats{3, 4, 2, 4}));
}

TEST_F(MetalFrontEnd, PartsOfPackedVectorsInAnyOrder) {
  // size holds 16-bit floats: 1 is 0x3c00, 2 is 0x4000.
  const float size = std::bit_cast<float>(0x40003c00u);
  const auto corners = array(Floats{1, 2, 3, size, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto numbers = array(Words{1, 2, 3, 4});
  const auto out = array(Words{0, 0, 0, 0});
  run_clean("permuted_parts", {1}, {1}, {corners, numbers, out});
  EXPECT_EQ(values<float>(corners, 12), (Floats{1.5f, 2.5f, 3.5f, size, 1.5f, 2.5f, 0.5f, 0, 8,
                                                3.5f, 7, std::bit_cast<float>(0x3c004000u)}));
  EXPECT_EQ(values<std::uint32_t>(out, 4), (Words{4, 3, 5, 3}));
}

TEST_F(MetalFrontEnd, PackedVectorsHaveOperatorsOfIntegersAndComparisons) {
  const auto bytes = array(std::vector<std::int8_t>{0x21, 0x43, 0x65, 0x17});
  const auto words = array(Words{4, 7});
  const auto numbers = array(Floats{1, 2, 3});
  run_clean("packed_operators", {1}, {1}, {bytes, words, numbers});
  EXPECT_EQ(values<std::int8_t>(bytes, 4), (std::vector<std::int8_t>{-1, -1, -1, 6}));
  EXPECT_EQ(values<std::uint32_t>(words, 2),
            (Words{(~5u | 5u << 3) % 1000, (~5u | 5u << 3) % 1000}));
  EXPECT_EQ(values<float>(numbers, 3), (Floats{1.5f, 2.5f, 3.5f}));
}

TEST_F(MetalFrontEnd, ListsAreArgumentsThatAreVectors) {
  const auto out = array(Floats{0, 0, 0});
  run_clean("lists", {3}, {3}, {out});
  EXPECT_EQ(values<float>(out, 3), (Floats{40, 37, 34}));
}

TEST_F(MetalFrontEnd, MatricesTakeAListOfTheirColumns) {
  const auto out = array(Floats{1, 0});
  run_clean("matrix_lists", {1}, {1}, {out});
  EXPECT_EQ(values<float>(out, 2)[1], 8);
}

TEST_F(MetalFrontEnd, TileFunctionsAreNoKernels) {
  EXPECT_THROW(kernel("clear_tile"), std::invalid_argument);
}

std::string refusal(const std::string& text) {
  emu::metal::Options options;
  options.text = text;
  options.is_quiet = true;
  try {
    emu::metal::compile("mine.metal", "", options);
  } catch (const emu::CompileError& error) {
    return error.what();
  }
  return "";
}

TEST(MetalErrors, HaveTheirLine) {
  EXPECT_NE(refusal("kernel void k(device int* a) {\n  if (a[0]) {\n  a[1] = 0;\n}\n")
                .find("mine.metal:4:2: error: expected '}'"),
            std::string::npos);
  EXPECT_NE(
      refusal("kernel void k(device int* a\n) ) { a[0] = 0; }\n").find("mine.metal:2:3: error"),
      std::string::npos);
  EXPECT_EQ(
      refusal("#include <metal_raytracing>\nusing namespace metal::raytracing;\n"
              "kernel void k(primitive_acceleration_structure s, device bool* hit) {\n"
              "  hit[0] = intersector<>().intersect(ray(), s).type != intersection_type::none;\n"
              "}\n"),
      "error: ray tracing is not supported on the virtual GPU\n1 error generated.\n");
  EXPECT_NE(refusal("#include <metal_tensor>\nusing namespace metal;\n"
                    "kernel void k(device uchar* a) {\n"
                    "  tensor<device int4b_format, dextents<int, 1>, tensor_inline> t;\n"
                    "}\n")
                .find("packed formats (4, 2 and 8-bit floats) are not supported"),
            std::string::npos);
  EXPECT_NE(refusal("#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
                    "using namespace mpp::tensor_ops;\n"
                    "kernel void k() {\n"
                    "  convolution2d<convolution2d_descriptor(metal::int4(1), metal::int4(1)),\n"
                    "                metal::execution_simdgroups<4>> convolution;\n"
                    "}\n")
                .find("convolution2d is not supported on the virtual GPU"),
            std::string::npos);
  EXPECT_EQ(refusal("int f();\n"), "mine.metal: no kernel");
}

}  // namespace
}  // namespace rung::metal_tests
