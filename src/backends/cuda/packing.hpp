#pragma once
// Packing for rungs without tensor maps: copies of operands that their fastest copies serve. It pays
// where the product takes much longer than the copies.

#include <optional>

#include "backends/cuda/block_model.hpp"
#include "backends/cuda/kernel_name.hpp"
#include "core/call.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// GemmRung::fast_copies of a problem.
bool has_fast_copies(const GemmRung& rung, const GemmCall& call);

Copies copies_of(const GemmRung& rung, const GemmCall& call);

/// How to pack A and B.
struct Packing {
  Pack a = Pack::no, b = Pack::no;

  constexpr int copies() const { return (a != Pack::no) + (b != Pack::no); }
};

/// The packing with the fewest copies with which the rung's fastest copies serve the operands; empty
/// if they do in place, or with none, or if the type's elements cannot be packed.
std::optional<Packing> packing_for_fast_copies(const GemmRung& rung, const GemmCall& call);

/// The bytes that the copies read and write.
double packing_bytes(const Packing& packing, const GemmCall& call);

/// A and B as what a launch with that configuration packs, without boxes; empty if it does not.
TensorMapSpec packed_a(const GemmConfig& config, const GemmCall& call);
TensorMapSpec packed_b(const GemmConfig& config, const GemmCall& call);

/// The call with the operands that the configuration packs replaced by their copies.
GemmCall with_copies(const GemmConfig& config, GemmCall call, const TensorMapSpec& a,
                     const TensorMapSpec& b);

}  // namespace rung::cuda
