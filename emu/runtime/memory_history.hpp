#pragma once
// Where memory was allocated, copied to and freed, for reports about it.

#include <cstddef>
#include <string>

#include "emu/runtime/call_site.hpp"

namespace rung::emu {

/// `call`: the function's name, "cudaMalloc".
void note_allocated(const void* pointer, std::size_t bytes, const std::string& call, CallSite site);
void note_freed(const void* pointer);
/// The program's own name for the allocation at `pointer`, in place of its variable.
void note_label(const void* pointer, const std::string& label);
/// That name, or an empty one. `pointer` is the begin of an allocation.
std::string label_of(const void* pointer);
/// A copy or fill that may write a part of an allocation only.
void note_written(const void* pointer, std::size_t bytes, const std::string& call);

/// The message, and what is known of the allocation that it names ("allocation 1 of 4096 bytes"): the variable
/// that has its address, where it was allocated and freed and, for bytes that nothing has written, the last
/// copy that ended before them.
std::string with_history(const std::string& message);

}  // namespace rung::emu
