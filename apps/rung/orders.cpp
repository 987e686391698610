#include "orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "arguments.hpp"
#include "command_line.hpp"
#include "emu/reports/merged.hpp"

namespace rung {
namespace {

constexpr std::int64_t max_orders = 10'000, max_seed = 1'000'000'000;

}  // namespace

void OrderArguments::add_orders(Options& app) {
  app.add_option(
         "--schedule", schedule,
         "Also run in N random orders of blocks, warps and operations of streams, and say which "
         "results and hazards depend on the order")
      ->type_name("N");
  app.add_option("--replay", replay, "Run in order S of --schedule alone; 0 is the usual order")
      ->type_name("S");
}

std::vector<std::uint64_t> OrderArguments::orders() const {
  if (!schedule.empty() && !replay.empty()) {
    throw UsageError("--replay runs one order, and --schedule several: give one of them");
  }
  if (!replay.empty()) {
    return {static_cast<std::uint64_t>(read_integer("--replay", replay, 0, max_seed))};
  }
  const std::int64_t random =
      schedule.empty() ? 0 : read_integer("--schedule", schedule, 1, max_orders);
  std::vector<std::uint64_t> orders(static_cast<std::size_t>(random) + 1);
  std::iota(orders.begin(), orders.end(), std::uint64_t{0});
  return orders;
}

void OrderResults::add_difference(std::uint64_t order, const std::string& what,
                                  const std::string& detail) {
  Difference& difference = differences_[what];
  if (difference.orders.empty()) difference.detail = detail;
  difference.orders.insert(order);
}

bool OrderResults::add_hazard(std::uint64_t order, const std::string& key) {
  std::set<std::uint64_t>& found = found_[key];
  found.insert(order);
  return found.size() == 1;
}

std::string OrderResults::found_in(const std::string& key) const {
  const auto found = found_.find(key);
  if (found == found_.end() || found->second.size() == orders_.size()) return {};
  return fmt::format(", in {} of {}", numbers(found->second), orders_.size());
}

/// "order 3", "orders 2, 5 and 7".
std::string OrderResults::numbers(const std::set<std::uint64_t>& some) const {
  constexpr std::size_t most = 8;
  std::string text;
  std::size_t count = 0;
  for (const std::uint64_t order : some) {
    if (count == most) return fmt::format("{} and {} more", text, some.size() - most);
    const bool is_last = count + 1 == some.size();
    text += fmt::format("{}{}", count == 0 ? "" : is_last ? " and " : ", ", order);
    ++count;
  }
  return (some.size() == 1 ? "order " : "orders ") + text;
}

std::string OrderResults::text(std::string_view prefix) const {
  if (orders_.size() < 2) return {};
  std::string text = fmt::format("{}{} orders: the results {}\n", prefix, orders_.size(),
                                 differ() ? "differ" : "are the same");
  if (!note_.empty()) text += fmt::format("  {}\n", note_);
  if (!differ()) return text;
  std::uint64_t first = max_seed;
  for (const auto& [what, difference] : differences_) {
    first = std::min(first, *difference.orders.begin());
    text += fmt::format("  {} in {}{}{}\n", what, numbers(difference.orders),
                        difference.detail.empty() ? "" : ": ", difference.detail);
  }
  return text + fmt::format("  --replay {} runs that order again\n", first);
}

emu::Json OrderResults::json() const {
  emu::Json differences = emu::Json::array();
  for (const auto& [what, difference] : differences_) {
    emu::Json entry = {{"what", what}, {"orders", difference.orders}};
    if (!difference.detail.empty()) entry["detail"] = difference.detail;
    differences.push_back(std::move(entry));
  }
  return {{"orders", orders_.size()}, {"same", !differ()}, {"differences", std::move(differences)}};
}

void MergedHazards::add(std::uint64_t order, const std::vector<vgpu::Hazard>& hazards,
                        OrderResults& results) {
  for (const vgpu::Hazard& hazard : hazards) {
    const std::string key = emu::merged_key(emu::to_json(hazard));
    const bool is_new = results.add_hazard(order, key);
    const auto known =
        std::ranges::find(hazards_, key, &std::pair<std::string, vgpu::Hazard>::first);
    if (is_new || known == hazards_.end()) hazards_.emplace_back(key, hazard);
  }
}

std::vector<vgpu::Hazard> MergedHazards::take(const OrderResults& results) {
  std::vector<vgpu::Hazard> all;
  for (auto& [key, hazard] : hazards_) {
    hazard.message += results.found_in(key);
    all.push_back(std::move(hazard));
  }
  return all;
}

}  // namespace rung
