#pragma once
// --schedule and --replay: a program or kernel runs in several orders of blocks, warps and operations, and
// their hazards and results are compared. Order 0 is the usual one, each other has its number as a seed.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/reports/launch_json.hpp"
#include "vgpu/model/hazard.hpp"

namespace rung {

class Options;

struct OrderArguments {
  std::string schedule, replay;

  void add_orders(Options& app);
  /// The orders to run: 0 to N of --schedule N, the one of --replay, or 0.
  std::vector<std::uint64_t> orders() const;
  bool any() const { return !schedule.empty() || !replay.empty(); }
};

/// The results and hazards that differ between orders.
class OrderResults {
 public:
  explicit OrderResults(std::vector<std::uint64_t> orders) : orders_(std::move(orders)) {}

  /// A result, such as "memory y" or "C", that is not as in the first order.
  void add_difference(std::uint64_t order, const std::string& what, const std::string& detail = {});
  void add_note(std::string note) { note_ = std::move(note); }
  /// A hazard, by emu::merged_key(). Returns true if no order had it before.
  bool add_hazard(std::uint64_t order, const std::string& key);
  /// ", in orders 2 and 5 of 9" if only some orders have the hazard.
  std::string found_in(const std::string& key) const;
  bool differ() const { return !differences_.empty(); }

  /// "9 orders: the results are the same\n", or the lines that say what differs. Empty for one order.
  std::string text(std::string_view prefix = {}) const;
  /// {"orders", "same", "differences": [{"what", "orders", "detail"}]}
  emu::Json json() const;

 private:
  std::string numbers(const std::set<std::uint64_t>& some) const;

  struct Difference {
    std::set<std::uint64_t> orders;
    std::string detail;  // in the first of them
  };
  std::vector<std::uint64_t> orders_;
  std::string note_;
  std::map<std::string, Difference> differences_;         // by what differs
  std::map<std::string, std::set<std::uint64_t>> found_;  // by hazard
};

/// The hazards of several orders of one launch, each once; the messages say which orders have them.
class MergedHazards {
 public:
  void add(std::uint64_t order, const std::vector<vgpu::Hazard>& hazards, OrderResults& results);
  std::vector<vgpu::Hazard> take(const OrderResults& results);

 private:
  std::vector<std::pair<std::string, vgpu::Hazard>> hazards_;  // by key
};

}  // namespace rung
