#pragma once
// Runs of a program in several orders, compared.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "emu/compile/process.hpp"
#include "emu/reports/summary.hpp"
#include "orders.hpp"

namespace rung {

/// A run of a program that the virtual GPU ran.
struct ProgramOutcome {
  emu::ExitStatus status;
  emu::Records records;
  std::string output;  // standard output, if it was kept
};

/// Runs the program in an order. `output`: the file for its standard output; empty: this process's.
using RunInOrder = std::function<ProgramOutcome(std::uint64_t order, const std::string& output)>;

/// The outcome of the first order, whose output is printed, with the hazards of all others. Later orders print
/// nothing on standard output. `folder`: for their outputs.
ProgramOutcome run_orders(const std::vector<std::uint64_t>& orders, const RunInOrder& run,
                          const std::filesystem::path& folder, OrderResults& results);

}  // namespace rung
