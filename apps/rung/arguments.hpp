#pragma once
// Arguments that commands share. Values arrive as text and are read here, so that every bad one is
// told in the same way: throws UsageError, or UnavailableError for a device that is not here.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/rung.hpp"
#include "measure/workload.hpp"
#include "report/output_file.hpp"

namespace rung {

/// The text of the shared options; empty where not given.
struct CommonArguments {
  std::vector<std::string> selectors;
  std::string device = "cpu";
  std::string dtype;
  std::string threads;
  std::string json;

  void add_selectors(CLI::App& app, bool required);
  void add_json(CLI::App& app);
  void add_device_dtype_threads(CLI::App& app);
};

std::vector<const RungInfo*> read_selectors(const std::vector<std::string>& selectors);
const Backend& read_device(const std::string& text);
Dtype read_dtype(const std::string& text);
/// All processors if empty.
int read_threads(const std::string& text);
std::optional<OutputFile> read_json(const std::string& path);

/// An integer from `least` to `most`, written as 100000000 or as 1e8.
std::int64_t read_integer(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most);
double read_number(const std::string& option, const std::string& text);

/// As --sizes lists it: N alone, or MxNxK.
struct SizeArgument {
  std::int64_t m, n, k;
  bool is_single;  // N: the cube of gemm, the length of dot
};

/// least: the smallest extent allowed.
std::vector<SizeArgument> read_sizes(const std::string& text, std::int64_t least);

inline constexpr std::int64_t max_extent = std::int64_t{1} << 40;

}  // namespace rung
