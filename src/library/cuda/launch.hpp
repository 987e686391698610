#pragma once
// A chosen rung's launch into the caller's stream.

#include "backends/cuda/tensor_maps.hpp"
#include "core/problem.hpp"
#include "device/cuda/split.cuh"
#include "library/cuda/context_cache.hpp"
#include "library/cuda/select.hpp"
#include "library/select.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// Device memory for partial sums: the caller's, or the library's for the stream.
struct WorkspaceSource {
  ContextCache& context;
  Stream stream;
  void* given;  // null: the library's
  std::size_t given_bytes;

  std::int64_t bytes() const;
  /// Throws rung::Error and std::bad_alloc.
  DevicePointer get() const;
};

/// Puts a launch into the stream. `parameters` are those of cuLaunchKernel. Throws rung::Error and
/// std::bad_alloc.
void start(ContextCache& context, Stream stream, const KernelName& kernel, const Launch& launch,
           void** parameters);

/// The maps of a launch whose kernel takes them, after the copies that they need, if any, are in
/// the stream. Throws likewise.
TensorMaps prepare_maps(const WorkspaceSource& workspace, Dtype dtype, const Launch& launch);

/// Computes a problem whose pointers are the device's. C must not be empty. Throws likewise.
template <class In, class Out>
void launch_gemm(const WorkspaceSource& workspace, CudaGemmChoice choice,
                 const Gemm<In, Out>& problem) {
  ContextCache& context = workspace.context;
  const auto launch_of = choice.rung->launches.template of<In>();
  Launch launch = launch_of(problem, choice.plan);
  while (choice.plan.splits > 1 && launch.workspace_bytes > workspace.bytes()) {
    --choice.plan.splits;
    launch = launch_of(problem, choice.plan);
  }
  const DevicePointer sums = launch.workspace_bytes == 0 ? 0 : workspace.get();
  Split split = {choice.plan.splits, reinterpret_cast<void*>(sums)};
  TensorMaps maps;
  if (choice.rung->maps) maps = prepare_maps(workspace, dtype_of<In>(), launch);
  // The driver reads as many as the kernel has.
  void* const second = choice.rung->maps ? static_cast<void*>(&maps) : &split;
  void* parameters[] = {const_cast<Gemm<In, Out>*>(&problem), second};
  launch = fitted(launch, context.limits().multiprocessors);
  start(context, workspace.stream, kernel_of(choice, dtype_of<In>()), launch, parameters);
}

}  // namespace rung::cuda
