#pragma once
// An operation of one size with its operands, for verification and timing of contenders.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/verify.hpp"
#include "tools/measure/ceilings.hpp"
#include "tools/measure/contender.hpp"

namespace rung {

/// The size of a problem: dot uses only n; m and k are 1.
struct Size {
  std::int64_t m = 1, n = 1, k = 1;

  double volume() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

struct WorkloadOptions {
  Dtype dtype = Dtype::f32;
  int threads = 1;
  bool a_transposed = false;  // only for gemm, like the next three
  bool b_transposed = false;
  double alpha = 1;
  double beta = 0;
  bool cold = false;  // uses operands outside the caches in each call
  ComputeMode compute_mode = ComputeMode::standard;  // of the library's gemm
  std::int64_t batch = 1;             // number of products of this size in one gemm call
  std::int64_t groups = 0;            // ragged groups that share the rows of A; 0: one product
  bool zipf = false;                  // most rows belong to few groups
  Family family = Family::symmetric;  // of the elements of A and B; for gemm without batches
  EpilogueParts epilogue = {};
  bool block_scales = false;  // only for e4m3 without an epilogue
  /// The number of bits of packed weights B, with one scale per `weight_group` elements along k; 0
  /// if B is not packed. Only for 16-bit types.
  int weight_bits = 0, weight_group = 128;
};

/// The ceiling of a workload, timed like a contender.
struct WorkloadCeiling {
  std::string name;                    // "f32 multiply-add", "read"
  std::vector<CeilingBatch> variants;  // the fastest one counts
};

/// The result of verification, and the size of errors if measurable.
struct Verified {
  Verdict verdict;
  std::optional<ElementErrors> errors = std::nullopt;  // only of correct contenders
};

class Workload {
 public:
  virtual ~Workload() = default;

  /// Rotates through all operand sets.
  virtual Bound bind(const Contender& contender) = 0;
  /// Uses the first operand set. The contender must support the workload.
  virtual Verified verify(const Contender& contender) = 0;
  /// The ceiling of the workload's backend; empty for simulations.
  virtual WorkloadCeiling ceiling() const = 0;
  /// The number of sets through which bind() rotates.
  virtual std::size_t operand_sets() const = 0;
  /// The rung that the library selects.
  virtual std::string library_choice() const = 0;

  virtual double flops() const = 0;
  /// Leading dimensions of A, B and C in elements; empty for vectors.
  virtual std::vector<std::int64_t> leading_dimensions() const = 0;
  /// The number of bytes of the operands and the result: each read or written once.
  virtual double bytes() const = 0;
  /// True if rates are in FLOP/s, false for bytes/s.
  virtual bool counts_flops() const = 0;
  double work() const { return counts_flops() ? flops() : bytes(); }
};

/// Creates a workload for `op` ("gemm", "dot" or "sum") on the backend. Throws std::bad_alloc and
/// exceptions of GemmCase and DotCase.
std::unique_ptr<Workload> make_workload(const std::string& op, const Size& size,
                                        const WorkloadOptions& options, const Backend& backend);

}  // namespace rung
