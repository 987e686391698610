#pragma once
// What valgrind's callgrind counts of a program on this CPU: executed instructions, loads, stores, and
// misses in simulated caches; and the instruction mix, from a disassembly weighted by executions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/instruction_mix.hpp"

namespace rung::analysis {

/// Counts of one function, or of all.
struct CallgrindCosts {
  double instructions = 0, loads = 0, stores = 0;
  double l1_misses = 0, l2_misses = 0;  // of data: lines loaded into that cache
};

struct CallgrindProfile {
  CallgrindCosts all;
  std::vector<std::pair<std::string, CallgrindCosts>> functions;  // most instructions first
  struct Instruction {
    std::string object;  // the file that contains it
    std::uint64_t address;
    double executions;
  };
  std::vector<Instruction> instructions;
};

struct DataCaches {
  std::int64_t l1_bytes, l2_bytes;
};

/// Runs `program`, counting inside of the function `counted` alone. The second level of the simulation
/// is the CPU's L2. The profile goes to the file `out`.
std::vector<std::string> callgrind_command(const std::string& valgrind, const DataCaches& caches,
                                           const std::string& counted, const std::string& out,
                                           const std::vector<std::string>& program);

/// Parses a profile in callgrind's format, version 1, with instruction addresses and without
/// compression. Throws std::runtime_error, in one line, if it contains no events.
CallgrindProfile parse_callgrind(std::string_view text);

/// By objdump. Empty without it. Instructions of code that no file contains are "generated code".
std::optional<InstructionMix> x86_mix(const CallgrindProfile& profile);

/// What an instruction of x86-64 does: "multiply-add", "load", …; `operands` in AT&T's order.
std::string_view x86_kind(std::string_view mnemonic, std::string_view operands);

}  // namespace rung::analysis
