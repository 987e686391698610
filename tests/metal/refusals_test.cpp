// The front end rejects the code that Apple's compiler would reject, mostly by clang, which treats
// each address space as a distinct type.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/metal/images.hpp"
#include "compile.hpp"
#include "core/rung.hpp"
#include "pointers.hpp"
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
  expect_refused("void f(thread float& a) { a = 1.0; throw 1; }", "exceptions");
  expect_refused("void f(device float* a) { if constexpr (true) a[0] = 1; }", "C++17");
  expect_refused("void f(constant float& a) { a = 1; }", "const-qualified");
}

TEST(MetalRefuses, Recursion) {
  const Compiled compiled =
      compile(with_header("int f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n"
                          "kernel void entry(device int* a) { a[0] = f(a[1]); }"));
  ASSERT_TRUE(compiled.succeeded) << compiled.messages;
  vgpu::DeviceMemory memory(1 << 20);
  try {
    vgpu::Module::load(compiled.ptx, "test", memory, vgpu::CallStack::refused)->kernel("entry");
    FAIL() << "recursion was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("calls itself"), std::string::npos) << error.what();
  }
}

TEST(MetalRefuses, APointerWithoutAnAddressSpace) {
  const auto found = [](const std::string& text) { return pointers_without_address_space(text); };
  EXPECT_EQ(found("void f(\n  float* a) {}"), std::vector<std::string>{"2: float*"});
  EXPECT_EQ(found("template <class T> void f(const T& a);").size(), 1u);
  EXPECT_EQ(found("void f() { half (&a)[4] = b; }").size(), 1u);
  EXPECT_EQ(found("struct S {}; void f(device float* a, S* b);").size(), 1u);
  EXPECT_EQ(found("void f() { vec<float, 4>* p = q; }").size(), 1u);
  EXPECT_TRUE(found("void f(device float* a, const device vec<float, 4>* b, constant int& c) {\n"
                    "  thread float& d = e; /* x */ int f = 2 * g; // float* h\n}")
                  .empty());
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
    for (const std::string& found : pointers_without_address_space(text)) {
      ADD_FAILURE() << file << ":" << found;
    }
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
