#pragma once
// One op at one size with its operands, on which contenders are verified and timed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/verify.hpp"
#include "measure/ceilings.hpp"
#include "measure/contender.hpp"

namespace rung {

/// The sizes of one problem: dot uses only n, with m and k at 1.
struct Size {
  std::int64_t m = 1, n = 1, k = 1;

  double volume() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

struct WorkloadOptions {
  Dtype dtype = Dtype::f32;
  int threads = 1;
  bool a_transposed = false;  // only gemm, like the next three
  bool b_transposed = false;
  double alpha = 1;
  double beta = 0;
  bool cold = false;  // use new operands, from beyond the caches, for each call
  ComputeMode compute_mode = ComputeMode::standard;  // of the library's gemm
  std::int64_t batch = 1;             // products of gemm in one call, each of the size
  std::int64_t groups = 0;            // ragged groups that share the rows of A; 0: one product
  bool zipf = false;                  // few groups have most of the rows
  Family family = Family::symmetric;  // of the elements of A and B; of gemm without batches
  EpilogueParts epilogue = {};
  bool block_scales = false;  // only of e4m3, and without an epilogue
  /// B as packed weights of so many bits, with a scale for each `weight_group` steps; 0: as it is. Only
  /// of 16 bits.
  int weight_bits = 0, weight_group = 128;
};

/// The ceiling of a workload, ready to be timed like a contender.
struct WorkloadCeiling {
  std::string name;                    // "f32 multiply-add", "read"
  std::vector<CeilingBatch> variants;  // the fastest one counts
};

/// FMAs of a type's elements on the GPU of a backend. Empty without one, on the virtual GPU, whose times
/// say nothing, and for types that the GPU does not support.
WorkloadCeiling gpu_multiply_add_ceiling(const Backend& backend, Dtype dtype);

/// What verification says, and how large errors are where there is something to measure.
struct Verified {
  Verdict verdict;
  std::optional<ElementErrors> errors = std::nullopt;  // only of right contenders
};

class Workload {
 public:
  virtual ~Workload() = default;

  /// Rotates through all operand sets.
  virtual Bound bind(const Contender& contender) = 0;
  /// Uses the first operand set. The contender must be able to run the workload.
  virtual Verified verify(const Contender& contender) = 0;
  /// For the backend of the workload; empty if that is a simulation.
  virtual WorkloadCeiling ceiling() const = 0;
  /// The number of sets that bind() rotates through.
  virtual std::size_t operand_sets() const = 0;
  /// The rung that the library selects.
  virtual std::string library_choice() const = 0;

  virtual double flops() const = 0;
  /// Of A, B and C, in elements; empty for vectors.
  virtual std::vector<std::int64_t> leading_dimensions() const = 0;
  /// Of the operands: each read once, the result written once.
  virtual double bytes() const = 0;
  /// Whether rates are in flops (or bytes) per second.
  virtual bool counts_flops() const = 0;
  double work() const { return counts_flops() ? flops() : bytes(); }
};

/// op: "gemm", "dot" or "sum", for that backend. Throws std::bad_alloc and whatever GemmCase and
/// DotCase throw.
std::unique_ptr<Workload> make_workload(const std::string& op, const Size& size,
                                        const WorkloadOptions& options, const Backend& backend);

}  // namespace rung
