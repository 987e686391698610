#pragma once
// Launches gemm rungs, both for the library and for the backend's verify, bench and tune.

#include <cstddef>

#include "backends/cuda/tensor_maps.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/block_scales.hpp"
#include "core/call.hpp"
#include "core/cuda_driver/api.hpp"
#include "core/grouped.hpp"
#include "device/cuda/entry/block_scaled.hpp"

namespace rung::cuda {

/// The launch of a rung for a problem with device pointers. For a batch, the grid is repeated along
/// x. `groups`, with offsets in device memory, requires a rung that supports groups.
Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem, const Groups& groups = {});

/// Device memory, used by one launch at a time.
struct LaunchMemory {
  void* workspace = nullptr;  // Launch::workspace_bytes, zero before its first use
  void* copies = nullptr;     // packed_bytes() of the launch, aligned to 256 bytes
};

/// The launches of a rung for one problem: first pack_operand for each operand that TMA cannot read
/// in place or that the configuration packs; then split_operand for both operands if the rung
/// multiplies halves, or split_digits, split_residues, mixed_operand or quantize_operand for each
/// operand that it multiplies in that form; finally the rung's kernel.
class PreparedGemm {
 public:
  /// `launch` is the result of launch_of() for the same problem and groups, after fitted() to
  /// `multiprocessors`.
  PreparedGemm(const DriverApi& api, const ConfiguredGemm& gemm, const GemmCall& problem,
               const Launch& launch, int multiprocessors, const LaunchMemory& memory,
               const Groups& groups = {});

  /// The driver's result of encoding the tensor maps. If it is not success, do not launch.
  Result result() const { return maps_.result(); }

  /// Sets the scales for a kernel that takes BlockScaledArgs. The default scales are 1.
  void set(const BlockScales& scales);

  /// Calls f(kernel, launch, parameters, bytes) for each launch, in order. `parameters` is
  /// cuLaunchKernel's array with a single parameter of that many bytes.
  template <class F>
  void for_each_launch(const F& f) {
    for (PackOperand copy : maps_.copies()) {
      void* parameters[] = {&copy};
      f(kernel_of(pack_operand, type_of(copy)), launch_of(copy, multiprocessors_), parameters,
        sizeof copy);
    }
    if (!maps_.splits().empty()) {
      SplitOperands splits = in_one_launch(maps_.splits(), multiprocessors_);
      void* parameters[] = {&splits};
      f(kernel_of(split_operand, Dtype::f32), launch_of(splits, multiprocessors_), parameters,
        sizeof splits);
    }
    for (Widen widen : maps_.widened()) {
      void* parameters[] = {&widen};
      f(kernel_of(mixed_operand, Dtype::bf16), launch_of(widen, multiprocessors_), parameters,
        sizeof widen);
    }
    for (SplitParts split : maps_.parts()) {
      void* parameters[] = {&split};
      f(kernel_of(mixed_operand, Dtype::f32), launch_of(split, multiprocessors_), parameters,
        sizeof split);
    }
    for (SplitDigits split : maps_.digits()) {
      void* parameters[] = {&split};
      f(kernel_of(split_digits, Dtype::f32), launch_of(split, multiprocessors_), parameters,
        sizeof split);
    }
    for (SplitResidues split : maps_.residues()) {
      void* parameters[] = {&split};
      f(kernel_of(split_residues, Dtype::f64), launch_of(split, multiprocessors_), parameters,
        sizeof split);
    }
    for (QuantizeOperand operand : maps_.quantized()) {
      void* parameters[] = {&operand};
      f(kernel_of(quantize_operand, Dtype::bf16), launch_of(operand, multiprocessors_), parameters,
        sizeof operand);
    }
    void* parameters[] = {args_};
    f(kernel_, launch_, parameters, sizeof args_);
  }

 private:
  int multiprocessors_;
  KernelName kernel_;
  Launch launch_;
  PreparedMaps maps_;
  /// KernelArgs for the problem's types. They are the first member of BlockScaledArgs, the largest
  /// kernel parameter.
  alignas(BlockScaledArgs) std::byte args_[sizeof(BlockScaledArgs)] = {};
};

}  // namespace rung::cuda
