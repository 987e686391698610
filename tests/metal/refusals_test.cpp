// The front end rejects the code that Apple's compiler would reject, mostly by clang, which treats
// each address space as a distinct type.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "backends/metal/images.hpp"
#include "compile.hpp"
#include "core/rung.hpp"
#include "positions.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal_tests {
namespace {

std::string with_header(const std::string& body) {
  return "#include <metal_stdlib>\nusing namespace metal;\n" + body;
}

void expect_refused(const std::string& body, const std::string& because) {
  const Compiled compiled = compile(with_header(body));
  EXPECT_FALSE(compiled.succeeded) << body;
  EXPECT_NE(compiled.messages.find(because), std::string::npos) << body << '\n'
                                                                << compiled.messages;
  EXPECT_NE(compiled.messages.find("test.metal:3:"), std::string::npos) << compiled.messages;
}

TEST(MetalRefuses, AMixOfAddressSpaces) {
  expect_refused("void f(device float* a) { threadgroup float* b = a; b[0] = 0; }",
                 "cannot initialize a variable of type 'threadgroup float *'");
  expect_refused("void f(device float* a) { thread float* b = a; b[0] = 0; }", "cannot initialize");
  expect_refused("void g(threadgroup float* a); void f(device float* a) { g(a); }",
                 "no matching function");
  expect_refused(
      "void f(constant float& a, device float* b) { const device float* c = &a; "
      "b[0] = c[0]; }",
      "cannot initialize");
}

TEST(MetalRefuses, AnAttributeOnAWrongType) {
  expect_refused(
      "kernel void f(device float* a, float i [[thread_position_in_grid]]) { a[0] = i; }",
      "no viable conversion");
  expect_refused("kernel void f(device int* a, int2 i [[thread_position_in_grid]]) { a[0] = i.x; }",
                 "no viable conversion");
  expect_refused(
      "kernel void f(device uint* a, uint2 i [[thread_index_in_threadgroup]]) { a[0] = i.x; }",
      "no viable conversion");
}

TEST(MetalRefuses, WhatTheLanguageHasNot) {
  expect_refused("void f(thread float& a) { a = 1.0; throw 1; }", "Metal has no exceptions");
  expect_refused("void f(thread float& a) { try { a = 1; } catch (...) {} }", "no exceptions");
  expect_refused("void f(device float* a) { if constexpr (true) a[0] = 1; }", "C++17");
  expect_refused("void f(constant float& a) { a = 1; }", "const-qualified");
  expect_refused("void f(device float* a) { double b = a[0]; a[0] = b; }", "use float");
  expect_refused("void f(device int* a) { goto end; end: a[0] = 1; }", "Metal has no goto");
  expect_refused("void f() { thread int* a = new int(1); a[0] = 2; }", "Metal has no new");
  expect_refused("void f(thread int* a) { delete a; }", "Metal has no delete");
  expect_refused("struct S { virtual int get() { return 1; } };", "no virtual functions");
  expect_refused("void f(thread int& a) { register int b = 1; a = b; }", "no register");
  expect_refused("void f(thread int& a) { static int b = 1; a = b; }", "no static variables");
  expect_refused("const float pi = 3.14f;", "declare it constant");
  expect_refused("int main() { return 0; }", "cannot be called main");
  expect_refused("struct S { static constexpr int n = 3; };", "declare it static constant");
  expect_refused("void f(thread int& a) { asm(\"nop\"); a = 1; }", "Metal has no assembly");
}

TEST(MetalRefuses, ArgumentsByValue) {
  const auto refused = [](const std::string& parameter, const std::string& advice) {
    expect_refused("kernel void f(device float* a [[buffer(0)]], " + parameter +
                       ", uint i [[thread_position_in_grid]]) { a[i] = 1; }",
                   advice);
  };
  refused("uint n", "write constant uint& n");
  refused("const uint n [[buffer(1)]]", "write constant uint& n");
  refused("metal::float4 n [[buffer(1)]]", "write constant metal::float4& n");
  expect_refused("struct S { int a; }; kernel void f(S s [[buffer(0)]], device int* a) {}",
                 "write constant S& s");
}

TEST(MetalRefuses, PointersWithoutAnAddressSpace) {
  const auto refused = [](const std::string& body) {
    expect_refused(body, "names no address space");
  };
  refused("kernel void f(float* a [[buffer(0)]]) { a[0] = 1; }");
  refused("void f(const float& a);");
  refused("void f(const float4x4& a);");
  refused("struct S { int a; }; void f(S* a);");
  refused("typedef struct { int a; } S; void f(S* a);");
  refused("using V = float4; void f(V& a);");
  refused("void f(vec<float, 4>* a);");
  refused("void f(thread half* b) { half(&a)[4] = b; }");
  refused("void f(device int* a) { int b = a[0]; int* c = &b; a[0] = *c; }");
  refused("void f(device uchar* a) { device float* b = (float*)a; b[0] = 1; }");
  refused("void f(device uchar* a) { device float* b = reinterpret_cast<float*>(a); b[0] = 1; }");
  refused("struct S { int a; S& operator=(thread const S& b) { a = b.a; return *this; } };");
}

TEST(MetalAccepts, PointersOfEveryAddressSpace) {
  const Compiled compiled = compile(with_header(
      "struct S { float a; float get() const device { return a; } };\n"
      "template <class T, class P> float g(P a, thread const T& b) { return a[0] + b; }\n"
      "template <class T> void h(T& a) { a = a * 2; }\n"
      "float k(float device* a, const device float*& b, constant float (&c)[2]) {\n"
      "  const auto& d = a[0];\n"
      "  const uint n = 4, m = 2;\n"
      "  return *a * *b + c[0] + d + float(n & m) + sizeof(float*);\n"
      "}\n"
      "struct T { T() = default; thread T& operator=(thread const T&) = delete; };\n"
      "kernel void f(device float* a, const device S* b, constant float& c) {\n"
      "  float d = 1;\n"
      "  h(d);\n"
      "  thread float* e = &d;\n"
      "  a[0] = g(a, *e) + b->get() + c;\n"
      "}"));
  EXPECT_TRUE(compiled.succeeded) << compiled.messages;
}

TEST(MetalRefuses, IndicesOfArgumentsThatDoNotExist) {
  const auto refused = [](const std::string& parameters, const std::string& because) {
    expect_refused(
        "enum Slot { first = 30, second };\nconstant constexpr int slot = 16;\n# 3\n"
        "kernel void f(" +
            parameters + ") {}",
        because);
  };
  refused("device int* a [[buffer(31)]]", "the index is at most 30");
  refused("device int* a [[buffer(second)]]", "the index is at most 30");
  refused("texture2d<float> a [[texture(128)]]", "the index is at most 127");
  refused("sampler a [[sampler(slot)]]", "the index is at most 15");
  refused("threadgroup int* a [[threadgroup(2 * slot - 1)]]", "the index is at most 30");
  refused("device int* a [[buffer(1)]], constant int& b [[buffer(3 - 2)]]",
          "parameters 'a' and 'b' both are [[buffer(1)]]");
  refused("device int* a [[buffer(unknown)]]", "write the number");
  refused("thread int* a", "points to thread memory");
  expect_refused("kernel int f(device int* a [[buffer(0)]]) { return a[0]; }", "return void");
}

TEST(MetalAccepts, IndicesOfEveryKind) {
  emu::metal::Options options;
  options.text = with_header(
      "enum Slot { first = 2, second };\n"
      "constant bool has_c [[function_constant(100 + 1)]];\n"
      "kernel void f(device int* a [[buffer(first)]], device int* b [[buffer(Slot::second)]],\n"
      "  device int* c [[buffer(4), function_constant(has_c)]],\n"
      "  device float* d [[buffer(4), function_constant(has_c)]],\n"
      "  threadgroup int* e [[threadgroup(2)]]) { a[0] = b[0] + e[0]; }");
  const emu::metal::Description found = emu::metal::describe("test.metal", options);
  ASSERT_EQ(found.kernels.size(), 1u);
  std::vector<int> indices;
  for (const auto& each : found.kernels[0].parameters) indices.push_back(each.index);
  EXPECT_EQ(indices, (std::vector<int>{2, 3, 4, 4, 2}));
  EXPECT_EQ(found.function_constants.at(0).index, 101);
}

TEST(MetalRefuses, AtomicsThatMetalHasNot) {
  const std::string relaxed = ", memory_order_relaxed); }";
  const std::string only = "only atomic_min_explicit and atomic_max_explicit for 64 bits";
  expect_refused("void f(device atomic_ulong* a) { atomic_fetch_add_explicit(a, 1" + relaxed, only);
  expect_refused("ulong f(device atomic_ulong* a) { return atomic_load_explicit(a" + relaxed, only);
  expect_refused("void f(threadgroup atomic_ulong* a) { atomic_max_explicit(a, 1" + relaxed, only);
  expect_refused("void f(device atomic_uint* a) { atomic_max_explicit(a, 1" + relaxed,
                 "no matching function");
  expect_refused("void f(threadgroup atomic_float* a) { atomic_fetch_add_explicit(a, 1" + relaxed,
                 "atomic_float is for device memory");
  const Compiled compiled = compile(
      with_header("kernel void f(device atomic_ulong* a) { atomic_max_explicit(a, 1" + relaxed));
  EXPECT_TRUE(compiled.succeeded) << compiled.messages;
}

/// The messages of compiling kernel f with function constants; empty if it compiles.
std::string specialized(const std::string& body, const std::map<std::string, std::string>& values) {
  emu::metal::Options options;
  options.text = with_header(body);
  options.function_constants = values;
  options.is_quiet = true;
  try {
    emu::metal::compile("test.metal", "f", options);
    return "";
  } catch (const emu::CompileError& error) {
    return error.what();
  }
}

TEST(MetalRefuses, FunctionConstantsWithoutAValue) {
  const std::string constants =
      "constant int n [[function_constant(0)]];\n"
      "constant int m [[function_constant(1)]];\n"
      "constant int unused [[function_constant(2)]];\n"
      "constant int twice = 2 * n;\n"
      "constant int m_or_7 = is_function_constant_defined(m) ? m : 7;\n"
      "int g() { return twice; }\n"
      "kernel void other(device int* a) { a[0] = unused; }\n";
  const std::string direct = constants + "kernel void f(device int* a) { a[0] = n; }";
  const std::string wrong = specialized(direct, {});
  EXPECT_NE(wrong.find("test.metal:3: error: kernel 'f' depends on function constant 0 'n'"),
            wrong.npos)
      << wrong;
  EXPECT_EQ(specialized(direct, {{"n", "3"}}), "");
  const std::string derived = constants + "kernel void f(device int* a) { a[0] = g() + m_or_7; }";
  EXPECT_NE(specialized(derived, {}).find("constant 0 'n'"), std::string::npos);
  EXPECT_EQ(specialized(derived, {}).find("'m'"), std::string::npos);
  EXPECT_EQ(specialized(derived, {{"0", "3"}}), "");
}

TEST(MetalAccepts, Recursion) {
  const Compiled compiled =
      compile(with_header("int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n"
                          "kernel void entry(device int* a) { a[0] = f(a[1]); }"));
  ASSERT_TRUE(compiled.succeeded) << compiled.messages;
  vgpu::DeviceMemory memory(1 << 20);
  const auto module = vgpu::Module::load(compiled.ptx, "test", memory);
  EXPECT_NE(module->kernel("entry"), nullptr);
}

TEST(MetalAccepts, InternalNamesOfApplesLibrary) {
  const Compiled compiled = compile(with_header(
      "template <class T> constexpr constant bool is_word = _disjunction<is_same<T, int>, "
      "is_same<T, uint>>::value;\n"
      "kernel void f(device int* a) { a[0] = is_word<int> ? 1 : 2; }"));
  EXPECT_TRUE(compiled.succeeded) << compiled.messages;
}

TEST(MetalAccepts, NamesThatMetalDoesNotDefine) {
  const Compiled compiled =
      compile(with_header("constant float M_PI = 3.14159265f;\n"
                          "kernel void f(device float* a) { a[0] = M_PI; }"));
  EXPECT_TRUE(compiled.succeeded) << compiled.messages;
}

TEST(MetalRefuses, PositionsOfUnlikeExtents) {
  const auto found = [](const std::string& text) { return kernels_with_unlike_positions(text); };
  EXPECT_EQ(
      found("kernel void f(device int* a [[buffer(0)]], uint3 at [[thread_position_in_grid]],\n"
            "  uint2 in [[threads_per_threadgroup]], uint i [[thread_index_in_threadgroup]]) {"),
      std::vector<std::string>{"f: uint3 at, uint2 in"});
  EXPECT_EQ(found("kernel void f(uint at [[thread_position_in_grid]]) {}\n"
                  "kernel void g(ushort2 at [[ thread_position_in_threadgroup ]],\n"
                  "              uint of [[threadgroups_per_grid]]) {}"),
            std::vector<std::string>{"g: ushort2 at, uint of"});
  EXPECT_TRUE(found("kernel void f(uint2 at [[thread_position_in_grid]],\n"
                    "  ushort2 in [[threads_per_threadgroup]], uint i [[simdgroup_index]]) {}")
                  .empty());
}

// Requirements of Metal that clang does not check, for the rungs, their headers and the tests' own
// kernels.
TEST(MetalSources, HaveWhatClangDoesNotLookFor) {
  std::vector<std::string> files = {RUNG_SOURCES "/tests/metal/language.metal"};
  for (const char* const folder :
       {"kernels/device/metal", "ladder/gemm/metal", "ladder/dot/metal"}) {
    for (const auto& file :
         std::filesystem::directory_iterator(RUNG_SOURCES "/" + std::string(folder))) {
      const auto extension = file.path().extension();
      if (extension == ".metal" || extension == ".h") files.push_back(file.path().string());
    }
  }
  EXPECT_GT(files.size(), select({"gemm/metal", "dot/metal"}).size());
  for (const std::string& file : files) {
    const std::string text = read_file(file);
    for (const std::string& found : kernels_with_unlike_positions(text)) {
      ADD_FAILURE() << file << ": " << found;
    }
  }
}

// Each macro that declares a rung makes the instantiations that Apple's compiler takes.
TEST(MetalSources, InstantiateTheirKernelsForAppleToo) {
  for (const char* const rung :
       {"gemm/metal/01_shared_tile", "gemm/metal/05_simdgroup_matrix", "dot/metal/00_multiply",
        "dot/metal/03_device_tree", "dot/metal/09_vectors"}) {
    const auto of = [&](const metal::Text& text) { return text.id == rung; };
    const std::string text((*std::ranges::find_if(metal::texts(), of)).text);
    EXPECT_NE(text.find("[[host_name(#name)]] [[kernel]] "), text.npos) << rung;
    const Compiled compiled = compile(text);
    EXPECT_TRUE(compiled.succeeded) << compiled.messages;
  }
}

}  // namespace
}  // namespace rung::metal_tests
