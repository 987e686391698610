#pragma once
// Small pieces of PTX and the shared accesses that ptxas issues for them.

#include <string>
#include <vector>

namespace rung::vgpu::merge_tests {

/// What is issued: bytes of a lane, in descending order.
struct Issued {
  std::vector<int> loads, stores;
  bool operator==(const Issued&) const = default;
};

struct MergeCase {
  std::string name;
  std::string body;
  Issued issued;
  int index_shift = 6;  // %r3 is the array plus the thread's index shifted left by this
};

/// A kernel of that name around a body, which may read: %r3, an address in shared memory; %r2, the
/// array's own; %r4, one of unknown relation to %r3, aligned to 16 bytes; %rd2, an address in
/// global memory; %r9, %p1, unknown; %f1 to %f8, %d1 to %d4 and %h1 to %h8, unknown if nothing is
/// loaded into them. What lies in %f0, %d0 and %r10 is stored at the end.
std::string kernel_of(const MergeCase& merge_case, const std::string& name);

const std::vector<MergeCase>& merge_cases();

/// Where the model is wrong: what it says, not what ptxas does.
const std::vector<MergeCase>& mistaken_cases();

}  // namespace rung::vgpu::merge_tests
