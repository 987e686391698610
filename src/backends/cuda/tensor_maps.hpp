#pragma once
// From the Boxes of a launch to the maps that its kernel takes.

#include <cstdint>
#include <span>

#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/repitch.hpp"
#include "vgpu/driver/api.hpp"

namespace rung::cuda {

/// Packed copies begin at multiples of this many bytes in device memory.
constexpr std::int64_t up_to_copy(std::int64_t bytes) { return round_up(bytes, 256); }

/// The bytes of device memory, after the launch's own workspace, for packed copies of A and B.
std::int64_t repitched_bytes(const Launch& launch);

/// The copies to be made before each launch, and the maps for it.
class PreparedMaps {
 public:
  PreparedMaps() = default;
  /// `room`: repitched_bytes() bytes, aligned to 256.
  PreparedMaps(const DriverApi& api, const Launch& launch, void* room);

  /// Encoded by the driver.
  Result result() const { return result_; }
  std::span<const Repitch> copies() const { return {copies_, static_cast<std::size_t>(count_)}; }
  const TensorMaps& maps() const { return maps_; }

 private:
  void encode(const DriverApi& api, const Boxes& boxes, EncodedBoxes& map);
  Boxes copied(const Boxes& boxes, void*& room);

  Result result_ = Result::success;
  Repitch copies_[2] = {};
  int count_ = 0;
  TensorMaps maps_ = {};
};

/// The type in the name of the packing kernel: it has the size of an element.
Dtype type_of(const Repitch& copy);

/// The arguments of a gemm kernel, as for cuLaunchKernel: the problem, tensor maps if it has them,
/// and the split of k, which the driver does not read if the kernel has no such parameter. All must
/// outlive the launch call.
class KernelArguments {
 public:
  /// `maps`: null if the kernel has none.
  KernelArguments(void* problem, void* maps, Split& split)
      : arguments_{problem, maps == nullptr ? &split : maps, &split} {}
  void** get() { return arguments_; }

 private:
  void* arguments_[3];
};

/// The launch of a packing kernel.
Launch launch_of(const Repitch& copy);

}  // namespace rung::cuda
