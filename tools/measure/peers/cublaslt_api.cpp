#include "tools/measure/peers/cublaslt_api.hpp"

#include <fmt/format.h>

#include <bit>

#include "core/cublas/values.hpp"
#include "core/kernel_error.hpp"

namespace rung::cublaslt {
namespace {

using namespace cublas::lt;

// Values of cublasLtMatmulMatrixScale_t: one scale per 128 elements along k, stored contiguously
// along the rows; and one per block of 128 x 128, stored along k, with a leading dimension that is
// a multiple of four.
constexpr std::int32_t scales_of_rows = 4, scales_of_blocks = 5;
// Values of cublasLtMatmulPreferenceAttributes_t.
constexpr int max_workspace_bytes = 1;
constexpr int min_alignment_a = 5, min_alignment_b = 6, min_alignment_c = 7, min_alignment_d = 8;

/// The largest power of two up to 256 that divides the address.
std::uint32_t alignment(const void* data) {
  return std::uint32_t{1} << std::countr_zero(reinterpret_cast<std::uintptr_t>(data) | 256);
}

struct Extents {
  std::uint64_t rows, cols;
};

/// The extents as stored: those of the transpose for a transposed factor.
Extents stored(const CublasFactor& factor, std::int64_t rows, std::int64_t cols) {
  if (factor.operation == cublas::op_transpose) std::swap(rows, cols);
  return {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)};
}

}  // namespace

Functions::Functions(const SharedLibrary& library) {
  const auto find = [&]<class F>(F*& function, const char* symbol) {
    function = library.find<F>(symbol);
    if (function == nullptr && missing.empty()) missing = symbol;
  };
  find(get_property, "cublasLtGetProperty");
  find(status_name, "cublasLtGetStatusName");
  find(create, "cublasLtCreate");
  find(destroy, "cublasLtDestroy");
  find(create_operation, "cublasLtMatmulDescCreate");
  find(destroy_operation, "cublasLtMatmulDescDestroy");
  find(set_operation, "cublasLtMatmulDescSetAttribute");
  find(create_layout, "cublasLtMatrixLayoutCreate");
  find(destroy_layout, "cublasLtMatrixLayoutDestroy");
  find(set_layout, "cublasLtMatrixLayoutSetAttribute");
  find(create_preference, "cublasLtMatmulPreferenceCreate");
  find(destroy_preference, "cublasLtMatmulPreferenceDestroy");
  find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
  find(get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(matmul, "cublasLtMatmul");
}

std::string Functions::version() const {
  int parts[3] = {};  // libraryPropertyType: major, minor, patch
  for (int which = 0; which < 3; ++which) get_property(which, &parts[which]);
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

void Functions::check(int status, const char* call) const {
  if (status != 0) throw KernelError(fmt::format("{}: {}", call, status_name(status)));
}

Plan::Plan(const Functions& functions, const ColumnMajorGemm& g)
    : operation(functions.destroy_operation),
      first(functions.destroy_layout),
      second(functions.destroy_layout),
      c(functions.destroy_layout),
      alignments{alignment(g.first.data), alignment(g.second.data), alignment(g.c)} {
  functions.check(functions.create_operation(operation.out(), g.compute(), g.scale_type()),
                  "cublasLtMatmulDescCreate");
  const auto set = [&](int attribute, const cublas::Operation& value) {
    functions.check(functions.set_operation(operation, attribute, &value, sizeof value),
                    "cublasLtMatmulDescSetAttribute");
  };
  set(desc::op_a, g.first.operation);
  set(desc::op_b, g.second.operation);
  const auto create = [&](Object<Layout>& layout, cublas::DataType type, Extents extents,
                          std::int64_t ld, std::int64_t batch_stride) {
    functions.check(functions.create_layout(layout.out(), type, extents.rows, extents.cols, ld),
                    "cublasLtMatrixLayoutCreate");
    if (g.batch == 1) return;
    const auto count = static_cast<std::int32_t>(g.batch);
    functions.check(functions.set_layout(layout, layout::batch_count, &count, sizeof count),
                    "cublasLtMatrixLayoutSetAttribute");
    functions.check(
        functions.set_layout(layout, layout::batch_offset, &batch_stride, sizeof batch_stride),
        "cublasLtMatrixLayoutSetAttribute");
  };
  create(first, g.in_type(), stored(g.first, g.m, g.k), g.first.ld, g.first.batch_stride);
  create(second, g.in_type(), stored(g.second, g.k, g.n), g.second.ld, g.second.batch_stride);
  create(c, g.out_type(), {static_cast<std::uint64_t>(g.m), static_cast<std::uint64_t>(g.n)}, g.ldc,
         g.batch_stride_c);
}

void Plan::add_epilogue(const Functions& functions, const ColumnMajorGemm& g,
                        const CallWithEpilogue& call) {
  const auto set = [&](int attribute, const auto& value) {
    functions.check(functions.set_operation(operation, attribute, &value, sizeof value),
                    "cublasLtMatmulDescSetAttribute");
  };
  const EpilogueParts& parts = call.parts;
  const int wanted = (parts.bias ? bias : 0) | (parts.aux ? aux : 0) |
                     (parts.activation == Activation::relu ? relu : 0) |
                     (parts.activation == Activation::gelu_tanh ? gelu : 0);
  set(desc::epilogue, wanted == 0 ? no_epilogue : wanted);
  if (parts.bias) {
    set(desc::bias_pointer, call.bias.data);
    set(desc::bias_type, g.out_type());
  }
  if (parts.aux) {
    set(desc::aux_pointer, call.aux.data);
    set(desc::aux_ld, g.ldc);
    set(desc::aux_type, g.out_type());
  }
}

bool Plan::add_block_scales(const Functions& functions, const CallWithEpilogue& call) {
  const auto set = [&](int attribute, const auto& value) {
    return functions.set_operation(operation, attribute, &value, sizeof value) == 0;
  };
  return set(desc::a_scale_mode, scales_of_blocks) && set(desc::b_scale_mode, scales_of_rows) &&
         set(desc::a_scale, call.b_scales.data) && set(desc::b_scale, call.a_scales.data);
}

std::vector<Algorithm> Plan::choices(const Functions& functions, Handle handle,
                                     std::size_t workspace_bytes, int most) const {
  Object<Preference> preference(functions.destroy_preference);
  functions.check(functions.create_preference(preference.out()), "cublasLtMatmulPreferenceCreate");
  const auto set = [&](int attribute, const auto& value) {
    functions.check(functions.set_preference(preference, attribute, &value, sizeof value),
                    "cublasLtMatmulPreferenceSetAttribute");
  };
  set(max_workspace_bytes, std::uint64_t{workspace_bytes});
  set(min_alignment_a, alignments[0]);
  set(min_alignment_b, alignments[1]);
  set(min_alignment_c, alignments[2]);
  set(min_alignment_d, alignments[2]);
  std::vector<Choice> found(static_cast<std::size_t>(most));
  int count = 0;
  // Unsupported problems are reported either by the status or by a count of 0.
  if (functions.get_heuristic(handle, operation, first, second, c, c, preference, most,
                              found.data(), &count) != 0) {
    return {};
  }
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    const Choice& choice = found[static_cast<std::size_t>(i)];
    if (choice.status == 0) algorithms.push_back(choice.algorithm);
  }
  return algorithms;
}

}  // namespace rung::cublaslt
