#include "tools/measure/verify_weights.hpp"

#include <fmt/format.h>

#include "backends/cuda/cuda.hpp"
#include "backends/rungs/cuda.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/workload.hpp"

namespace rung {
namespace {

constexpr std::string_view one_row = "gemm/cuda/weight_stream";
constexpr std::string_view few_rows = "gemm/cuda/weight_only";

/// Sizes for which the library chooses the rung, on a GPU that supports it.
std::vector<Size> sizes_of(std::string_view id) {
  if (id == one_row) return {{1, 128, 256}, {1, 200, 128}, {1, 257, 2176}, {1, 2130, 1152}};
  if (id == few_rows) return {{17, 128, 256}, {20, 200, 128}, {23, 257, 640}, {32, 130, 1152}};
  return {{2, 200, 640}, {65, 128, 256}, {128, 200, 128}, {129, 257, 640}, {300, 130, 1152}};
}

}  // namespace

bool takes_packed_weights(std::string_view id) {
  const cuda::GemmRung* rung = cuda::find_gemm_rung(id);
  return rung && !cuda::multiplies_operands(*rung);
}

void verify_packed_weights(std::string_view id, Dtype dtype, const Backend& backend, int threads,
                           const std::function<void(const Verdict&)>& judge) {
  if (unrounded(dtype) != Dtype::bf16 && unrounded(dtype) != Dtype::f16) return;
  const GpuLibraryContender library(*gpu_of(backend));
  for (const int bits : {4, 8}) {
    for (const int group : {64, 128}) {
      for (const Size& size : sizes_of(id)) {
        const WorkloadOptions options = {.dtype = dtype,
                                         .threads = threads,
                                         .b_transposed = true,
                                         .weight_bits = bits,
                                         .weight_group = group};
        const auto workload = make_workload("gemm", size, options, backend);
        Verdict verdict = workload->verify(library).verdict;
        if (!verdict.right) {
          verdict.message = fmt::format("{}x{}x{}, int{}, groups of {}: {}", size.m, size.n, size.k,
                                        bits, group, verdict.message);
        }
        judge(verdict);
      }
    }
  }
}

}  // namespace rung
