#include "vgpu/engine/execution/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/model/schedule.hpp"

namespace rung::vgpu {
namespace {

// Alignment in bytes: rows are read as whole SIMD vectors.
constexpr std::size_t row_alignment = 64;

std::size_t frame_stride(const Kernel& kernel) {
  return (kernel.frame_bytes + row_alignment - 1) / row_alignment * row_alignment;
}

template <class T, class F>
void fill(Warp& warp, std::uint32_t offset, const F& value) {
  T* row = warp.row<T>(offset);
  for (int lane = 0; lane < warp_size; ++lane) row[lane] = static_cast<T>(value(lane));
}

template <class F>
void fill(Warp& warp, std::uint32_t offset, int bytes, const F& value) {
  switch (bytes) {
    case 2: fill<std::uint16_t>(warp, offset, value); break;
    case 4: fill<std::uint32_t>(warp, offset, value); break;
    case 8: fill<std::uint64_t>(warp, offset, value); break;
    default: warp.predicate(offset) = value(0) != 0 ? all_lanes : 0;
  }
}

}  // namespace

Block::Block(Worker& worker_, Cluster& cluster_, int rank_)
    : worker(worker_),
      cluster(cluster_),
      observers(worker_.launch.observers),
      rank(rank_),
      printed(worker_.launch.options.printf_bytes) {
  const LaunchState& launch = worker.launch;
  const std::size_t threads = launch.options.block.count();
  const std::size_t count = (threads + warp_size - 1) / warp_size;
  const std::size_t stride = frame_stride(worker.kernel);
  frames_.resize(count * stride + row_alignment);
  const auto base = reinterpret_cast<std::uintptr_t>(frames_.data());
  std::byte* aligned = frames_.data() + (row_alignment - base % row_alignment) % row_alignment;
  warps.resize(count);
  copies.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    warps[i].index = static_cast<int>(i);
    warps[i].block = this;
    warps[i].worker = &worker;
    warps[i].frame = aligned + i * stride;
    warps[i].parameters = launch.parameters.data();
  }
  local_.resize(count * warp_size * worker.kernel.local_bytes);
  // Padding: a SIMD vector may be loaded from the address of the last element.
  shared.resize(launch.shared_bytes + row_alignment);
  if (worker.kernel.asynchronous) async = std::make_unique<AsyncState>();
}

Block::~Block() = default;

std::size_t Block::state() const {
  std::size_t state = live_threads_;
  const auto add = [&](const void* data, std::size_t bytes) {
    const std::string_view text(static_cast<const char*>(data), bytes);
    state = state * 0x9E3779B97F4A7C15u + std::hash<std::string_view>{}(text);
  };
  add(shared.data(), shared.size());
  for (const Warp& warp : warps) {
    if (warp.live == 0) continue;
    add(warp.frame, worker.kernel.frame_bytes);
    for (int i = 0; i < warp.split_count; ++i) {
      const Split& split = warp.splits[static_cast<std::size_t>(i)];
      if (split.state == Split::State::unused) continue;
      const std::array<std::uint32_t, 4> words = {
          static_cast<std::uint32_t>(split.state), split.mask,
          static_cast<std::uint32_t>(split.block), split.arrived};
      add(words.data(), sizeof words);
    }
  }
  return state;
}

namespace {

/// Fills memory that nothing has written, so that a result that depends on it differs from order to order.
void fill_randomly(std::span<std::byte> memory, Schedule& schedule) {
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= memory.size();
       at += sizeof(std::uint32_t)) {
    const auto word = static_cast<std::uint32_t>(schedule.below(std::uint64_t{1} << 32));
    std::memcpy(memory.data() + at, &word, sizeof word);
  }
}

}  // namespace

void Block::start(const std::array<std::uint32_t, 3>& place) {
  const LaunchState& launch = worker.launch;
  const Dim3& grid = launch.options.grid;
  position = place;
  linear = place[0] + std::uint64_t{grid.x} * (place[1] + std::uint64_t{grid.y} * place[2]);
  const Dim3 threads_here = launch.options.threads_of(place);
  if (threads_here != threads_) rows_filled_ = false;
  threads_ = threads_here;
  live_threads_ = static_cast<std::uint32_t>(threads_.count());
  for (Warp& warp : warps) {
    const std::uint32_t first = static_cast<std::uint32_t>(warp.index) * warp_size;
    const std::uint32_t after = std::max(first, live_threads_);
    const std::uint32_t threads = std::min<std::uint32_t>(warp_size, after - first);
    warp.live = threads == warp_size ? all_lanes : (1u << threads) - 1;
    warp.mask = warp.existing = warp.live;
    warp.early = worker.observe && launch.options.starts_early ? warp.live : 0;
    for (Split& split : warp.used_splits()) split.state = Split::State::unused;
    warp.current = 0;
    warp.split_count = 1;
    warp.splits[0] = {};
    warp.splits[0].state = Split::State::ready;
    warp.splits[0].mask = warp.live;
  }
  for (std::uint32_t ids = barriers_used_; ids != 0; ids &= ids - 1) {
    barriers_[static_cast<std::size_t>(std::countr_zero(ids))].clear();
  }
  barriers_used_ = 0;
  early_exits_.clear();
  sync_orders_.assign(warps.size(), {});
  for (AsyncCopies& warp_copies : copies) warp_copies.clear();
  releases.start(order, linear, static_cast<int>(warps.size()));
  grid_waits.assign(warps.size(), 0);
  printed.clear();
  if (Schedule* const schedule = running_schedule()) fill_randomly(shared, *schedule);
  can_restart = false;
  unwritten_reads.clear();
  undefined_stores.clear();
  order.start(static_cast<int>(warps.size()));
  if (worker.observe) shadow.start(launch.shared_bytes, worker.kernel.shared_granule);
  if (async != nullptr) async->start(*this);
  fill_rows();
}

