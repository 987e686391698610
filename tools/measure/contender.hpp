#pragma once
// A contender can be verified and timed on a problem: a rung, the library's own choice, or a peer.

#include <string>

#include "backends/backend.hpp"
#include "core/block_format.hpp"
#include "core/call.hpp"
#include "core/epilogue_parts.hpp"
#include "core/grouped.hpp"

namespace rung {

/// A batch, or a brief reason why the contender has none for this problem.
struct Bound {
  BoundCall batch;
  std::string why_not;

  explicit operator bool() const { return static_cast<bool>(batch); }
};

/// Block scales of ragged groups: of A's rows, and of each group's B, with a batch stride.
struct GroupScales {
  AnyMatrix<const void*> a, b;
};

class Contender {
 public:
  virtual ~Contender() = default;

  virtual std::string name() const = 0;
  /// The compute mode that determines its error bounds.
  virtual ComputeMode compute_mode() const { return ComputeMode::standard; }
  /// The block format of the operands: see block_format() of core/quantize.hpp.
  virtual BlockFormat format() const { return BlockFormat::none; }

  /// The operands must outlive the batch.
  virtual Bound bind(const GemmCall& call, int threads) const = 0;
  /// Binds ragged groups with offsets on the host. The library and cuBLAS support them.
  virtual Bound bind_groups(const GroupedCall& /*call*/, int /*threads*/) const {
    return {{}, "ragged groups are timed as calls of the library"};
  }
  /// Binds ragged groups with block scales.
  virtual Bound bind_scaled_groups(const GroupedCall& /*call*/, const GroupScales& /*scales*/,
                                   int /*threads*/) const {
    return {{}, "groups with block scales are timed as calls of the library"};
  }
  /// False if the contender computes only the product in benchmarks of epilogues or block scales.
  virtual bool has_epilogues() const { return true; }
  /// False if the contender multiplies by the unpacked matrix in benchmarks of packed weights.
  virtual bool has_packed_weights() const { return false; }
  virtual Bound bind_epilogue(const CallWithEpilogue& /*call*/, int /*threads*/) const {
    return {{}, "has no epilogues"};
  }
  /// Each call writes its sum to *result, like Backend::bind().
  virtual Bound bind(const DotCall& call, int threads, void* result) const = 0;
};

}  // namespace rung
