// The passes over CUDA sources.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/compile/source/missing_keywords.hpp"
#include "emu/compile/source/own_files.hpp"
#include "passes.hpp"

namespace rung::emu {
namespace {

Edits call_launches(const SourceText& source) { return rewrite_device_launches(source); }

std::function<Edits(const SourceText&)> repeat(const DeclaredTargets& targets) {
  return [&targets](const SourceText& source) { return targets.repeat_in(source); };
}

std::string accepted(const std::string& text) {
  return accepted_source(text, {DeclaredTargets({}), {}, ""});
}

TEST(DeviceLaunches, AreRewrittenInFunctionsOfTheDevice) {
  const std::string text =
      "// k<<<1, 1>>>();\n"
      "__global__ void k(int);\n"
      "template <class T, int N> __global__ void t(T);\n"
      "struct S { __device__ void f() { k<<<1, 2>>>(3); } };\n"
      "namespace a { __device__ void g() {\n"
      "  if (1 < 2) { t<int, (3 > 2)><<<dim3(1, 2), N, 0, s>>>(\"k<<<1, 1>>>(\"); }\n"
      "} }\n";
  const std::string host = "void h() { k<<<1, 1>>>(4); a::t<int, 2><<<1, 1>>>(5); }\n";
  const auto call = [](const std::string& kernel) {
    return "RUNG_EMU_DEVICE_LAUNCH((" + kernel + "))(";
  };
  EXPECT_EQ(after(call_launches, text + host),
            "// k<<<1, 1>>>();\n"
            "__global__ void k(int);\n"
            "template <class T, int N> __global__ void t(T);\n"
            "struct S { __device__ void f() { " +
                call("k") +
                "1, 2)(3); } };\n"
                "namespace a { __device__ void g() {\n"
                "  if (1 < 2) { " +
                call("t<int, (3 > 2)>") +
                "dim3(1, 2), N, 0, s)(\"k<<<1, 1>>>(\"); }\n"
                "} }\n" +
                host);
}

TEST(DeviceLaunches, StayLaunchesForTheHostsCompiler) {
  EXPECT_EQ(after(call_launches, "__host__ __device__ void f() { k<<<1, n>>>(3); }\n"),
            "__host__ __device__ void f() { RUNG_EMU_LAUNCH_IN_BOTH((k), 1, n)(3); }\n");
}

TEST(DeclaredTargets, AreRepeatedWhereFunctionsAreDefined) {
  const std::string header =
      "#define BOTH __host__ __device__\n"
      "namespace n {\n"
      "template <class T> class A : B<T> {\n"
      " public:\n"
      "  BOTH explicit A(T first, int = 2);\n"
      "  __device__ T* get() const;\n"
      "  void host(int x);\n"
      "  BOTH bool operator()(const T&) const;\n"
      "  __host__ __device__ ~A();\n"
      "};\n"
      "__device__ float f(float x, const int* many);\n"
      "__device__ float g(int);\n"
      "__global__ void k(int);\n"
      "struct __align__(16) Aligned { __device__ int get(); };\n"
      "}\n";
  const DeclaredTargets targets({header});
  EXPECT_EQ(after(repeat(targets), header), header);
  EXPECT_EQ(after(repeat(targets),
                  "template <class T> n::A<T>::A(T first, int second) : x{2} { f(1); }\n"
                  "template <class T> T* A<T>::get() const { return this; }\n"
                  "template <class T> void A<T>::host(int x) {}\n"
                  "template <class T> bool A<T>::operator()(const T& a) const {}\n"
                  "template <class T> A<T>::~A() {}\n"
                  "int n::Aligned::get() { return 0; }\n"
                  "float n::f(float y, const int* p) { return g(2); }\n"
                  "namespace n { float f(float y, const int* p) { return g(2); } }\n"
                  "namespace host { float f(float y, const int* p) { return 3; } }\n"
                  "float g(double) { return 1; }\n"
                  "void k(int) {}\n"),
            "template <class T> BOTH n::A<T>::A(T first, int second) : x{2} { f(1); }\n"
            "template <class T> T* __device__ A<T>::get() const { return this; }\n"
            "template <class T> void A<T>::host(int x) {}\n"
            "template <class T> bool BOTH A<T>::operator()(const T& a) const {}\n"
            "template <class T> __host__ __device__ A<T>::~A() {}\n"
            "int __device__ n::Aligned::get() { return 0; }\n"
            "float __device__ n::f(float y, const int* p) { return g(2); }\n"
            "namespace n { float __device__ f(float y, const int* p) { return g(2); } }\n"
            "namespace host { float f(float y, const int* p) { return 3; } }\n"
            "float g(double) { return 1; }\n"
            "void k(int) {}\n");
}

TEST(DeclaredTargets, DirectivesOfFilesFromWindowsGoOn) {
  const std::string declared =
      "#define REPEAT(x) \\\r\n  do { x; } while (0)\r\n__device__ int f(int);\r\n";
  EXPECT_EQ(after(repeat(DeclaredTargets({declared})), "int f(int x) { return x; }"),
            "int __device__ f(int x) { return x; }");
}

TEST(AcceptedSource, JoinsAndEscapes) {
  EXPECT_EQ(accepted("k<< <1,\n1>> >(asm(\"mov.u64 %0, %globaltimer;\"));\n"),
            "k<<<1,\n1>>>(asm(\"mov.u64 %0, %%globaltimer;\"));\n");
}

TEST(AcceptedSource, EscapesInAllFormsOfAssembly) {
  EXPECT_EQ(after(escape_special_registers,
                  "__asm__ volatile (\n  \"mov.u32 %0, %laneid; // )\" : \"=r\"(x));\n"
                  "asm(\"mov %%tid.x, %0;\" :: \"r\"(f(\"%tid\")));\n"
                  "printf(\"%clock\"); plasma(\"%clock\");\n"),
            "__asm__ volatile (\n  \"mov.u32 %0, %%laneid; // )\" : \"=r\"(x));\n"
            "asm(\"mov %%tid.x, %0;\" :: \"r\"(f(\"%%tid\")));\n"
            "printf(\"%clock\"); plasma(\"%clock\");\n");
}

TEST(AcceptedSource, EscapesRegistersThatTheStatementDeclares) {
  EXPECT_EQ(after(escape_special_registers,
                  "asm(\"{.reg .pred %p; setp.eq.s32 %p, %0, %%r; }\" : \"=r\"(x));\n"
                  "asm(\"movl %k0, %eax\" : \"=r\"(x));\n"),
            "asm(\"{.reg .pred %%p; setp.eq.s32 %%p, %0, %%r; }\" : \"=r\"(x));\n"
            "asm(\"movl %k0, %eax\" : \"=r\"(x));\n");
}

TEST(AcceptedSource, CommasBetweenOperandsMayBeMissing) {
  EXPECT_EQ(
      after(
          escape_special_registers,
          "asm(\"cp [%0], %1;\" :: \"r\"(to)  \"l\"(from(1)));\nasm(\"a\" \"b\" : : \"r\"(1));\n"),
      "asm(\"cp [%0], %1;\" :: \"r\"(to),  \"l\"(from(1)));\nasm(\"a\" \"b\" : : \"r\"(1));\n");
}

TEST(AcceptedSource, StringsAsOperandsAreAddresses) {
  EXPECT_EQ(
      after(escape_special_registers,
            "asm(\"mov%1.b32 %0, 0;\" : \"=r\"(x) : \"C\"(name<T>::value)  \"C\" (b) : \"C\");\n"
            "f(\"C\");\n"),
      "asm(\"mov%1.b32 %0, 0;\" : \"=r\"(x) : \"i\"(name<T>::value),  \"i\" (b) : \"C\");\n"
      "f(\"C\");\n");
}

TEST(MissingKeywords, AreWhereErrorsOfClangSayIt) {
  const std::string errors =
      "a.cu:2:10: error: missing 'typename' prior to dependent type name 'G::tile'\n"
      "    2 |   sizeof(T::tile)\n"
      "b.h:1:3: \x1b[0;1;31merror: \x1b[0muse 'template' keyword to treat 'f' as a dependent "
      "template name\n"
      "a.cu:2:10: error: missing 'typename' prior to dependent type name 'H::tile'\n"
      "a.cu:3:1: error: unknown type name 'q'\n"
      "a.cu:7:12: warning: missing 'typename' prior to dependent type name T::tile\n";
  const std::vector<MissingKeyword> found = missing_keywords(errors);
  EXPECT_EQ(found, (std::vector<MissingKeyword>{{"a.cu", 2, 10, "typename "},
                                                {"b.h", 1, 3, "template "}}));
  EXPECT_EQ(with_keywords("int f() {\n  sizeof(T::tile);\n}\n", {found[0]}),
            "int f() {\n  sizeof(typename T::tile);\n}\n");
  EXPECT_EQ(with_keywords("x.f<int>();\n", {found[1]}), "x.template f<int>();\n");
  // A macro's name is not changed in its middle, and no place is after the end.
  EXPECT_EQ(with_keywords("MACRO\n", {found[1], found[0]}), "MACRO\n");
}

TEST(AcceptedSource, EscapesOperandsThatDoNotExist) {
  // nvcc reports these where the template is instantiated, clang where it is defined.
  EXPECT_EQ(
      after(escape_special_registers,
            "asm volatile(\"commit.%2 [%0], %1;\" :: \"r\"(f(a, b)), \"n\"(1) : \"memory\");\n"
            "asm(\"mov.b32 %0, %1; // %10\" : [to] \"=r\"(x) : \"r\"(y));\n"
            "asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : INPUTS);\n"
            "asm(\"bar.sync %0;\");\n"),
      "asm volatile(\"commit.%%2 [%0], %1;\" :: \"r\"(f(a, b)), \"n\"(1) : \"memory\");\n"
      "asm(\"mov.b32 %0, %1; // %%10\" : [to] \"=r\"(x) : \"r\"(y));\n"
      "asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : INPUTS);\n"
      "asm(\"bar.sync %0;\");\n");
}

TEST(AcceptedSource, AlignasComesBeforeTheMemory) {
  EXPECT_EQ(after(lead_with_alignas, "{ __shared__ alignas(16) float a[4]; }"),
            "{ alignas(16) __shared__  float a[4]; }");
  EXPECT_EQ(after(lead_with_alignas, "extern __shared__\nalignas (sizeof(T)) char b[];"),
            "alignas (sizeof(T)) extern __shared__\n char b[];");
  for (const char* const text :
       {"alignas(16) __shared__ float a;", "struct alignas(16) A {};", "alignas(8) int a, b;",
        "__shared__ int my_alignas(3);", "__shared__ alignas(", "static alignas(8) int c;"}) {
    EXPECT_EQ(after(lead_with_alignas, text), text);
  }
}

TEST(AcceptedSource, AttributesBehindThoseOfCudaGo) {
  EXPECT_EQ(after(drop_late_attributes, "__host__ __device__ [[nodiscard]] int f();"),
            "__host__ __device__               int f();");
  EXPECT_EQ(after(drop_late_attributes, "__device__ [[a,\nb]] int f();"),
            "__device__     \n    int f();");
  for (const char* const text :
       {"[[nodiscard]] __device__ int f();", "a[[] { return 0; }()] = 1;", "__device__ [["}) {
    EXPECT_EQ(after(drop_late_attributes, text), text);
  }
}

TEST(AcceptedSource, DependentTemplatesAreNamed) {
  EXPECT_EQ(
      after(name_dependent_templates, "using A = typename traits<T>::rebind<U<(1 > 0)>>::other;"),
      "using A = typename traits<T>::template rebind<U<(1 > 0)>>::other;");
  EXPECT_EQ(after(name_dependent_templates, "typename a::B<T>::C<1>::D<2>::type x;"),
            "typename a::B<T>::template C<1>::template D<2>::type x;");
  for (const char* const text :
       {"typename traits<T>::template rebind<U>::other", "typename std::vector<T>::iterator i;",
        "typename A<T>::size_type\nA<T>::size() {}", "typename ::A<T>::B const C<T>::d;",
        "template <typename T, int N> struct A<T>::B<N> {};", "typename A<T"}) {
    EXPECT_EQ(after(name_dependent_templates, text), text);
  }
}

TEST(AcceptedSource, ObjectsInDynamicSharedMemoryAreArrays) {
  EXPECT_EQ(after(declare_shared_arrays,
                  "__global__ void k() { if (a) { extern __shared__ T<1, 2> s; } }"),
            "__global__ void k() { if (a) { extern __shared__ T<1, 2> rung_emu_s[]; auto& s = "
            "*rung_emu_s; } }");
  for (const char* const text :
       {"void k() { extern __shared__ float s[]; }", "void k() { extern int s; }",
        "namespace a { extern __shared__ float s; }", "extern __shared__ float s;",
        "extern \"C\" { extern __shared__ float s; }", "void k() { extern __shared__ float s"}) {
    EXPECT_EQ(after(declare_shared_arrays, text), text);
  }
}

TEST(AcceptedSource, PointersToArraysAreDeduced) {
  EXPECT_EQ(after(deduce_array_pointers, "{ const T (*a)[n][m + 1] = (const T (*)[n][m + 1])p; }"),
            "{ auto a = (const T (*)[n][m + 1])p; }");
  EXPECT_EQ(after(deduce_array_pointers, "double (* a)[n[1]] =\n (double (*)[n[1]])p;"),
            "auto a =\n (double (*)[n[1]])p;");
  EXPECT_EQ(after(deduce_array_pointers, "double\n (*a)[n] = (double (*)[n])p;"),
            "auto a\n = (double (*)[n])p;");
  for (const char* const text :
       {"double (*a)[n] = (double (*)[m])p;", "double (*a)[n] = p;",
        "int (*f)(int) = (int (*)(int))p;", "double (*a)[n] == (double (*)[n])p",
        "g = (*a)[n] = (double (*)[n])p;", "double (*a)[n"}) {
    EXPECT_EQ(after(deduce_array_pointers, text), text);
  }
}

TEST(AcceptedSource, CooperativeGroupsBringAtomics) {
  const std::string header = "#include <cooperative_groups.h>\n";
  EXPECT_EQ(after(include_atomics, header + "cuda::atomic_ref<int> a(b);"),
            "#include <rung_emu/groups_and_atomics.h>\ncuda::atomic_ref<int> a(b);");
  for (const std::string& text :
       {header + "k();", header + "#include <cuda/atomic>\ncuda::atomic<int> a;"}) {
    EXPECT_EQ(after(include_atomics, text), text);
  }
}

TEST(AcceptedSource, RenamesItsOwnWarpSize) {
  EXPECT_EQ(after(rename_own_warp_size,
                  "// {\nstatic const int warpSize = 32;\nint f() { return warpSize; }"),
            "// {\nstatic const int rung_emu_own_warp_size = 32;\n"
            "int f() { return rung_emu_own_warp_size; }");
  EXPECT_EQ(
      after(rename_own_warp_size, "char q = '\"', b = '{'; int n = 1'000; int warpSize = 32;"),
      "char q = '\"', b = '{'; int n = 1'000; int rung_emu_own_warp_size = 32;");
  EXPECT_EQ(
      after(rename_own_warp_size, "constexpr int warpSize{32}; int n = p.warpSize + q->warpSize;"),
      "constexpr int rung_emu_own_warp_size{32}; int n = p.warpSize + q->warpSize;");
  for (const char* const text :
       {"int n = threadIdx.x / warpSize;", "struct A { int warpSize = 32; };",
        "void f() { const int warpSize = 32; }", "const int my_warpSize = 32;",
        "int warpSizes = 1;"}) {
    EXPECT_EQ(after(rename_own_warp_size, text), text);
  }
}

TEST(AcceptedSource, LeavesOtherBracketsAlone) {
  const std::string text =
      "f<g<h<int> > >(x); a << b << c; k<<<1, 2>>>(); v<w<int>> (3); s >>(t);\n";
  EXPECT_EQ(after(join_launch_brackets, text), text);
  EXPECT_EQ(after(join_launch_brackets, "k< <<1, 2>>\n>\n(3)"), "k<<<1, 2>>>\n\n(3)");
}

TEST(AcceptedSource, NamesDimensionsInBraces) {
  EXPECT_EQ(after(name_dimensions,
                  "k<<<f({1}), {x, y[{2}], 1}, {0}, s>>>({4});\nk<<< {2, 2},\n{3}>>>();"),
            "k<<<f({1}), dim3{x, y[{2}], 1}, {0}, s>>>({4});\nk<<< dim3{2, 2},\ndim3{3}>>>();");
}

TEST(AcceptedSource, DropsStrayBackslashes) {
  EXPECT_EQ(after(drop_stray_backslashes,
                  "a = b + \\ // c\n d;\n#define E \\ // f\nputs(\"\\ // g\"); \\\nh\n"),
            "a = b +   // c\n d;\n#define E \\ // f\nputs(\"\\ // g\"); \\\nh\n");
}

TEST(AcceptedSource, WritesPragmasOfMacros) {
  EXPECT_EQ(after(define_pragmas,
                  "#define UNROLL #pragma unroll 4 // all\n#pragma once\n"
                  "  # define QUIET #pragma message \"a\"\n"),
            "#define UNROLL _Pragma(\"unroll 4\") // all\n#pragma once\n"
            "  # define QUIET _Pragma(\"message \\\"a\\\"\")\n");
}

TEST(AcceptedSource, AnswersThoseWhoAskForNvcc) {
  EXPECT_EQ(accepted("#ifdef __NVCC__\n#endif\n"), "#ifdef __CUDACC__\n#endif\n");
  const std::string knows_both = "#if defined(__NVCC__) || defined(__clang__)\n#endif\n";
  EXPECT_EQ(accepted(knows_both), knows_both);
  EXPECT_EQ(accepted("#if defined(__clang__) && defined(__CUDA__)\n#define CLANG_CUDA 1\n#endif\n"),
            "#if 0\n#define CLANG_CUDA 1\n#endif\n");
  EXPECT_EQ(
      accepted("#if defined(__NVCC__) || (defined(__clang__) && defined(__CUDA__))\n#endif\n"),
      "#if defined(__CUDACC__) || (0)\n#endif\n");
}

TEST(VariableArrays, AreThoseOfFunctions) {
  EXPECT_EQ(after(zero_variable_arrays, "int f(int n) { int v[n] = {0}; return v[0]; }\n"),
            "int f(int n) { int v[n]; __builtin_memset(v, 0, sizeof(v)); return v[0]; }\n");
  const std::string constant =
      "void f(int n);\n"
      "struct A { template <int N> constexpr int g() { int v[N] = {0}; return v[0]; } };\n"
      "template <class T, int N> struct B { float v[N] = {0}; };\n"
      "enum { n = 4 };\n"
      "struct C { int v[n] = {0}; };\n"
      "int all[n] = {};\n";
  EXPECT_EQ(after(zero_variable_arrays, constant), constant);
}

/// The passes that change the program or one of its headers.
std::set<std::string> passes_of(const std::filesystem::path& program) {
  const auto files = own_files(program, {"clang", "-I" RUNG_EMU_INCLUDE});
  std::vector<std::string_view> texts;
  for (const auto& [name, text] : files) texts.emplace_back(text);
  const DeclaredTargets targets(texts);
  const DeviceLaunches launches(files);
  std::set<std::string> found;
  for (const auto& [name, text] : files) {
    SourceText source(text);
    for (const SourcePass& pass : source_passes()) {
      Edits edits = pass.run(source, {targets, launches, name});
      if (!edits.empty()) found.insert(pass.name);
      source.apply(std::move(edits));
    }
  }
  return found;
}

TEST(SourcePasses, HaveAReasonAndAProgramThatNeedsThem) {
  std::set<std::string> names;
  for (const SourcePass& pass : source_passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_TRUE(std::string_view(pass.behaviour).ends_with('.')) << pass.name;
    if (is_test(pass.test)) continue;
    const std::filesystem::path program = std::filesystem::path(RUNG_EMU_PROGRAMS) / pass.test;
    ASSERT_TRUE(std::filesystem::exists(program)) << program;
    EXPECT_TRUE(passes_of(program).contains(pass.name)) << pass.name << " leaves " << program;
  }
}

}  // namespace
}  // namespace rung::emu
