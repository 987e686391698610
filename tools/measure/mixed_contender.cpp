// The library's products of bfloat16 and float as contenders: A is passed as bfloat16, to which its
// values convert exactly.

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/gemm_operands.hpp"
#include "core/cuda_driver/error.hpp"
#include "rung/mixed.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/peers/gpu_batch.hpp"

namespace rung {
namespace {

Order order_of(const AnyMatrix<const void*>& matrix) {
  return matrix.col_stride == 1 ? Order::row_major : Order::col_major;
}

/// A as contiguous bfloat16 elements in the same order.
std::vector<bfloat16> narrow_a(const GemmCall& call) {
  const bool by_rows = order_of(call.a) == Order::row_major;
  const std::int64_t lines = by_rows ? call.m : call.k, length = by_rows ? call.k : call.m;
  const std::int64_t ld = by_rows ? call.a.row_stride : call.a.col_stride;
  const auto* const from = static_cast<const float*>(call.a.data);
  std::vector<bfloat16> narrow(static_cast<std::size_t>(lines * length));
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      narrow[static_cast<std::size_t>(line * length + i)] = bfloat16(from[line * ld + i]);
    }
  }
  return narrow;
}

template <class... Where>
void run(const GemmCall& call, const bfloat16* a, const void* b, void* c, const Where&... where) {
  const bool by_rows = order_of(call.a) == Order::row_major;
  const bool b_by_rows = order_of(call.b) == Order::row_major;
  gemm(static_cast<float>(call.alpha),
       MatrixView<const bfloat16>{a, call.m, call.k, by_rows ? call.k : call.m, order_of(call.a)},
       MatrixView<const float>{static_cast<const float*>(b), call.k, call.n,
                               b_by_rows ? call.b.row_stride : call.b.col_stride, order_of(call.b)},
       static_cast<float>(call.beta),
       MatrixView<float>{static_cast<float*>(c), call.m, call.n, call.c.row_stride,
                         Order::row_major},
       where...);
}

}  // namespace

Bound LibraryContender::bind_mixed(const GemmCall& call, int threads) const {
  const auto a = std::make_shared<const std::vector<bfloat16>>(narrow_a(call));
  const GemmOptions options = {.threads = threads, .compute_mode = mode_};
  return {[=](std::int64_t calls) {
            for (std::int64_t i = 0; i < calls; ++i) {
              run(call, a->data(), call.b.data, call.c.data, options);
            }
          },
          {}};
}

Bound GpuLibraryContender::bind_mixed(const GemmCall& call, int threads) const {
  gpu_.make_current();
  const auto operands = std::make_shared<cuda::GemmOperands>(gpu_, call);
  const std::vector<bfloat16> on_host = narrow_a(call);
  const std::size_t bytes = on_host.size() * sizeof(bfloat16);
  const auto a = std::make_shared<cuda::DeviceBuffer>(gpu_, bytes);
  cuda::check(gpu_.api(), gpu_.api().cuMemcpyHtoD(a->address(), on_host.data(), bytes),
              "cuMemcpyHtoD");
  const auto once = [=, this] {
    run(call, static_cast<const bfloat16*>(a->data()),
        reinterpret_cast<const void*>(operands->b().data()),
        reinterpret_cast<void*>(operands->c().data()), CudaStream(gpu_.stream()),
        CudaOptions{.compute_mode = mode_});
  };
  return {batch_on_gpu("library", operands, [=, this] { launch(once, threads); }), {}};
}

}  // namespace rung
