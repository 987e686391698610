#include "backends/metal/gemm_call.hpp"

#include <cstring>

#include "backends/host_storage.hpp"
#include "backends/rungs/metal.hpp"
#include "rung/types.hpp"

namespace rung::metal {
namespace {

/// True if each group of four elements that starts at a multiple of four is aligned like a vector
/// of four.
template <class T>
bool is_aligned(const DeviceOperand& operand, const Matrix<T>& matrix) {
  const std::int64_t ld = matrix.col_stride == 1 ? matrix.row_stride : matrix.col_stride;
  return ld % 4 == 0 && operand.is_aligned(4 * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace

std::vector<std::byte> gemm_scalars(const GemmCall& call, const DeviceOperand& a,
                                    const DeviceOperand& b, const DeviceOperand& c) {
  std::vector<std::byte> bytes;
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const Gemm<In, Out> g = call.typed<In, Out>();
    const GemmScalars<Scalar<Out>> scalars = {.m = g.m,
                                              .n = g.n,
                                              .k = g.k,
                                              .a_row_stride = g.a.row_stride,
                                              .a_col_stride = g.a.col_stride,
                                              .b_row_stride = g.b.row_stride,
                                              .b_col_stride = g.b.col_stride,
                                              .c_row_stride = g.c.row_stride,
                                              .alpha = g.alpha,
                                              .beta = g.beta,
                                              .a_is_aligned = is_aligned(a, g.a),
                                              .b_is_aligned = is_aligned(b, g.b),
                                              .c_is_aligned = is_aligned(c, g.c)};
    bytes.resize(sizeof scalars);
    std::memcpy(bytes.data(), &scalars, sizeof scalars);
  });
  return bytes;
}

GemmCallOnDevice::GemmCallOnDevice(Device& device, std::string_view id, const GemmRung& rung,
                                   const GemmCall& call, int threads)
    : device_(device),
      pipeline_(device.pipeline(id, kernel_name(rung.entry, call.dtype))),
      launch_(rung.launch(call.m, call.n)),
      threads_(threads),
      a_(device, host_storage(call.a, call.m, call.k, input_bytes(call.dtype), device.is_virtual()),
         call.a.data),
      b_(device, host_storage(call.b, call.k, call.n, input_bytes(call.dtype), device.is_virtual()),
         call.b.data),
      c_(device,
         host_storage(call.c, call.m, call.n, output_bytes(call.dtype), device.is_virtual()),
         call.c.data),
      scalars_(gemm_scalars(call, a_, b_, c_)) {}

void GemmCallOnDevice::enqueue(std::int64_t calls) {
  if (launch_.threadgroups.count() == 0) return;
  const Argument arguments[] = {{.bytes = scalars_}, a_.argument(), b_.argument(), c_.argument()};
  for (std::int64_t i = 0; i < calls; ++i) {
    device_.dispatch(pipeline_, launch_, arguments, threads_);
  }
}

void GemmCallOnDevice::download() const {
  c_.download();
  a_.download();
  b_.download();
}

}  // namespace rung::metal
