// The signatures that are read from the text of a user's file.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tools/kernel_file/nearest_name.hpp"
#include "tools/kernel_file/signature.hpp"
#include "tools/kernel_file/source_functions.hpp"

namespace rung {
namespace {

Signature read(std::string_view text, const std::string& function = "",
               const std::string& as = "") {
  return read_signature({"my.cu", text, function, as});
}

std::string refusal(std::string_view text, const std::string& function = "",
                    const std::string& as = "") {
  try {
    read(text, function, as);
  } catch (const KernelFileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Signature, TakesParametersByNameInAnyOrder) {
  const Signature signature = read(
      "__global__ void gemm_kernel(int m) {}\n"
      "// void gemm(int comment) {}\n"
      "extern \"C\" {\n"
      "void gemm(const float *__restrict__ A, const float* B, float *C, const int M, int64_t n,\n"
      "          int k, int ldC, cudaStream_t stream) { gemm_kernel<<<1, 2>>>(M); }\n"
      "}\n");
  EXPECT_EQ(signature.op, "gemm");
  EXPECT_EQ(signature.line, 4);
  EXPECT_EQ(signature.dtype, Dtype::f32);
  EXPECT_FALSE(signature.returns_error);
  ASSERT_EQ(signature.parameters.size(), 8u);
  EXPECT_EQ(signature.parameters[0].type, "const float*");
  EXPECT_EQ(signature.parameters[0].role, Role::a);
  EXPECT_EQ(signature.parameters[3].type, "const int");
  EXPECT_EQ(signature.parameters[3].role, Role::m);
  EXPECT_TRUE(signature.has(Role::ldc));
  EXPECT_FALSE(signature.has(Role::beta));
}

Signature read_metal(std::string_view text) { return read_signature({"my.metal", text, "", ""}); }

std::string metal_refusal(std::string_view text) {
  try {
    read_metal(text);
  } catch (const KernelFileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Signature, OfAMetalKernelIsWithoutPositions) {
  const Signature signature = read_metal(
      "#include <metal_stdlib>\n"
      "kernel void dot(constant uint& n [[buffer(0)]], device const half* x [[buffer(1)]],\n"
      "                const device half* y [[buffer(2)]], device atomic_float* result,\n"
      "                uint2 at [[thread_position_in_grid]], uint i [[simdgroup_index]]) {}\n");
  EXPECT_EQ(signature.op, "dot");
  EXPECT_EQ(signature.dtype, Dtype::f16);
  ASSERT_EQ(signature.parameters.size(), 4u);
  EXPECT_EQ(signature.parameters[0].type, "constant uint&");
}

TEST(Signature, SaysWhatIsWrongWithAMetalKernel) {
  const std::string rest = "constant int& n, const device float* x, device float* result";
  EXPECT_EQ(metal_refusal("void sum(" + rest + ") {}"), "my.metal:1: sum is not a kernel");
  EXPECT_EQ(metal_refusal("kernel void sum(uint i [[thread_position_in_grid]], " + rest + ") {}"),
            "my.metal:1: sum: buffer 'n' after a position of threads; put the buffers first");
  EXPECT_EQ(metal_refusal("kernel void sum(int n, const device float* x, device float* result) {}"),
            "my.metal:1: sum: parameter 'n' is int; it must be a reference to constant memory");
  EXPECT_EQ(
      metal_refusal("kernel void sum(" + rest + ", threadgroup float* t [[threadgroup(0)]]) {}"),
      "my.metal:1: sum: the length of 't' is not known; declare threadgroup memory in the "
      "kernel");
}

TEST(Signature, TypesAreThoseOfThePointers) {
  const auto dtype = [](const std::string& in, const std::string& out) {
    return read("void gemm(int m, int n, int k, const " + in + "* a, " + in + " const* b, " + out +
                "* c) {}")
        .dtype;
  };
  EXPECT_EQ(dtype("double", "double"), Dtype::f64);
  EXPECT_EQ(dtype("unsigned int", "int"), Dtype::i32);
  EXPECT_EQ(dtype("__half", "float"), Dtype::f16);
  EXPECT_EQ(dtype("half", "__half"), Dtype::f16_f16);
  EXPECT_EQ(dtype("__nv_bfloat16", "float"), Dtype::bf16);
  EXPECT_EQ(dtype("int8_t", "int32_t"), Dtype::i8);
}

TEST(Signature, OtherNamesNeedAnOp) {
  constexpr std::string_view text =
      "cudaError_t solve(const float* x, const float* y, float* result, int n) { return {}; }";
  const Signature signature = read(text, "", "dot");
  EXPECT_EQ(signature.function, "solve");
  EXPECT_TRUE(signature.returns_error);
  EXPECT_EQ(read(text, "solve", "dot").op, "dot");
  EXPECT_EQ(refusal(text, "solve"),
            "my.cu:1: solve: add --as gemm, dot or sum, to say what it computes");
}

TEST(Signature, SaysWhatIsWrong) {
  const std::string good = "const float* A, const float* B, float* C";
  EXPECT_EQ(refusal("void gemm(int m, int n, int k, int lba, " + good + ") {}"),
            "my.cu:1: gemm: parameter 'lba' is none of those of a gemm: m, n, k, a, b, c, alpha, "
            "lda, ldb, beta, ldc, stream; did you mean 'lda'?");
  EXPECT_EQ(refusal("void gemm(int m, int n, " + good + ") {}"),
            "my.cu:1: gemm has no parameter 'k', which a gemm needs: m, n, k, a, b, c, in upper or "
            "lower case");
  EXPECT_EQ(refusal("void gemm(int m, int n, int k, int K, " + good + ") {}"),
            "my.cu:1: gemm: a second parameter 'K'");
  EXPECT_EQ(refusal("void gemm(int* m, int n, int k, " + good + ") {}"),
            "my.cu:1: gemm: parameter 'm' is int*; it must not be a pointer");
  EXPECT_EQ(refusal("void gemm(int m, int n, int k, float A, const float* B, float* C) {}"),
            "my.cu:1: gemm: parameter 'A' is float; it must be a pointer");
  EXPECT_EQ(refusal("int gemm(int m, int n, int k, " + good + ") {}"),
            "my.cu:1: gemm returns int; it must return void or cudaError_t");
  EXPECT_EQ(refusal("template <class T>\nvoid gemm(T* A) {}"),
            "my.cu:2: gemm is a template; rung calls a plain function");
  EXPECT_EQ(refusal("void sum(int n, const long* x, long* result) {}"),
            "my.cu:1: sum: no kernel of a sum reads long and writes long; types are float, double, "
            "int, __half or __nv_bfloat16 to float");
  EXPECT_EQ(refusal("void dot(int n, const float* x, const double* y, float* result) {}"),
            "my.cu:1: dot: x is of float and y of double; both must be of one type");
}

TEST(Signature, SaysWhichFunctionIsMissing) {
  EXPECT_EQ(refusal("void gem(int m) {}"),
            "my.cu: no host function gemm, dot, sum outside of namespaces; did you mean 'gem'?");
  EXPECT_EQ(refusal("void run_sgemm(int m) {}"),
            "my.cu: no host function gemm, dot, sum outside of namespaces; it has run_sgemm: name "
            "one as my.cu:run_sgemm with --as gemm, dot or sum");
  EXPECT_EQ(refusal(""),
            "my.cu: no host function gemm, dot, sum outside of namespaces; it has none that can "
            "be called; rung new writes a file to start from");
  EXPECT_EQ(refusal("int main() {}"),
            "my.cu: no host function gemm, dot, sum outside of namespaces; it is a program, which "
            "rung explain and rung emu run");
  EXPECT_EQ(refusal("void run() {}\nint main() {}"),
            "my.cu: no host function gemm, dot, sum outside of namespaces; it has run: name one as "
            "my.cu:run with --as gemm, dot or sum");
  EXPECT_EQ(refusal("void sum(int n) {}\nvoid dot(int n) {}"),
            "my.cu:1: sum besides dot; choose one with --as");
  EXPECT_EQ(refusal("__global__ void gemm(int m) {}"),
            "my.cu:1: gemm is a kernel, and no function launches it: add void gemm(int m) { "
            "gemm<<<grid, block>>>(m); }; for other ops launch it, as in rung explain my.cu:gemm "
            "--grid 4 --block 256 m=1024, or add a main()");
  EXPECT_EQ(
      refusal("__global__ void reduce(const float* x, int n, float* result) {}", "", ""),
      "my.cu:1: reduce is a kernel, and no function launches it: add void sum(const float* x, "
      "int n, float* result) { reduce<<<grid, block>>>(x, n, result); }; for other ops launch "
      "it, as in rung explain my.cu:reduce --grid 4 --block 256 x=rand:1024 n=1024 "
      "result=out:1024, or add a main()");
  const std::string kernel = "__global__ void sgemm(int n, const float* A) {}";
  EXPECT_EQ(refusal(kernel, "", "gemm"),
            "my.cu:1: sgemm is a kernel, and no function launches it: add void gemm(int n, const "
            "float* A) { sgemm<<<grid, block>>>(n, A); }");
  EXPECT_EQ(refusal(kernel + "\nvoid run(int m) {}"),
            "my.cu: no host function gemm, dot, sum outside of namespaces; it has run: name one as "
            "my.cu:run with --as gemm, dot or sum");
}

TEST(SourceFunctions, PassOverWhatIsNoCode) {
  const auto functions = source_functions(
      "#define BODY { } \\\n  void macro() {\n"
      "/* void comment() { */ const char* text = \"void literal() {\"; char brace = '{';\n"
      "namespace { void hidden() {} }\n"
      "constexpr int big = 1'000'000;\n"
      "struct Tile { void member() {} };\n"
      "template <int N> __global__ void __launch_bounds__(256) kernel(float* a) {}\n"
      "__device__ float twice(float x) { return 2 * x; }\n"
      "int main() {}\n");
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].name, "kernel");
  EXPECT_TRUE(functions[0].is_kernel && functions[0].is_template);
  EXPECT_EQ(functions[1].name, "twice");
  EXPECT_TRUE(functions[1].is_device);
  EXPECT_EQ(functions[2].line, 9);
  EXPECT_TRUE(has_main("int main(int argc, char** argv) {}"));
  EXPECT_FALSE(has_main("// int main() {}"));
}

TEST(NearestName, IsNearEnough) {
  constexpr std::array<std::string_view, 3> known = {"gemm", "dot", "library"};
  EXPECT_EQ(did_you_mean("libary", known), "; did you mean 'library'?");
  EXPECT_EQ(did_you_mean("gmem", known), "; did you mean 'gemm'?");
  EXPECT_EQ(did_you_mean("xy", known), "");
  EXPECT_EQ(did_you_mean("softmax", known), "");
}

}  // namespace
}  // namespace rung
