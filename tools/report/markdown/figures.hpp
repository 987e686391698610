#pragma once
// Cells of the Markdown tables: numbers, names, and results of the library beside its peers.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json/reader.hpp"
#include "tools/report/bench_results.hpp"

namespace rung::markdown {

using Row = std::vector<std::string>;
using Entries = std::vector<const Result*>;

inline constexpr const char* none = "–";

/// A number with three digits, but with all of those before the point.
std::string rate(double value);
/// As `rung bench` prints it.
std::string ratio(std::optional<double> value);
std::string size_of(const Result& entry);
std::string threads_text(int threads);
bool on_gpu(const Result& entry);
const char* unit(const Result& entry);
std::string of_ceiling(const Result& entry);

/// All columns except the first are numbers.
std::string table(const Row& headings, const std::vector<Row>& rows, const char* rule = "---:");

/// The peer's time over ours.
std::optional<double> of_peer(const Result& entry, const std::string& name);
/// The same in graphs, if both were timed there.
std::optional<double> on_device(const Result& entry, const std::string& name);
/// For a short call, the time in a graph, without the host's part.
double device_seconds(const Result& entry);
std::optional<double> geometric_mean(const std::vector<double>& ratios);
std::optional<double> mean_of(const Entries& entries, const std::string& peer);

/// The library's results in one file.
struct OfLibrary {
  Entries entries;
  std::vector<std::string> peers;  // that it was timed against

  const Result& first() const { return *entries.front(); }
};

/// Throws std::runtime_error if the file has none.
OfLibrary of_library(const Results& results, std::size_t source);

std::pair<Entries, Entries> square_and_oblong(const Entries& entries);

/// A member of a machine's description, with its place for messages.
json::Value fact(const Results& results, std::size_t source,
                 std::initializer_list<const char*> path);
double rate_at(const Results& results, std::size_t source, std::initializer_list<const char*> path);

}  // namespace rung::markdown
