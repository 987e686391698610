#pragma once
// Collects the hazards of a launch, one for each kind and pair of instructions.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/model/hazard.hpp"

namespace rung::vgpu {

struct HazardEntry {
  HazardKind kind;
  std::uint32_t site, other_site;
  std::uint64_t block;
  int thread;
  Hazard hazard;
};

/// Shared by the workers of a launch. The example kept for a hazard does not depend on the order in
/// which blocks ran: it is the one with the lowest block, then the lowest thread.
class HazardLog {
 public:
  explicit HazardLog(std::size_t limit) : limit_(limit) {}

  using Entry = HazardEntry;
  /// True if this pair of instructions is new, or if this example precedes the one kept so far.
  bool wants(HazardKind kind, std::uint32_t site, std::uint32_t other_site, std::uint64_t block,
             int thread);
  void add(Entry entry);
  /// True if a race between these two instructions has been added.
  bool has_race(std::uint32_t site, std::uint32_t other_site) const;
  std::vector<Hazard> sorted() const;

 private:
  using Key = std::tuple<HazardKind, std::uint32_t, std::uint32_t>;
  bool has_room(HazardKind kind) const;
  bool is_race(std::uint32_t site, std::uint32_t other_site) const;
  std::size_t limit_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

/// One party of a hazard: a thread and its instruction.
Party party(const Block& block, std::uint64_t linear_block, int thread, std::uint32_t site,
            std::string access);
/// A description such as "As + 132" or "shared memory + 132".
std::string shared_address(const Block& block, std::uint64_t offset);

/// The memory involved in a hazard, and the error.
struct Description {
  std::string address, message;
};

/// Counts a hazard. Calls `describe`, which returns its Description, only if this example is kept.
template <class Describe>
void report(Block& block, HazardKind kind, int thread, std::uint32_t site, const char* access,
            const Describe& describe);

/// Collects the reports of the block's worker, during its lifetime, instead of adding them to the launch's log.
class HeldReports {
 public:
  explicit HeldReports(Block& block);
  ~HeldReports();
  HeldReports(const HeldReports&) = delete;
  HeldReports& operator=(const HeldReports&) = delete;

  std::vector<HazardEntry> entries;

 private:
  Worker& worker_;
  std::vector<HazardEntry>* const before_;
};
/// Adds a report that was held.
void add_held_report(Block& block, const HazardEntry& entry);
/// As HazardLog::wants(); true for reports that are held.
bool wants_report(Block& block, HazardKind kind, std::uint32_t site, std::uint32_t other_site,
                  int thread);

// The following functions describe one hazard each and add it to the launch's log.
void report(Block& block, HazardKind kind, int thread, std::uint32_t site, std::string access,
            std::string address, std::string message);
void report_race(Block& block, int thread, std::uint32_t site, std::string access, int other_thread,
                 std::uint32_t other_site, std::string other_access, std::uint64_t shared_offset,
                 bool in_flight);
/// A race with a thread of another block of the cluster.
void report_cluster_race(Block& block, int thread, std::uint32_t site, std::string access,
                         const Block& other_block, int other_thread, std::uint32_t other_site,
                         std::string other_access, std::string address);
void report_global_race(Block& block, int thread, std::uint32_t site, std::string access,
                        std::uint64_t other_block, int other_thread, std::uint32_t other_site,
                        std::string other_access, std::uint64_t address);
/// Adds a hazard for which HazardLog::wants() returned true.
void add_report(Block& block, HazardKind kind, int thread, std::uint32_t site, std::string access,
                Description description);
/// The block's threads that have exited.
std::int64_t exited_threads(const Block& block);
/// Reports a read of shared memory at this offset that no thread has written, when `exited` threads
/// had exited.
void report_unwritten(Block& block, int thread, std::uint32_t site, std::uint64_t offset,
                      std::int64_t exited);
/// Reports a write that is not ordered with another write but stores the value already there. `at`:
/// an address, or an offset in shared memory.
void report_same_value(Block& block, int thread, std::uint32_t site, std::uint64_t other_block,
                       int other_thread, std::uint32_t other_site, std::uint64_t at, bool shared);
/// Reports lanes of one store that write different values to one address.
void report_lanes_collide(Block& block, const Warp& warp, const MemoryOp& op, Shape& shape,
                          const Place& place, int lane);

template <class Describe>
void report(Block& block, HazardKind kind, int thread, std::uint32_t site, const char* access,
            const Describe& describe) {
  if (!wants_report(block, kind, site, site, thread)) return;
  add_report(block, kind, thread, site, access, describe());
}

}  // namespace rung::vgpu
