#include "tools/kernel_file/adapter.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "core/c_literal.hpp"
#include "core/dtype.hpp"

namespace rung {
namespace {

std::string argument(const KernelParameter& parameter, Dtype dtype) {
  const std::string value = fmt::format("call->{}", name(parameter.role));
  if (parameter.role != Role::alpha && parameter.role != Role::beta) {
    return fmt::format("({})({})", parameter.type, value);
  }
  // Converts by way of another type, not directly from double: __half has several converting
  // constructors, and converting a negative number to unsigned is undefined.
  return fmt::format("({})({})({})", parameter.type,
                     is_integer(dtype)     ? "long long"
                     : dtype == Dtype::f64 ? "double"
                                           : "float",
                     value);
}

std::string arguments(const Signature& signature) {
  std::string text;
  for (const KernelParameter& parameter : signature.parameters) {
    text += (text.empty() ? "" : ", ") + argument(parameter, signature.dtype);
  }
  return text;
}

/// #undef directives for the names in the code after the user's file, in case the file defines
/// macros with these names.
std::string without_macros() {
  std::vector<std::string_view> names = {"call", "count", "device", "error",  "extent",
                                         "host", "i",     "last",   "memory", "row",
                                         "seed", "word",  "words",  "Type"};
  for (int role = 0; role <= static_cast<int>(Role::stream); ++role) {
    names.push_back(name(static_cast<Role>(role)));
  }
  std::string text;
  for (const std::string_view one : names) text += fmt::format("#undef {}\n", one);
  return text;
}

// Renames main(), because the user's file may be a complete program.
constexpr const char* adapter_frame = R"(#include "rung_emu/kernel_call.h"
{before}#define main rung_emu_main_of_file
{include}
#undef main
{undefined}{launcher}extern "C" __attribute__((visibility("default"))) int {entry}(const rung_emu_kernel_call* call) {{
  (void)call;
  {statement}
}}
)";

// Precedes a file written like a rung, whose last line otherwise expands to entry points for Rung's
// build.
constexpr const char* without_entries = R"(#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "device/cuda/entry/dot.cuh"
#include "device/cuda/entry/gemm.cuh"
#undef RUNG_CUDA_GEMM
#undef RUNG_CUDA_DOT
#undef RUNG_CUDA_DOT_AND_SUM
#define RUNG_CUDA_GEMM(...)
#define RUNG_CUDA_DOT(...)
#define RUNG_CUDA_DOT_AND_SUM(...)
)";

constexpr const char* program_frame = R"(
#include <cstdlib>
namespace {{

template <class Type>
Type* rung_emu_operand(long long count) {{
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(Type));
  return static_cast<Type*>(memory);
}}

// Random numbers of a multiplicative congruential generator.
{element}* rung_emu_input(long long count, unsigned seed) {{
  auto* const host = static_cast<{element}*>(std::malloc(count * sizeof({element})));
  unsigned word = seed;
  for (long long i = 0; i < count; ++i) {{
    word = word * 2891336453u + 747796405u;
    host[i] = ({element})({value});
  }}
  auto* const device = rung_emu_operand<{element}>(count);
  cudaMemcpy(device, host, count * sizeof({element}), cudaMemcpyHostToDevice);
  std::free(host);
  return device;
}}

bool rung_emu_call(long long m, long long n, long long k, long long row) {{
  rung_emu_kernel_call call = {{}};
  call.m = m;
  call.n = n;
  call.k = k;
  call.alpha = 1;
  call.lda = {lda} > row ? {lda} : row;
  call.ldb = {ldb} > row ? {ldb} : row;
  call.ldc = {ldc} > row ? {ldc} : row;
  call.incx = call.incy = 1;
{operands}  const int error = {entry}(&call);
  const cudaError_t last = cudaDeviceSynchronize();
  return error == 0 && last == cudaSuccess;
}}

}}  // namespace

int main(int count, char** words) {{
  if (count == 1) return !rung_emu_call({m}, {n}, {k}, 0);
  const auto extent = [&](int at) {{ return std::atoll(words[at]); }};
  for (int i = 2; i + 2 < count; i += 3) {{
    if (!rung_emu_call(extent(i), extent(i + 1), extent(i + 2), extent(1))) return 1;
  }}
  return 0;
}}
)";

std::string element_type(const Signature& signature, Role role) {
  for (const KernelParameter& parameter : signature.parameters) {
    if (parameter.role != role) continue;
    std::string type = parameter.type;
    if (const std::size_t at = type.find("const"); at != type.npos) type.erase(at, 5);
    return type.substr(0, type.find('*'));
  }
  return "";
}

}  // namespace

std::string adapter_text(const KernelFile& file) {
  const Signature& signature = file.signature;
  const std::string call = fmt::format("{}({})", signature.function, arguments(signature));
  return fmt::format(
      adapter_frame, fmt::arg("before", file.launcher.empty() ? "" : without_entries),
      fmt::arg("include", include_directive(file.path)), fmt::arg("undefined", without_macros()),
      fmt::arg("launcher", file.launcher), fmt::arg("entry", adapter_entry),
      fmt::arg("statement", signature.returns_error
                                ? fmt::format("return static_cast<int>({});", call)
                                : fmt::format("{};\n  return 0;", call)));
}

std::string program_text(const KernelFile& file, const ProgramSize& size) {
  const Signature& signature = file.signature;
  const bool is_gemm = signature.op == "gemm";
  const std::string out = element_type(signature, is_gemm ? Role::c : Role::result);
  // The contiguous dimension of a matrix: its columns if row-major, its rows if column-major.
  const MatrixLayout& layout = signature.layout;
  const auto line = [&](bool transposed, const char* rows, const char* columns) {
    return transposed == layout.column_major ? columns : rows;
  };
  std::string operands;
  const auto input = [&](Role role, const char* count) {
    if (!signature.has(role)) return;
    operands += fmt::format("  call.{0} = rung_emu_input({1}, {2}u);\n", name(role), count,
                            static_cast<int>(role) + 1);
  };
  const auto lines = [&](bool transposed, const char* rows, const char* columns) {
    return transposed == layout.column_major ? rows : columns;
  };
  const std::string a =
      fmt::format("call.lda * {}", lines(layout.a_transposed, "call.m", "call.k"));
  const std::string b =
      fmt::format("call.ldb * {}", lines(layout.b_transposed, "call.k", "call.n"));
  const std::string c = fmt::format("call.ldc * {}", lines(false, "call.m", "call.n"));
  input(Role::a, a.c_str());
  input(Role::b, b.c_str());
  input(Role::x, "call.n");
  input(Role::y, "call.n");
  operands += is_gemm ? fmt::format("  call.c = rung_emu_operand<{}>({});\n", out, c)
                      : fmt::format("  call.result = rung_emu_operand<{}>(1);\n", out);
  return adapter_text(file) +
         fmt::format(program_frame,
                     fmt::arg("element", element_type(signature, is_gemm ? Role::a : Role::x)),
                     fmt::arg("value", is_integer(signature.dtype)
                                           ? "static_cast<int>((word >> 8) % 9) - 4"
                                           : "static_cast<float>(word >> 8) * 0x1p-23f - 1.0f"),
                     fmt::arg("m", size.m), fmt::arg("n", size.n), fmt::arg("k", size.k),
                     fmt::arg("lda", line(layout.a_transposed, "call.m", "call.k")),
                     fmt::arg("ldb", line(layout.b_transposed, "call.k", "call.n")),
                     fmt::arg("ldc", line(false, "call.m", "call.n")),
                     fmt::arg("entry", adapter_entry), fmt::arg("operands", operands));
}

}  // namespace rung
