#pragma once
// Small PTX fragments, and the shared accesses that ptxas issues for them.

#include <string>
#include <vector>

namespace rung::vgpu::merge_tests {

/// Issued accesses: bytes per lane, in descending order.
struct Issued {
  std::vector<int> loads, stores;
  bool operator==(const Issued&) const = default;
};

struct MergeCase {
  std::string name;
  std::string body;
  Issued issued;
  int index_shift = 6;  // %r3 is the array plus the thread index shifted left by this
};

/// A kernel with that name and body. The body may read %r3, an address in shared memory; %r2, the
/// array's address; %r4, an address of unknown relation to %r3, aligned to 16 bytes; %rd2, an
/// address in global memory; %r9 and %p1, unknown; and %f1 to %f8, %d1 to %d4 and %h1 to %h8,
/// unknown unless loaded. %f0, %d0 and %r10 are stored at the end.
std::string kernel_of(const MergeCase& merge_case, const std::string& name);

const std::vector<MergeCase>& merge_cases();

/// Cases in which the model is wrong: its results, not those of ptxas.
const std::vector<MergeCase>& mistaken_cases();

}  // namespace rung::vgpu::merge_tests
