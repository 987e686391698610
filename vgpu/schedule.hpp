#pragma once
// Other orders of a program: blocks, warps, parts of warps and the operations of streams run in an order that
// a seed chooses, so that results that depend on the order change. Equal seeds give equal orders, if one
// thread of the host makes all calls.

#include <cstdint>
#include <functional>
#include <string>

namespace rung::vgpu {

/// From now on, launches run in the order of this seed, on one CPU thread, and the virtual driver holds
/// operations back (driver/pending_operations.hpp). 0: the usual order, in which operations and warps run until
/// they wait.
void set_schedule(std::uint64_t seed);

/// Runs the operations that are held back. Call it before the program ends.
void run_pending_operations();

/// Device or managed memory when it is freed.
struct FinalMemory {
  std::string name;  // of the variable that received its address, or "allocation 3 of 64 bytes"
  std::uint64_t bytes = 0, digest = 0;  // of the bytes that were written
};
using MemoryObserver = std::function<void(const FinalMemory&)>;
void set_memory_observer(MemoryObserver observer);
/// Passes the memory that is not freed yet to the observer.
void observe_live_memory();

}  // namespace rung::vgpu
