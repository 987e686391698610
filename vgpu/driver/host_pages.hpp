#pragma once
// Finds accesses by the program's host code to memory that an operation may still access: the pages
// of managed, page-locked and registered memory are protected until the host waits. Operations run
// at once and would otherwise leave no trace of a missing wait.
//
// A page is protected only if the operation accesses all of its bytes, or all of the allocation is
// in one page. Others are left alone, because a system call may access them with good reason, and
// fails with EFAULT on a protected page.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "vgpu/happens_before/program_shadow.hpp"

namespace rung::vgpu::driver {

class HostPages {
 public:
  /// An operation has accessed the allocation.
  void note(const Allocation& allocation);
  void forget(std::uint64_t address);

  /// Allows all accesses: an operation is about to run.
  void lift();
  /// Protects what operations that are not ordered before the clock have accessed. `all`: the clock
  /// has changed, so that all pages are examined, not only those of noted allocations.
  void protect(const ProgramShadow& shadow, const ProgramClock& clock, bool all);

  bool is_protected() const { return is_protected_; }
  /// The allocation that contains a protected address, whose page is then accessible.
  std::optional<ProgramMemory> unprotect(std::uint64_t address);

 private:
  using Pending = ProgramShadow::Pending;
  struct Pages {
    ProgramMemory memory;
    std::uint64_t begin = 0;       // of the first page
    std::vector<Pending> pending;  // by page
    bool is_single = false;        // the page has no other data of the program
    bool is_noted = false;
    bool any = false;  // some page is to be protected
  };
  void examine(Pages& pages, const ProgramShadow& shadow, const ProgramClock& clock) const;
  void apply(const Pages& pages, bool protect) const;

  std::map<std::uint64_t, Pages> memories_;  // by address
  std::atomic<bool> is_protected_ = false;
};

/// True if accesses to protected pages are handled (set_host_access_observer()).
bool handles_host_accesses();

}  // namespace rung::vgpu::driver
