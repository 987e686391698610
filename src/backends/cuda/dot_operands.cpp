#include "backends/cuda/dot_operands.hpp"

#include "backends/cuda/driver_error.hpp"

namespace rung::cuda {
namespace {

/// Where n elements that are `increment` apart lie, or with their guards if these are wanted.
Storage storage_of_vector(const void* first, std::int64_t increment, std::int64_t n,
                          std::size_t element_bytes, const Storage& guarded, bool is_virtual) {
  if (first == nullptr || n == 0) return {};
  // The virtual GPU itself notices what is read or written past the vector; a GPU needs the guards.
  if (!is_virtual && guarded.begin != nullptr) return guarded;
  const auto size = static_cast<std::int64_t>(element_bytes);
  const std::int64_t lowest = increment < 0 ? (n - 1) * increment * size : 0;
  const AnyMatrix<const void*> column{static_cast<const std::byte*>(first) + lowest,
                                      increment < 0 ? -increment : increment, 1};
  return storage_of(column, increment == 0 ? 1 : n, 1, size);
}

}  // namespace

DotOperands::DotOperands(Gpu& gpu, const DotCall& call, void* result)
    : Operands(gpu),
      x_(gpu,
         storage_of_vector(call.x, call.incx, call.n, input_bytes(call.dtype), call.x_storage,
                           gpu.is_virtual()),
         call.x),
      y_(gpu,
         storage_of_vector(call.y, call.incy, call.n, input_bytes(call.dtype), call.y_storage,
                           gpu.is_virtual()),
         call.y),
      result_(gpu, output_bytes(call.dtype)),
      host_result_(result),
      vectors_return_(call.x_storage.begin != nullptr) {}

void DotOperands::download() const {
  gpu().make_current();
  check(gpu().api(), gpu().api().cuMemcpyDtoH(host_result_, result_.address(), result_.bytes()),
        "cuMemcpyDtoH");
  download_vectors();
}

void DotOperands::download_vectors() const {
  gpu().make_current();
  if (!vectors_return_) return;
  x_.download();
  y_.download();
}

}  // namespace rung::cuda
