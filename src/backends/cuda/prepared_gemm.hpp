#pragma once
// The one way in which a gemm rung is launched: by the library, and by the backend for verify,
// bench and tune.

#include <cstddef>

#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/tensor_maps.hpp"
#include "core/block_scales.hpp"
#include "core/call.hpp"
#include "core/grouped.hpp"
#include "cuda_driver/api.hpp"
#include "device/cuda/entry/block_scaled.hpp"

namespace rung::cuda {

/// The launch of a rung for a problem whose pointers are device pointers. The grid is repeated along
/// x for a batch. Groups, with offsets in device memory, are for rungs that take them.
Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem, const Groups& groups = {});

/// Device memory for one launch at a time.
struct LaunchMemory {
  void* workspace = nullptr;  // Launch::workspace_bytes; zero before its first use
  void* copies = nullptr;     // packed_bytes() of the launch, at a multiple of 256
};

/// A rung's launches for one problem: pack_operand for each operand that TMA cannot read in place or
/// the configuration packs, split_operand for both if the rung multiplies halves, or split_digits,
/// split_residues or mixed_operand for each that it multiplies as digits, residues or parts, then the
/// rung's kernel.
class PreparedGemm {
 public:
  /// `launch` is launch_of() for the same problem and groups, fitted() to `multiprocessors`.
  PreparedGemm(const DriverApi& api, const ConfiguredGemm& gemm, const GemmCall& problem,
               const Launch& launch, int multiprocessors, const LaunchMemory& memory,
               const Groups& groups = {});

  /// The driver's result of encoding the tensor maps. Unless it is success, nothing may be launched.
  Result result() const { return maps_.result(); }

  /// For a rung whose kernel takes BlockScaledArgs: else all scales are 1.
  void set(const BlockScales& scales);

  /// Calls f(kernel, launch, parameters) for each launch, in order. The parameters are those of
  /// cuLaunchKernel.
  template <class F>
  void for_each_launch(const F& f) {
    for (PackOperand copy : maps_.copies()) {
      void* parameters[] = {&copy};
      f(kernel_of(pack_operand, type_of(copy)), launch_of(copy, multiprocessors_), parameters);
    }
    if (!maps_.splits().empty()) {
      SplitOperands splits = in_one_launch(maps_.splits(), multiprocessors_);
      void* parameters[] = {&splits};
      f(kernel_of(split_operand, Dtype::f32), launch_of(splits, multiprocessors_), parameters);
    }
    for (Widen widen : maps_.widened()) {
      void* parameters[] = {&widen};
      f(kernel_of(mixed_operand, Dtype::bf16), launch_of(widen, multiprocessors_), parameters);
    }
    for (SplitParts split : maps_.parts()) {
      void* parameters[] = {&split};
      f(kernel_of(mixed_operand, Dtype::f32), launch_of(split, multiprocessors_), parameters);
    }
    for (SplitDigits split : maps_.digits()) {
      void* parameters[] = {&split};
      f(kernel_of(split_digits, Dtype::f32), launch_of(split, multiprocessors_), parameters);
    }
    for (SplitResidues split : maps_.residues()) {
      void* parameters[] = {&split};
      f(kernel_of(split_residues, Dtype::f64), launch_of(split, multiprocessors_), parameters);
    }
    void* parameters[] = {args_};
    f(kernel_, launch_, parameters);
  }

 private:
  int multiprocessors_;
  KernelName kernel_;
  Launch launch_;
  PreparedMaps maps_;
  /// KernelArgs of the problem's types. BlockScaledArgs, the largest kernel parameter, begins with them.
  alignas(BlockScaledArgs) std::byte args_[sizeof(BlockScaledArgs)] = {};
};

}  // namespace rung::cuda
