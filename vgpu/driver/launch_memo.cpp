#include "vgpu/driver/launch_memo.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/driver/context_memory.hpp"
#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {
namespace {

// Hashing takes at most this share of the launch's time. Memory is read at this rate at least.
constexpr double most_of_time = 1.0 / 40, hashed_bytes_a_second = 2e9;
// Shorter launches cost little.
constexpr double least_seconds = 0.01;
// Programs with more different launches do not repeat them.
constexpr std::size_t most_launches = 256;

/// Eight chains of words, which the CPU computes side by side. The rotation lets every bit of a word
/// reach all bits of the chain.
class MemoryHash {
 public:
  void add(std::uint64_t word) { add_to(0, word); }
  void add(const std::byte* data, std::size_t bytes) {
    constexpr std::size_t step = 8 * sizeof(std::uint64_t);
    std::size_t at = 0;
    for (; at + step <= bytes; at += step) {
      std::array<std::uint64_t, 8> words;
      std::memcpy(words.data(), data + at, step);
      for (std::size_t i = 0; i < words.size(); ++i) add_to(i, words[i]);
    }
    for (; at < bytes; ++at) add_to(0, std::to_integer<std::uint64_t>(data[at]));
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint64_t chain : chains_) all = (std::rotl(all, 31) + chain) * odd;
    return all;
  }

 private:
  static constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  void add_to(std::size_t chain, std::uint64_t word) {
    chains_[chain] = (std::rotl(chains_[chain], 31) + word) * odd;
  }
  std::array<std::uint64_t, 8> chains_ = {1, 2, 3, 4, 5, 6, 7, 8};
};

std::uint64_t hash_of(const ContextState& context) {
  MemoryHash hash;
  for (const Allocation& allocation : context.memory.live()) {
    hash.add(allocation.address);
    hash.add(allocation.serial);
    hash.add(allocation.data(allocation.address), allocation.bytes);
  }
  for_each_other(context, [&](std::uint64_t address, std::size_t bytes) {
    hash.add(address);
    const Allocation* const allocation = context.memory.find(address);
    if (allocation != nullptr) hash.add(allocation->data(address), bytes);
  });
  return hash.value();
}

bool is_worth_hashing(const LaunchReport& report, const ContextState& context) {
  return report.seconds > least_seconds &&
         static_cast<double>(bytes_of(context)) / hashed_bytes_a_second <
             most_of_time * report.seconds;
}

bool has_clock(const ptx::Instruction& instruction) {
  return std::ranges::any_of(instruction.operands, [](const ptx::Operand& operand) {
    return operand.kind == ptx::Operand::Kind::special &&
           (operand.name.starts_with("clock") || operand.name.starts_with("globaltimer"));
  });
}

}  // namespace

LaunchKey::LaunchKey(const void* of, const LaunchOptions& options, std::vector<std::byte> values)
    : kernel(of), parameters(std::move(values)) {
  for (const Dim3& extent : {options.grid, options.block, options.cluster}) {
    extents.insert(extents.end(), {extent.x, extent.y, extent.z});
  }
  extents.insert(extents.end(),
                 {static_cast<std::uint64_t>(options.dynamic_shared),
                  std::uint64_t{options.cooperative}, std::uint64_t{options.starts_early}});
}

const RememberedLaunch* LaunchMemo::find(const LaunchKey& key, const ContextState& context) {
  before_.reset();
  const auto found = launches_.find(key);
  if (found == launches_.end() || !is_worth_hashing(found->second.report, context)) return nullptr;
  before_ = hash_of(context);
  if (!found->second.changed_nothing || found->second.memory != before_) return nullptr;
  ++by_name_[found->second.report.kernel].repeated;
  return &found->second;
}

void LaunchMemo::remember(const LaunchKey& key, const ContextState& context,
                          const LaunchReport& report) {
  if (report.fault) return;
  if (launches_.size() >= most_launches) launches_.clear();
  RememberedLaunch& launch = launches_[key];
  launch = {report, std::nullopt, false};
  if (!before_) return;
  launch.memory = hash_of(context);
  launch.changed_nothing = launch.memory == before_;
}

void LaunchMemo::note_run(const std::string& kernel, bool observed) {
  Launches& launches = by_name_[kernel];
  ++launches.ran;
  if (!observed) ++launches.unobserved;
}

std::uint64_t LaunchMemo::count(const LaunchKey& key) {
  return ++counts_[{key.kernel, key.extents}];
}

bool depends_on_memory_only(const ptx::Module& text) {
  return std::ranges::none_of(text.functions, [](const ptx::Function& function) {
    const bool is_outside = function.external && function.name != "__assertfail";
    return is_outside || std::ranges::any_of(function.body, has_clock);
  });
}

}  // namespace rung::vgpu::driver
