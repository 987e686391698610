#pragma once
// Finds accesses by the program's host code to memory that an operation may still access: the pages
// of managed, page-locked and registered memory are protected until the host waits. Operations run
// at once and would otherwise leave no trace of a missing wait.
//
// A page is protected if the operation accesses some of its bytes. The host may access the others, so
// that each access to such a page is compared with the operations' bytes, until the page has seen many. A
// system call fails with EFAULT on a protected page, so that the program's calls of the common ones access
// the pages first (emu/runtime/host_access.cpp).

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

  /// Protects all pages of noted allocations, until lift(). Each page may be opened and closed often.
  void protect_all();

  bool is_protected() const { return is_protected_; }
  /// True if a page has been protected at some time.
  bool has_protected() const { return has_protected_; }
  struct Opened {
    ProgramMemory memory;
    bool may_close = false;  // the host may access other bytes of the page with good reason
  };
  /// Makes the page of a protected address accessible. Call close() or leave_open() afterwards.
  std::optional<Opened> open(std::uint64_t address);
  void close(std::uint64_t address);
  void leave_open(std::uint64_t address);

 private:
  using Pending = ProgramShadow::Pending;
  struct Pages {
    ProgramMemory memory;
    std::uint64_t begin = 0;           // of the first page
    std::vector<Pending> pending;      // by page
    std::vector<std::uint16_t> opens;  // by page: how often it may still be opened and closed
    bool is_noted = false;
    bool any = false;  // some page is to be protected
  };
  void examine(Pages& pages, const ProgramShadow& shadow, const ProgramClock& clock) const;
  void apply(const Pages& pages, bool protect) const;
  /// The pages that contain an address, or null.
  Pages* find(std::uint64_t address);

  std::map<std::uint64_t, Pages> memories_;  // by address
  std::size_t opens_ = 1u << 18;             // as Pages::opens, of all pages: about a second
  std::atomic<bool> is_protected_ = false, has_protected_ = false;
};

/// True if accesses to protected pages are handled (set_host_access_observer()).
bool handles_host_accesses();

}  // namespace rung::vgpu::driver
