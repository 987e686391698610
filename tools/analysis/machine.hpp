#pragma once
// The peak rates of a GPU: the ceilings of its roofline.

#include <map>
#include <string>

#include "core/element_types.hpp"
#include "tools/analysis/measured_runs.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct Machine {
  std::string name;
  std::string source;       // of both rates: "measured, results/…", "data sheet"
  double flops = 0;         // FLOP/s, two per FMA
  double sheet_flops = 0;   // FLOP/s from the data sheet; 0 if none
  double memory_bytes = 0;  // bytes/s, reading
  double clock = 0;         // Hz
  int multiprocessors = 0;
  bool is_public = true;                 // if caches, registers and occupancy are
  std::map<Dtype, double> matrix_flops;  // FLOP/s of tensor cores, by the type of the operands

  // Per SM and cycle: shared memory and L1 deliver 128 bytes, L2 delivers 64, and four schedulers
  // issue one instruction each (CUDA C++ Programming Guide, "Compute Capabilities"; Jia et al.,
  // "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018).
  static constexpr double shared_bytes_a_cycle = 128;
  static constexpr double l1_bytes_a_cycle = 128;
  static constexpr double l2_bytes_a_cycle = 64;
  static constexpr double instructions_a_cycle = 4;

  /// Converts a rate per SM and cycle to one of all SMs per second.
  double rate(double of_one_and_cycle) const { return of_one_and_cycle * clock * multiprocessors; }
  double multiply_adds_a_cycle() const { return multiply_adds_a_cycle(flops); }
  double multiply_adds_a_cycle(double of_flops) const {
    return of_flops / 2 / clock / multiprocessors;
  }
};

/// True for Apple GPUs.
bool is_apple(const vgpu::DeviceDescription& device);

/// `matrix_units`: true if the kernel uses them. Uses rates measured on a GPU with this name if
/// available, otherwise those of the data sheet.
Machine machine_of(const vgpu::DeviceDescription& device, Dtype dtype, bool matrix_units,
                   const Results& results);

}  // namespace rung::analysis
