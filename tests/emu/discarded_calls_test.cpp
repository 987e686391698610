// Reports of failed calls and skipped barriers read the source.

#include "emu/compile/source/discarded_calls.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "emu/compile/source/enclosing_statement.hpp"
#include "emu/compile/source/kernel_parameters.hpp"

namespace rung::emu {
namespace {

const std::vector<std::string> names = {"cudaFree"};

/// The call that line 1 discards, or "".
std::string discarded(const std::string& text, int line = 1) {
  const auto call = discarded_call(text, line, names);
  return call ? call->text : "";
}

TEST(DiscardedCall, IsAStatementOfItsOwn) {
  EXPECT_EQ(discarded("cudaFree( x );"), "cudaFree( x )");
  EXPECT_EQ(discarded("void f() {\n  cudaFree(p[\n  1]);\n}", 2), "cudaFree(p[ 1])");
  EXPECT_EQ(discarded("{ if (x) cudaFree(x); }"), "cudaFree(x)");
  EXPECT_EQ(discarded("{ if (x) y(); else cudaFree(x); }"), "cudaFree(x)");
  EXPECT_EQ(discarded("for (auto* p : all) cudaFree(p);"), "cudaFree(p)");
  EXPECT_EQ(discarded("{ case 1: cudaFree(x); }"), "cudaFree(x)");
  EXPECT_EQ(discarded("auto free = [&] { cudaFree(x); };"), "cudaFree(x)");
  EXPECT_EQ(discarded("{ ::cudaFree(x); }"), "cudaFree(x)");
  EXPECT_EQ(discarded("{ cudaFree(x); cudaFree(y); }"), "cudaFree(y)");
}

TEST(DiscardedCall, IsNotOneWhoseResultIsUsed) {
  for (const char* used :
       {"CHECK(cudaFree(x));", "cudaError_t e = cudaFree(x);", "{ return cudaFree(x); }",
        "if (cudaFree(x)) y();", "(void)cudaFree(x);", "cudaError_t e{cudaFree(x)};",
        "for (; cudaFree(x);) y();", "{ e = c ? 0 : cudaFree(x); }", "e |= cudaFree(x);",
        "CHECK(({ y(); cudaFree(x); }));", "puts(\"cudaFree(x);\");", "// cudaFree(x);",
        "{ cudaFree(x); CHECK(cudaFree(y)); }", "check(__LINE__, cudaFree(x));",
        "cudaError_t cudaFree(void*);", "cudaFree(x) == cudaSuccess;"}) {
    EXPECT_EQ(discarded(used), "") << used;
  }
}

TEST(DiscardedCall, LooksIntoMacrosOfTheSource) {
  const std::string release = "#define RELEASE(p) do { cudaFree(p); p = 0; } while (0)\n";
  EXPECT_EQ(discarded(release + "{ RELEASE(x); }", 2), "RELEASE(x)");
  const std::string plain = "#define RELEASE(p) cudaFree(p)\n";
  EXPECT_EQ(discarded(plain + "{ RELEASE(x); }", 2), "RELEASE(x)");
  EXPECT_EQ(discarded(plain + "CHECK(RELEASE(x));", 2), "");
  const std::string checked = "#define RELEASE(p) do { if (cudaFree(p)) exit(1); } while (0)\n";
  EXPECT_EQ(discarded(checked + "{ RELEASE(x); }", 2), "");
}

TEST(DiscardedCall, LaunchesAreQuoted) {
  EXPECT_EQ(launch_text("{\n  fill<int><<<2,\n  2048>>>(x); }", 2), "fill<int><<<2, 2048>>>(x)");
  EXPECT_EQ(launch_text("f(x);", 1), "");
}

TEST(AllocatedVariables, AreThoseOfAllCallsInTheLine) {
  using Names = std::vector<std::string>;
  const auto of = [](const char* line) { return allocated_variables(line, 1, "cudaMalloc"); };
  EXPECT_EQ(of("cudaMalloc(&x, n); cudaMalloc((void**)&m.y[1], f(n, 2));"), (Names{"x", "m.y[1]"}));
  EXPECT_EQ(of("CHECK(cudaMalloc<float>(&x, n)); cudaMalloc(p, n);"), (Names{"x", ""}));
  EXPECT_EQ(of("puts(\"cudaMalloc(&x, n)\");"), Names());
}

TEST(ParameterName, IsThatOfTheDefinition) {
  const char* text =
      "void k(int, int);\n"
      "template <class T> __global__ void __launch_bounds__(64) k(const pair<int, T>* a, float "
      "b[2],\n"
      "    int c = f(1, 2), const float* __restrict__ d) { k(1, 2); }\n";
  EXPECT_EQ(parameter_name(text, "k", 0), "a");
  EXPECT_EQ(parameter_name(text, "k", 1), "b");
  EXPECT_EQ(parameter_name(text, "k", 2), "c");
  EXPECT_EQ(parameter_name(text, "k", 3), "d");
  EXPECT_EQ(parameter_name(text, "k", 4), "");
  EXPECT_EQ(parameter_name(text, "other", 0), "");
}

TEST(EnclosingStatement, IsThatOfTheCondition) {
  const std::string around = "if (i < n) {\n  x();\n  __syncthreads();\n}\n__syncthreads();\n";
  EXPECT_TRUE(encloses(around, 1, 3));
  EXPECT_FALSE(encloses(around, 1, 5));
  EXPECT_FALSE(encloses("if (i >= n) return;\n__syncthreads();\n", 1, 2));
  EXPECT_FALSE(encloses("if (i >= n) return; __syncthreads();\n", 1, 1));
  EXPECT_TRUE(encloses("if (t < 128) __syncthreads();\n", 1, 1));
  EXPECT_TRUE(encloses("if (a &&\n    b)\n  __syncthreads();\n", 2, 3));
  EXPECT_TRUE(encloses("for (int i = t; i < n; i += 256) {\n  __syncthreads();\n}\n", 1, 2));
  EXPECT_TRUE(encloses("if (a) x();\nelse\n  __syncthreads();\n", 1, 3));
  EXPECT_FALSE(encloses("if (a) return;\nelse {\n  __syncthreads();\n}\n", 1, 3));
  EXPECT_FALSE(encloses("while (true) {\n  if (i >= n) return;\n  __syncthreads();\n}\n", 2, 3));
}

}  // namespace
}  // namespace rung::emu
