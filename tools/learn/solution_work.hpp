#pragma once
// The elements that the threads of an exercise's solution store, compared with those of an attempt.

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "tools/learn/cause.hpp"

namespace rung::learn {

struct ThreadIndex {
  std::uint64_t block, thread;
  auto operator<=>(const ThreadIndex&) const = default;
};

/// True if the solution has a thread of this index without work: one beyond the edge.
bool is_outside(const Failure& failure, std::initializer_list<const vgpu::Party*> parties);

/// The cause of a store to a wrong element of C, by a thread that has one element.
std::optional<Cause> wrong_store(const Failure& failure, const vgpu::Party& party);

/// The first thread of the solution that stores and stores nothing here, though others of its block do. If other threads
/// than the solution's store, or a whole block stores nothing, the indices differ, and not a condition.
std::optional<ThreadIndex> idle_thread(const Failure& failure);

}  // namespace rung::learn
