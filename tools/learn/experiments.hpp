#pragma once
// Experiments on the text of an attempt with a hazard: what is changed, and whether the hazard is then gone.

#include <optional>
#include <string>
#include <vector>

#include "tools/learn/cause.hpp"

namespace rung::learn {

bool is_in_shared(const vgpu::Hazard& hazard);
bool is_same_block(const vgpu::Hazard& hazard);

/// "thread (1,0,0) of block (0,0,0)"
std::string name_of(const vgpu::Party& party);

/// True if the code runs at this size without a hazard other than stores of equal values, and other
/// than accesses out of bounds.
bool is_ordered(const Code& code, const Size& size);

class Experiments {
 public:
  explicit Experiments(const Failure& failure);

  const std::string& text() const { return text_; }

  /// How far a barrier before each of the lines orders the accesses: for no size, for the one that
  /// failed, or for all.
  enum class Order { none, here, everywhere };
  Order order_with(const std::vector<int>& lines) const;

  /// True if the text, which has one thing changed, has none of these hazards.
  bool is_ordered_text(const std::string& text) const;

  /// True if the text, which has one thing changed, has no hazard of this kind.
  bool is_without(vgpu::HazardKind kind, const std::string& text) const;

 private:
  const Failure& failure_;
  std::string text_;
};

/// Tries `<` instead of `<=` on the hazard's line, or on one of the conditions around it.
std::optional<Cause> one_too_many(const Failure& failure, const char* key);

/// Finds the barrier that is missing between the line that reads and the one that writes: tries one
/// ahead of the reads, one after them, and both. One that helps for all sizes is preferred to one that helps for
/// the failing size alone, where there may be a single round.
std::optional<Cause> missing_barrier(const Failure& failure, const vgpu::Party& reader,
                                     const vgpu::Party* writer);

/// A wait that is there, but orders less than it would have to.
std::optional<Cause> weak_barrier(const Failure& failure);

/// A return ahead of a barrier, without which the accesses are ordered.
std::optional<Cause> early_return(const Failure& failure);

}  // namespace rung::learn
