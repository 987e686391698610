#pragma once
// Finds operations of a program that access the same bytes although nothing orders them.
//
// For each byte, a state holds the last write and the reads since then. Bytes that the same
// operations accessed share a state, and 64 bytes that share one take 4 bytes of memory; others take
// 4 bytes each. An allocation whose bytes all share a state takes none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/happens_before/program_clock.hpp"
#include "vgpu/memory/launch_accesses.hpp"

namespace rung::vgpu {

/// An operation as the shadow knows it. `label` names it in reports.
struct ProgramAccess {
  ProgramPoint point;
  std::uint32_t label = 0;
  bool releases = false;  // its synchronized writes show that its other writes are done
};

/// The bytes of an allocation, by device address.
struct ProgramMemory {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

class ProgramShadow {
 public:
  struct Conflict {
    ProgramAccess earlier;
    Touch earlier_touch, touch;
    std::uint64_t address;
  };
  using Report = std::function<void(const Conflict&)>;

  /// Starts the accesses of an operation. `clock`: what is ordered before it. `settled`: what is
  /// ordered before all future operations.
  void begin(const ProgramAccess& own, const ProgramClock& clock, const ProgramClock& settled,
             Report report);
  /// An access to bytes [offset, offset + bytes) of the allocation.
  void touch(const ProgramMemory& memory, std::uint64_t offset, std::uint64_t bytes, Touch touch);
  /// The accesses of a launch.
  void touch(const TouchedBytes& touched);

  /// Operations whose releasing writes the launch's synchronized reads may have seen: kernels that wait
  /// for flags of each other.
  ProgramClock seen_by(const TouchedBytes& touched) const;

  /// Reports what an access to one byte conflicts with, without recording the access.
  void check(const ProgramMemory& memory, std::uint64_t offset, Touch touch,
             const ProgramClock& clock, const Report& report) const;

  /// Accesses to bytes that are not ordered before a clock.
  enum class Pending : std::uint8_t { nothing, reads, writes };
  /// The state of [offset, offset + bytes). `all`: of those accesses that all bytes have had;
  /// otherwise of any byte.
  Pending pending(const ProgramMemory& memory, std::uint64_t offset, std::uint64_t bytes, bool all,
                  const ProgramClock& clock) const;

  void forget(std::uint64_t address) { memories_.erase(address); }
  void forget_all();

 private:
  using StateIndex = std::uint32_t;
  static constexpr StateIndex mixed = 1u << 31;  // the rest is an index of `details`
  using Detail = std::array<StateIndex, TouchedRow::bytes>;
  using State = std::array<std::vector<ProgramAccess>, touch_kinds>;

  /// The states of an allocation.
  struct Memory {
    std::size_t bytes = 0;
    StateIndex base = 0;           // of all bytes, if there are no rows
    std::vector<StateIndex> rows;  // by 64 bytes
    std::vector<Detail> details;   // of rows whose bytes differ
    std::vector<std::uint32_t> free_details;
  };

  Memory& memory_of(const ProgramMemory& memory);
  void touch_row(Memory& memory, std::uint64_t address, std::size_t index, std::uint64_t mask,
                 Touch touch);
  void touch_bytes(Memory& memory, std::uint64_t address, std::size_t index, std::uint64_t mask,
                   Touch touch);
  /// The state after an access of the current operation.
  StateIndex next(StateIndex state, Touch touch, std::uint64_t address);
  StateIndex after(StateIndex state, Touch touch);
  StateIndex state_of(const Memory& memory, std::uint64_t offset) const;
  Pending pending(StateIndex state, const ProgramClock& clock) const;
  /// Drops states that no byte has.
  void collect();

  std::map<std::uint64_t, Memory> memories_;  // by address
  std::vector<State> states_ = std::vector<State>(1);
  std::size_t most_states_ = std::size_t{1} << 16;  // before collect()

  ProgramAccess own_;
  ProgramClock clock_, settled_;
  Report report_;
  std::unordered_map<std::uint64_t, StateIndex> known_;  // next(), by state and kind of access
  std::uint64_t last_key_ = ~std::uint64_t{0};
  StateIndex last_ = 0;
};

}  // namespace rung::vgpu
