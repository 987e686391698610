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

/// So many bytes, or more, to where a copy can begin in device memory: a multiple of 256.
constexpr std::int64_t up_to_copy(std::int64_t bytes) { return round_up(bytes, 256); }

/// Device memory, after the launch's own workspace, for copies of A and B that are aligned.
std::int64_t repitched_bytes(const Launch& launch);

/// The copies to be made before each launch, and the maps for it.
class PreparedMaps {
 public:
  PreparedMaps() = default;
  /// `room`: as many bytes as repitched_bytes() says, at a multiple of 256.
  PreparedMaps(const DriverApi& api, const Launch& launch, void* room);

  /// Of the driver's encoding.
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

/// The type in the name of the kernel that makes a copy: one of its elements' size.
Dtype type_of(const Repitch& copy);

/// What a gemm's kernel takes, as cuLaunchKernel wants it: the problem, maps if it takes them, and
/// how k is split, which the driver does not read for a kernel that knows no such thing. All must
/// stay until the launch.
class KernelArguments {
 public:
  /// `maps`: null if the kernel takes none.
  KernelArguments(void* problem, void* maps, Split& split)
      : arguments_{problem, maps == nullptr ? &split : maps, &split} {}
  void** get() { return arguments_; }

 private:
  void* arguments_[3];
};

/// How a copy is launched.
Launch launch_of(const Repitch& copy);

}  // namespace rung::cuda
