#pragma once
// Profiles of a program on this CPU by Valgrind's tool Callgrind: numbers of executed instructions,
// loads, stores, and misses in simulated caches, and the instruction mix from a disassembly
// weighted by executions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/instruction_mix.hpp"

namespace rung::analysis {

/// Counts of one function, or of the whole program.
struct CallgrindCosts {
  double instructions = 0, loads = 0, stores = 0;
  double l1_misses = 0, l2_misses = 0;  // of data: lines loaded into this cache
};

struct CallgrindProfile {
  CallgrindCosts all;
  std::vector<std::pair<std::string, CallgrindCosts>> functions;  // most instructions first
  struct Instruction {
    std::string object;  // file that contains it
    std::uint64_t address;
    double executions;
  };
  std::vector<Instruction> instructions;
};

struct DataCaches {
  std::int64_t l1_bytes, l2_bytes;
};

/// The command that runs `program` and counts only inside the function `counted`. The simulation's
/// second cache level is the CPU's L2 cache. Writes the profile to the file `out`.
std::vector<std::string> callgrind_command(const std::string& valgrind, const DataCaches& caches,
                                           const std::string& counted, const std::string& out,
                                           const std::vector<std::string>& program);

/// Parses a profile in Callgrind's format, version 1, with instruction addresses and without
/// compression. Throws std::runtime_error with a one-line message if it contains no events.
CallgrindProfile parse_callgrind(std::string_view text);

/// The instruction mix, from a disassembly by objdump; empty if it is not installed. Instructions
/// that no file contains are "generated code".
std::optional<InstructionMix> x86_mix(const CallgrindProfile& profile);

/// The class of an x86-64 instruction: "multiply-add", "load", …; `operands` in AT&T syntax.
std::string_view x86_kind(std::string_view mnemonic, std::string_view operands);

}  // namespace rung::analysis
