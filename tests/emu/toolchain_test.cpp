// The parts of the tool that need no compiler.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "emu/accepted_source.hpp"
#include "emu/declared_targets.hpp"
#include "emu/device_launches.hpp"
#include "emu/launch_json.hpp"
#include "emu/nvcc_declarations.hpp"
#include "emu/own_warp_size.hpp"
#include "emu/process.hpp"
#include "emu/summary.hpp"
#include "emu/toolchain.hpp"
#include "emu/variable_arrays.hpp"

namespace rung::emu {
namespace {

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
  EXPECT_EQ(rewrite_device_launches(text + host),
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
  EXPECT_EQ(rewrite_device_launches("__host__ __device__ void f() { k<<<1, n>>>(3); }\n"),
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
  EXPECT_EQ(targets.repeat_in(header), header);
  EXPECT_EQ(
      targets.repeat_in("template <class T> n::A<T>::A(T first, int second) : x{2} { f(1); }\n"
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
  EXPECT_EQ(DeclaredTargets({declared}).repeat_in("int f(int x) { return x; }"),
            "int __device__ f(int x) { return x; }");
}

TEST(AcceptedSource, JoinsAndEscapes) {
  EXPECT_EQ(accepted_source("k<< <1,\n1>> >(asm(\"mov.u64 %0, %globaltimer;\"));\n"),
            "k<<<1,\n1>>>(asm(\"mov.u64 %0, %%globaltimer;\"));\n");
}

TEST(AcceptedSource, EscapesInAllFormsOfAssembly) {
  EXPECT_EQ(
      escape_special_registers("__asm__ volatile (\n  \"mov.u32 %0, %laneid; // )\" : \"=r\"(x));\n"
                               "asm(\"mov %%tid.x, %1;\" :: \"r\"(f(\"%tid\")));\n"
                               "printf(\"%clock\"); plasma(\"%clock\");\n"),
      "__asm__ volatile (\n  \"mov.u32 %0, %%laneid; // )\" : \"=r\"(x));\n"
      "asm(\"mov %%tid.x, %1;\" :: \"r\"(f(\"%%tid\")));\n"
      "printf(\"%clock\"); plasma(\"%clock\");\n");
}

TEST(AcceptedSource, EscapesRegistersThatTheStatementDeclares) {
  EXPECT_EQ(
      escape_special_registers("asm(\"{.reg .pred %p; setp.eq.s32 %p, %1, %%r; }\" : \"=r\"(x));\n"
                               "asm(\"movl %k0, %eax\" : \"=r\"(x));\n"),
      "asm(\"{.reg .pred %%p; setp.eq.s32 %%p, %1, %%r; }\" : \"=r\"(x));\n"
      "asm(\"movl %k0, %eax\" : \"=r\"(x));\n");
}

TEST(AcceptedSource, AlignasComesBeforeTheMemory) {
  EXPECT_EQ(lead_with_alignas("{ __shared__ alignas(16) float a[4]; }"),
            "{ alignas(16) __shared__  float a[4]; }");
  EXPECT_EQ(lead_with_alignas("extern __shared__\nalignas (sizeof(T)) char b[];"),
            "alignas (sizeof(T)) extern __shared__\n char b[];");
  for (const char* const text :
       {"alignas(16) __shared__ float a;", "struct alignas(16) A {};", "alignas(8) int a, b;",
        "__shared__ int my_alignas(3);", "__shared__ alignas(", "static alignas(8) int c;"}) {
    EXPECT_EQ(lead_with_alignas(text), text);
  }
}

TEST(AcceptedSource, AttributesBehindThoseOfCudaGo) {
  EXPECT_EQ(drop_late_attributes("__host__ __device__ [[nodiscard]] int f();"),
            "__host__ __device__               int f();");
  EXPECT_EQ(drop_late_attributes("__device__ [[a,\nb]] int f();"), "__device__     \n    int f();");
  for (const char* const text :
       {"[[nodiscard]] __device__ int f();", "a[[] { return 0; }()] = 1;", "__device__ [["}) {
    EXPECT_EQ(drop_late_attributes(text), text);
  }
}

TEST(AcceptedSource, DependentTemplatesAreNamed) {
  EXPECT_EQ(name_dependent_templates("using A = typename traits<T>::rebind<U<(1 > 0)>>::other;"),
            "using A = typename traits<T>::template rebind<U<(1 > 0)>>::other;");
  EXPECT_EQ(name_dependent_templates("typename a::B<T>::C<1>::D<2>::type x;"),
            "typename a::B<T>::template C<1>::template D<2>::type x;");
  for (const char* const text :
       {"typename traits<T>::template rebind<U>::other", "typename std::vector<T>::iterator i;",
        "typename A<T>::size_type\nA<T>::size() {}", "typename ::A<T>::B const C<T>::d;",
        "template <typename T, int N> struct A<T>::B<N> {};", "typename A<T"}) {
    EXPECT_EQ(name_dependent_templates(text), text);
  }
}

TEST(AcceptedSource, ObjectsInDynamicSharedMemoryAreArrays) {
  EXPECT_EQ(
      declare_shared_arrays("__global__ void k() { if (a) { extern __shared__ T<1, 2> s; } }"),
      "__global__ void k() { if (a) { extern __shared__ T<1, 2> rung_emu_s[]; auto& s = "
      "*rung_emu_s; } }");
  for (const char* const text :
       {"void k() { extern __shared__ float s[]; }", "void k() { extern int s; }",
        "namespace a { extern __shared__ float s; }", "extern __shared__ float s;",
        "extern \"C\" { extern __shared__ float s; }", "void k() { extern __shared__ float s"}) {
    EXPECT_EQ(declare_shared_arrays(text), text);
  }
}

TEST(AcceptedSource, PointersToArraysAreDeduced) {
  EXPECT_EQ(deduce_array_pointers("{ const T (*a)[n][m + 1] = (const T (*)[n][m + 1])p; }"),
            "{ auto a = (const T (*)[n][m + 1])p; }");
  EXPECT_EQ(deduce_array_pointers("double (* a)[n[1]] =\n (double (*)[n[1]])p;"),
            "auto a =\n (double (*)[n[1]])p;");
  EXPECT_EQ(deduce_array_pointers("double\n (*a)[n] = (double (*)[n])p;"),
            "auto a\n = (double (*)[n])p;");
  for (const char* const text :
       {"double (*a)[n] = (double (*)[m])p;", "double (*a)[n] = p;",
        "int (*f)(int) = (int (*)(int))p;", "double (*a)[n] == (double (*)[n])p",
        "g = (*a)[n] = (double (*)[n])p;", "double (*a)[n"}) {
    EXPECT_EQ(deduce_array_pointers(text), text);
  }
}

TEST(AcceptedSource, CooperativeGroupsBringAtomics) {
  const std::string header = "#include <cooperative_groups.h>\n";
  EXPECT_EQ(include_atomics(header + "cuda::atomic_ref<int> a(b);"),
            "#include <rung_emu/groups_and_atomics.h>\ncuda::atomic_ref<int> a(b);");
  for (const std::string& text :
       {header + "k();", header + "#include <cuda/atomic>\ncuda::atomic<int> a;"}) {
    EXPECT_EQ(include_atomics(text), text);
  }
}

TEST(AcceptedSource, RenamesItsOwnWarpSize) {
  EXPECT_EQ(
      rename_own_warp_size("// {\nstatic const int warpSize = 32;\nint f() { return warpSize; }"),
      "// {\nstatic const int rung_emu_own_warp_size = 32;\n"
      "int f() { return rung_emu_own_warp_size; }");
  EXPECT_EQ(rename_own_warp_size("char q = '\"', b = '{'; int n = 1'000; int warpSize = 32;"),
            "char q = '\"', b = '{'; int n = 1'000; int rung_emu_own_warp_size = 32;");
  EXPECT_EQ(rename_own_warp_size("constexpr int warpSize{32}; int n = p.warpSize + q->warpSize;"),
            "constexpr int rung_emu_own_warp_size{32}; int n = p.warpSize + q->warpSize;");
  for (const char* const text :
       {"int n = threadIdx.x / warpSize;", "struct A { int warpSize = 32; };",
        "void f() { const int warpSize = 32; }", "const int my_warpSize = 32;",
        "int warpSizes = 1;"}) {
    EXPECT_EQ(rename_own_warp_size(text), text);
  }
}

TEST(AcceptedSource, LeavesOtherBracketsAlone) {
  const std::string text =
      "f<g<h<int> > >(x); a << b << c; k<<<1, 2>>>(); v<w<int>> (3); s >>(t);\n";
  EXPECT_EQ(join_launch_brackets(text), text);
  EXPECT_EQ(join_launch_brackets("k< <<1, 2>>\n>\n(3)"), "k<<<1, 2>>>\n\n(3)");
}

TEST(AcceptedSource, NamesDimensionsInBraces) {
  EXPECT_EQ(name_dimensions("k<<<f({1}), {x, y[{2}], 1}, {0}, s>>>({4});\nk<<< {2, 2},\n{3}>>>();"),
            "k<<<f({1}), dim3{x, y[{2}], 1}, {0}, s>>>({4});\nk<<< dim3{2, 2},\ndim3{3}>>>();");
}

TEST(AcceptedSource, DropsStrayBackslashes) {
  EXPECT_EQ(
      drop_stray_backslashes("a = b + \\ // c\n d;\n#define E \\ // f\nputs(\"\\ // g\"); \\\nh\n"),
      "a = b +   // c\n d;\n#define E \\ // f\nputs(\"\\ // g\"); \\\nh\n");
}

TEST(AcceptedSource, WritesPragmasOfMacros) {
  EXPECT_EQ(define_pragmas("#define UNROLL #pragma unroll 4 // all\n#pragma once\n"
                           "  # define QUIET #pragma message \"a\"\n"),
            "#define UNROLL _Pragma(\"unroll 4\") // all\n#pragma once\n"
            "  # define QUIET _Pragma(\"message \\\"a\\\"\")\n");
}

TEST(AcceptedSource, AnswersThoseWhoAskForNvcc) {
  EXPECT_EQ(accepted_source("#ifdef __NVCC__\n#endif\n"), "#ifdef __CUDACC__\n#endif\n");
  const std::string knows_both = "#if defined(__NVCC__) || defined(__clang__)\n#endif\n";
  EXPECT_EQ(accepted_source(knows_both), knows_both);
}

TEST(VariableArrays, AreThoseOfFunctions) {
  EXPECT_EQ(zero_variable_arrays("int f(int n) { int v[n] = {0}; return v[0]; }\n"),
            "int f(int n) { int v[n]; __builtin_memset(v, 0, sizeof(v)); return v[0]; }\n");
  const std::string constant =
      "void f(int n);\n"
      "struct A { template <int N> constexpr int g() { int v[N] = {0}; return v[0]; } };\n"
      "template <class T, int N> struct B { float v[N] = {0}; };\n"
      "enum { n = 4 };\n"
      "struct C { int v[n] = {0}; };\n"
      "int all[n] = {};\n";
  EXPECT_EQ(zero_variable_arrays(constant), constant);
}

TEST(ReadableName, DropsReturnTypeAndParameters) {
  EXPECT_EQ(readable_name("_Z3addPKfS0_Pfi"), "add");
  EXPECT_EQ(readable_name("_Z4treeILj256EEvPKiPii"), "tree<256u>");
  EXPECT_EQ(readable_name("gemm_cuda_00_naive_f32"), "gemm_cuda_00_naive_f32");
  EXPECT_EQ(readable_name("_ZN2ns1kEPFvvE"), "ns::k");
  EXPECT_EQ(readable_name("_ZZ7reversePiE6buffer"), "buffer");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_13dynE"), "(anonymous namespace)::dyn");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14statEPi"), "(anonymous namespace)::stat");
  EXPECT_EQ(readable_name("_Z5applyIZ4mainE3$_0EvT_"), "apply<main::$_0>");
  EXPECT_EQ(readable_name("_ZZ7reversePiE6buffer_$_1"), "buffer");
  EXPECT_EQ(with_readable_names("in _Z5applyIZ4mainE3$_0EvT_: 1"), "in apply<main::$_0>: 1");
  EXPECT_EQ(with_readable_names("at _ZZ7reversePiE6buffer + 4 of _Z7reversePi"),
            "at buffer + 4 of reverse");
}

TEST(MissingFunctions, AreThoseThatTheVirtualGpuDoesNotHave) {
  EXPECT_TRUE(
      missing_functions(".extern .func  (.param .b32 func_retval0) vprintf\n(\n)\n").empty());
  const auto missing = missing_functions(
      ".extern .func  (.param .b32 func_retval0) __nv_j0f\n(\n)\n.extern .func other\n(\n)\n");
  EXPECT_EQ(missing, (std::vector<std::string>{"j0f", "other"}));
}

TEST(MissingFunctions, OfATextThatIsNotPtxAreAnErrorWithItsLine) {
  try {
    missing_functions(".version 8.0\nmov.u32 `x;\n");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the program's PTX:2: unexpected character '`'");
  }
}

TEST(Process, TellsExitCodesSignalsAndWhatCannotRun) {
  EXPECT_EQ(run({"sh", "-c", "exit 5"}).code, 5);
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).signal, 15);
  EXPECT_EQ(
      run({"sh", "-c", "test \"$RUNG_TEST_VALUE\" = 'a b'"}, {{"RUNG_TEST_VALUE", "a b"}}).code, 0);
  EXPECT_THROW(run({"no-such-program-anywhere"}), std::runtime_error);
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_NE(find_program("sh"), "");
}

class Summary : public testing::Test {
 protected:
  Summary()
      : path_(std::filesystem::temp_directory_path() /
              ("rung_records_" + std::to_string(getpid()))) {}
  ~Summary() override { std::filesystem::remove(path_); }

  Records read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_records(path_);
  }

  std::filesystem::path path_;
};

std::string launch(const std::string& name, std::uint64_t loads, std::size_t hazards) {
  vgpu::LaunchReport report;
  report.kernel = name;
  report.grid = {4, 2, 1};
  report.block = {32, 1, 1};
  report.counters.global_load_requests = loads;
  report.counters.global_load_sectors = 4 * loads;
  vgpu::Hazard hazard{};
  hazard.kind = vgpu::HazardKind::out_of_bounds;
  hazard.kernel = name;
  hazard.message = "out of bounds: " + name + " reads too far";
  report.hazards.assign(hazards, hazard);
  return Json{{"launch", to_json(report)}}.dump() + "\n";
}

TEST_F(Summary, AddsUpLaunchesThatAreAlike) {
  const Records records = read(launch("_Z1kv", 1000, 0) + launch("_Z1kv", 500000, 1));
  EXPECT_EQ(records.launches.size(), 2u);
  const Reports reports = merge(records);
  ASSERT_EQ(reports.all().size(), 1u);
  EXPECT_EQ(describe(reports.all()[0]), "out of bounds: k reads too far");
  EXPECT_EQ(reports.all()[0].launches, (std::vector<std::size_t>{2}));
  const std::string text = launch_tables(records);
  EXPECT_NE(text.find("k        4x2     32      2"), std::string::npos) << text;
  EXPECT_NE(text.find("501k    4.00"), std::string::npos) << text;
}

TEST_F(Summary, LeavesOutNamespacesWithoutAName) {
  const std::string text = launch_tables(read(launch("_ZN12_GLOBAL__N_11kEv", 1000, 0)));
  EXPECT_NE(text.find("k        4x2     32      1"), std::string::npos) << text;
}

TEST_F(Summary, HasBulkCopiesWhereThereAreSome) {
  EXPECT_EQ(launch_tables(read(launch("k", 1, 0))).find("bulk"), std::string::npos);
  vgpu::LaunchReport report;
  report.kernel = "k";
  report.counters.bulk_loads = 24;
  report.counters.bulk_load_bytes = 262144;
  const std::string text = launch_tables(read(Json{{"launch", to_json(report)}}.dump() + "\n"));
  EXPECT_NE(text.find("bulk loads"), std::string::npos) << text;
  EXPECT_NE(text.find("262k"), std::string::npos) << text;
}

TEST_F(Summary, SkipsALineThatWasNotFinished) {
  const Records records = read(launch("k", 1, 0) + "{\"launch\": {\"na");
  EXPECT_EQ(records.launches.size(), 1u);
  EXPECT_EQ(to_json(records, merge(records)).at("kernels").size(), 1u);
}

TEST_F(Summary, NoFileIsAProgramWithoutADevice) {
  EXPECT_TRUE(read_records("/nowhere/records").launches.empty());
  EXPECT_EQ(launch_tables({}), "");
  EXPECT_EQ(failed_calls({}), "");
}

}  // namespace
}  // namespace rung::emu
