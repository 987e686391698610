#include "backends/cuda/gemm_call.hpp"

#include <fmt/format.h>

#include <cstring>

#include "backends/cuda/driver_error.hpp"
#include "core/kernel_error.hpp"

namespace rung::cuda {
namespace {

// Limits of every device since compute capability 3.0 (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
constexpr std::int64_t max_grid_x = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t max_grid_yz = 65535;
// Beyond this, dynamic shared memory has to be asked for.
constexpr std::int64_t plain_shared_bytes = 48 << 10;

template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual) {
  // The virtual GPU itself notices what is read or written past the matrix; a GPU needs the guards.
  if (!is_virtual && matrix.storage.begin != nullptr) return matrix.storage;
  return storage_of(matrix, rows, cols, static_cast<std::int64_t>(element_bytes));
}

Launch launch_of(const GemmRung& rung, const GemmCall& call, const Configuration& configuration) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In>()(call.typed<In, Out>(), configuration);
  });
}

}  // namespace

std::string entry_name(const GemmRung& rung, Dtype dtype, const Configuration& configuration) {
  const bool tiled = visit(
      dtype, [&]<class In, class Out>(Elements<In, Out>) { return !rung.tiles.of<In>().empty(); });
  if (!tiled) return fmt::format("{}_{}", rung.entry, name(dtype));
  return fmt::format("{}_{}_{}", rung.entry, name(dtype), configuration.tile);
}

std::optional<std::string> why_not_grid(const GemmRung& rung, const GemmCall& call,
                                        const Configuration& configuration) {
  const Dim3 grid = launch_of(rung, call, configuration).grid;
  if (grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz) return std::nullopt;
  return fmt::format("a grid of {}x{}x{} blocks; at most {}x{}x{} are possible", grid.x, grid.y,
                     grid.z, max_grid_x, max_grid_yz, max_grid_yz);
}

GemmCallOnGpu::GemmCallOnGpu(Gpu& gpu, const GemmRung& rung, const Image& image,
                             const GemmCall& call, const Configuration& configuration, int threads)
    : gpu_(gpu),
      threads_(threads),
      generation_(gpu.generation()),
      entry_(entry_name(rung, call.dtype, configuration)),
      a_(gpu, host_storage(call.a, call.m, call.k, input_bytes(call.dtype), gpu.is_virtual()),
         call.a.data),
      b_(gpu, host_storage(call.b, call.k, call.n, input_bytes(call.dtype), gpu.is_virtual()),
         call.b.data),
      c_(gpu, host_storage(call.c, call.m, call.n, output_bytes(call.dtype), gpu.is_virtual()),
         call.c.data),
      inputs_return_(call.a.storage.begin != nullptr && call.b.storage.begin != nullptr),
      launch_(launch_of(rung, call, configuration)),
      function_(gpu.function(image, entry_)),
      workspace_(gpu, static_cast<std::size_t>(launch_.workspace_bytes)),
      split_{configuration.splits, reinterpret_cast<void*>(workspace_.address())} {
  workspace_.set_to_zero();
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    Gemm<In, Out> g = call.typed<In, Out>();
    g.a.data = reinterpret_cast<const In*>(a_.data());
    g.b.data = reinterpret_cast<const In*>(b_.data());
    g.c.data = reinterpret_cast<Out*>(c_.data());
    problem_.resize(sizeof g);
    std::memcpy(problem_.data(), &g, sizeof g);
  });
  if (launch_.shared_bytes > plain_shared_bytes) {
    check(gpu.api(),
          gpu.api().cuFuncSetAttribute(function_, FunctionAttribute::max_dynamic_shared_size_bytes,
                                       static_cast<int>(launch_.shared_bytes)),
          "cuFuncSetAttribute");
  }
}

void GemmCallOnGpu::enqueue(std::int64_t calls) {
  gpu_.make_current();
  if (generation_ != gpu_.generation()) {
    throw KernelError(entry_ + ": its operands were lost when another kernel failed");
  }
  if (launch_.grid.count() == 0) return;
  for (std::int64_t i = 0; i < calls; ++i) {
    void* arguments[] = {problem_.data(), &split_};
    gpu_.launch(function_, entry_, launch_, arguments, threads_);
  }
}

void GemmCallOnGpu::wait() {
  gpu_.make_current();
  gpu_.wait(entry_);
}

void GemmCallOnGpu::download() {
  gpu_.make_current();
  c_.download();
  if (!inputs_return_) return;
  a_.download();
  b_.download();
}

}  // namespace rung::cuda
