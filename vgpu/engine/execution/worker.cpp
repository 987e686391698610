#include "vgpu/engine/execution/worker.hpp"

#include <fmt/format.h>

#include <bit>
#include <deque>
#include <utility>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/model/schedule.hpp"

namespace rung::vgpu {

LaunchState::LaunchState(const Kernel& kernel_, const LaunchOptions& options_,
                         std::span<const std::byte> parameters_, DeviceMemory& memory_,
                         const DeviceDescription& device_, const Observers& observers_)
    : kernel(kernel_),
      options(options_),
      parameters(parameters_),
      memory(memory_),
      device(device_),
      observers(observers_),
      hazards(std::make_unique<HazardLog>(options_.hazard_limit)),
      printed(options_.printf_bytes) {}

LaunchState::~LaunchState() = default;

Worker::Worker(LaunchState& launch_)
    : launch(launch_),
      kernel(launch_.kernel),
      observe(launch_.options.observe),
      watched(observe && launch_.options.watcher),
      touched(observe ? launch_.options.accesses : nullptr),
      // Machine code cannot be interrupted within a basic block.
      native(launch_.options.native && running_schedule() == nullptr &&
             !kernel.native_code.empty()) {
  executions.resize(kernel.blocks.size());
  steps.resize(kernel.superinstructions.size());
  accesses.resize(kernel.sites.size());
  predicated_off.assign(kernel.sites.size(), 0);
  batches.resize(kernel.read_batches.size());
  shapes.resize(kernel.shape_slots);
  last_allocation.assign(kernel.global_caches, nullptr);
}

Worker::~Worker() = default;

bool Worker::within_limit(Block& block) {
  // The shared counter is updated only every few instructions, because all CPU threads write to it.
  constexpr std::uint64_t few = 1 << 12;
  const std::uint64_t spent_since = spent - counted_;
  const std::uint64_t limit = launch.options.instruction_limit;
  if (spent_since < few &&
      launch.instructions.load(std::memory_order_relaxed) + spent_since <= limit) {
    return true;
  }
  counted_ = spent;
  if (launch.instructions.fetch_add(spent_since) + spent_since <= limit) return true;
  if (!launch.stop.exchange(true)) {
    const Warp* spinning = nullptr;
    for (const Warp& warp : block.warps) {
      if (warp.live != 0) spinning = &warp;
    }
    const int thread =
        spinning == nullptr ? 0 : block.thread(*spinning, first_lane(spinning->live));
    const int at = spinning == nullptr ? 0 : spinning->splits[spinning->current].block;
    report(block, HazardKind::instruction_limit, thread, kernel.blocks[at].end_site, "running", {},
           fmt::format("the launch ran more than {} warp instructions", limit));
  }
  return false;
}

void Worker::count_batches() {
  for (const ReadBatch& batch : kernel.read_batches) {
    const BatchCounts& counts = batches[batch.index];
    const auto wavefronts = [&](std::uint32_t bytes) {
      return counts.wavefronts[static_cast<std::size_t>(std::countr_zero(bytes))];
    };
    for (const MemoryOp* read : batch.reads) {
      Accesses& site = accesses[read->site];
      site.requests += counts.times;
      site.units += wavefronts(read->access_bytes());
      for (const MemoryOp::Issued& issued : read->issued) {
        if (issued.bytes == 0) continue;
        site.issued_requests += counts.times;
        site.issued_wavefronts += wavefronts(issued.bytes);
      }
    }
  }
}

std::unique_ptr<Cluster> Worker::fresh_cluster() {
  if (idle_.empty()) return std::make_unique<Cluster>(*this);
  std::unique_ptr<Cluster> cluster = std::move(idle_.back());
  idle_.pop_back();
  return cluster;
}

void Worker::keep_output(const Cluster& cluster) {
  for (const auto& block : cluster.blocks()) {
    if (block->printed.empty()) continue;
    const std::lock_guard lock(launch.printing);
    launch.printed.add(block->linear, std::move(block->printed));
    block->printed.clear();
  }
}

void Worker::run() {
  Schedule* const schedule = running_schedule();
  // Suspended clusters. They spin, perhaps on blocks that have not started.
  std::deque<std::unique_ptr<Cluster>> waiting;
  // Maximum number of suspended clusters: as many as the device would run at once.
  const std::uint64_t size = launch.options.cluster.count();
  const std::size_t max_waiting =
      static_cast<std::size_t>(launch.device.multiprocessors) *
      static_cast<std::size_t>(launch.device.max_blocks_per_multiprocessor) / size;
  const std::uint64_t count = launch.options.grid.count() / size;
  bool exhausted = false;
  for (;;) {
    std::unique_ptr<Cluster> cluster;
    const bool starts = schedule == nullptr || schedule->starts_another(waiting.size());
    if (!exhausted && starts && waiting.size() < max_waiting) {
      const std::uint64_t next = launch.next_cluster.fetch_add(1);
      if (next < count) {
        cluster = fresh_cluster();
        cluster->start(schedule == nullptr ? next : schedule->permuted(next, count));
      } else {
        exhausted = true;
      }
    }
    if (cluster == nullptr) {
      if (waiting.empty()) return;
      if (schedule != nullptr) {
        std::swap(waiting.front(), waiting[schedule->below(waiting.size())]);
      }
      cluster = std::move(waiting.front());
      waiting.pop_front();
    }
    const Block::Status status = cluster->run();
    if (status == Block::Status::yielded) {
      waiting.push_back(std::move(cluster));
      continue;
    }
    keep_output(*cluster);
    if (status == Block::Status::stopped) {
      launch.stop = true;
      return;
    }
    idle_.push_back(std::move(cluster));
  }
}

}  // namespace rung::vgpu