void Block::fill_rows() {
  const Kernel& kernel = worker.kernel;
  if (!rows_filled_) {
    for (Warp& warp : warps) {
      for (const ConstantRow& row : kernel.constants) {
        fill(warp, row.offset, row.bytes, [&](int) { return row.bits; });
      }
    }
  }
  for (const SpecialRow& row : kernel.specials) {
    if (!rows_filled_ || row.changes_with_block()) fill_special(row);
  }
  for (Warp& warp : warps) {
    for (const std::uint32_t offset : kernel.undefined_rows) {
      fill<std::uint64_t>(warp, offset, [](int) { return ~std::uint64_t{0}; });
    }
  }
  rows_filled_ = true;
}

void Block::fill_special(const SpecialRow& row) {
  const LaunchOptions& options = worker.launch.options;
  const Dim3& threads = threads_;
  const Dim3& block = options.block;
  const Dim3& grid = options.grid;
  const Dim3& size = options.cluster;
  const auto sm_count = static_cast<std::uint64_t>(worker.launch.device.multiprocessors);
  const auto value = [&](const Warp& warp, int lane) -> std::uint64_t {
    const std::uint64_t thread_index = static_cast<std::uint64_t>(thread(warp, lane));
    switch (row.special) {
      case Special::tid_x: return thread_index % threads.x;
      case Special::tid_y: return thread_index / threads.x % threads.y;
      case Special::tid_z: return thread_index / threads.x / threads.y;
      case Special::ntid_x: return block.x;
      case Special::ntid_y: return block.y;
      case Special::ntid_z: return block.z;
      case Special::ctaid_x: return position[0];
      case Special::ctaid_y: return position[1];
      case Special::ctaid_z: return position[2];
      case Special::nctaid_x: return grid.x;
      case Special::nctaid_y: return grid.y;
      case Special::nctaid_z: return grid.z;
      case Special::clusterid_x: return position[0] / size.x;
      case Special::clusterid_y: return position[1] / size.y;
      case Special::clusterid_z: return position[2] / size.z;
      case Special::nclusterid_x: return grid.x / size.x;
      case Special::nclusterid_y: return grid.y / size.y;
      case Special::nclusterid_z: return grid.z / size.z;
      case Special::threads_in_group_x: return threads.x;
      case Special::threads_in_group_y: return threads.y;
      case Special::threads_in_group_z: return threads.z;
      case Special::threads_in_grid_x:
        return options.grid_threads ? options.grid_threads->x : grid.x * block.x;
      case Special::threads_in_grid_y:
        return options.grid_threads ? options.grid_threads->y : grid.y * block.y;
      case Special::threads_in_grid_z:
        return options.grid_threads ? options.grid_threads->z : grid.z * block.z;
      case Special::laneid: return static_cast<std::uint64_t>(lane);
      case Special::warpid: return static_cast<std::uint64_t>(warp.index);
      case Special::nwarpid:
        return static_cast<std::uint64_t>(worker.launch.device.max_warps_per_multiprocessor);
      case Special::smid: return linear % sm_count;
      case Special::nsmid: return sm_count;
      case Special::gridid: return worker.launch.grid_id;
      case Special::lanemask_eq: return 1u << lane;
      case Special::lanemask_lt: return (1u << lane) - 1;
      case Special::lanemask_le: return (2ull << lane) - 1;
      case Special::lanemask_gt: return all_lanes & ~((2ull << lane) - 1);
      case Special::lanemask_ge: return all_lanes & ~((1ull << lane) - 1);
      case Special::dynamic_smem_size: return static_cast<std::uint64_t>(options.dynamic_shared);
      case Special::total_smem_size: return worker.launch.shared_bytes;
      case Special::cluster_ctaid_x: return position[0] % size.x;
      case Special::cluster_ctaid_y: return position[1] % size.y;
      case Special::cluster_ctaid_z: return position[2] % size.z;
      case Special::cluster_ctarank: return static_cast<std::uint64_t>(rank);
      case Special::cluster_nctaid_x: return size.x;
      case Special::cluster_nctaid_y: return size.y;
      case Special::cluster_nctaid_z: return size.z;
      case Special::cluster_nctarank:
      case Special::is_explicit_cluster:
        return row.special == Special::cluster_nctarank ? size.count() : size.count() > 1;
    }
    return 0;
  };
  if (row.changes_with_block()) {  // has the same value in all threads
    const std::uint64_t number = value(warps.front(), 0);
    for (Warp& warp : warps) fill(warp, row.offset, row.bytes, [&](int) { return number; });
    return;
  }
  for (Warp& warp : warps) {
    fill(warp, row.offset, row.bytes, [&](int lane) { return value(warp, lane); });
  }
}

}  // namespace rung::vgpu
