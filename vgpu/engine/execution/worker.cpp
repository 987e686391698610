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

namespace {

/// True if Worker::accesses counts instructions of this role.
bool counts_accesses(SiteRole role) {
  return role != SiteRole::ffma && role != SiteRole::barrier && role != SiteRole::branch &&
         role != SiteRole::other;
}

}  // namespace

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

Worker::Worker(LaunchState& launch_) : Worker(launch_, launch_.kernel) {}

Worker::Worker(LaunchState& launch_, const Kernel& version)
    : launch(launch_),
      kernel(version),
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
  restarts_ = observe && !watched && kernel.tracking.make && !kernel.asynchronous &&
              launch.options.cluster.count() == 1;
  for (std::uint32_t i = 0; restarts_ && i < kernel.sites.size(); ++i) {
    if (counts_accesses(kernel.sites[i].role)) accessing_sites_.push_back(i);
  }
  kept_.accesses.resize(accessing_sites_.size());
  kept_.predicated_off.resize(kernel.guarded_sites.size());
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

void Worker::keep_counts() {
  kept_.executions = executions;
  kept_.batches = batches;
  if (kernel.local_bytes != 0) kept_.apart = apart;
  for (std::size_t i = 0; i < accessing_sites_.size(); ++i) {
    kept_.accesses[i] = accesses[accessing_sites_[i]];
  }
  for (std::size_t i = 0; i < kernel.guarded_sites.size(); ++i) {
    kept_.predicated_off[i] = predicated_off[kernel.guarded_sites[i]];
  }
}

void Worker::restore_counts() {
  executions = kept_.executions;
  batches = kept_.batches;
  if (kernel.local_bytes != 0) apart = kept_.apart;
  for (std::size_t i = 0; i < accessing_sites_.size(); ++i) {
    accesses[accessing_sites_[i]] = kept_.accesses[i];
  }
  for (std::size_t i = 0; i < kernel.guarded_sites.size(); ++i) {
    predicated_off[kernel.guarded_sites[i]] = kept_.predicated_off[i];
  }
}

/// Adds the counts of the tracking version, which has the same basic blocks and sites.
void Worker::add_tracking_counts() {
  if (tracking_ == nullptr) return;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    executions[i].times += tracking_->executions[i].times;
    executions[i].idle_lanes += tracking_->executions[i].idle_lanes;
    executions[i].divergent += tracking_->executions[i].divergent;
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    accesses[i] += tracking_->accesses[i];
    predicated_off[i] += tracking_->predicated_off[i];
  }
  apart += tracking_->apart;
}

Worker& Worker::tracking() {
  if (tracking_ == nullptr) tracking_.reset(new Worker(launch, kernel.tracking.get()));
  return *tracking_;
}

std::unique_ptr<Cluster> Worker::started(std::uint64_t index) {
  if (restarts_ && kernel.tracking.wanted) return tracking().started(index);
  std::unique_ptr<Cluster> cluster;
  if (idle_.empty()) {
    cluster = std::make_unique<Cluster>(*this);
  } else {
    cluster = std::move(idle_.back());
    idle_.pop_back();
  }
  cluster->start(index);
  if (restarts_) {
    keep_counts();
    cluster->block(0).can_restart = true;
  }
  return cluster;
}

std::unique_ptr<Cluster> Worker::restarted(std::unique_ptr<Cluster> cluster) {
  const std::uint64_t index = cluster->index();
  restore_counts();
  idle_.push_back(std::move(cluster));
  return tracking().started(index);
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
        cluster = started(schedule == nullptr ? next : schedule->permuted(next, count));
        launch.spinning.start();
      } else {
        exhausted = true;
      }
    }
    if (cluster == nullptr) {
      if (waiting.empty()) break;
      if (schedule != nullptr) {
        std::swap(waiting.front(), waiting[schedule->below(waiting.size())]);
      }
      cluster = std::move(waiting.front());
      waiting.pop_front();
    }
    Block::Status status{};
    try {
      status = cluster->run();
    } catch (const RestartTracked&) {
      cluster = restarted(std::move(cluster));
      status = cluster->run();
    }
    if (status == Block::Status::yielded) {
      if (cluster->spins_forever()) {
        launch.stop = true;
        break;
      }
      cluster->block(0).can_restart = false;  // other blocks' counts are added to its own
      waiting.push_back(std::move(cluster));
      continue;
    }
    keep_output(*cluster);
    if (status == Block::Status::stopped) {
      launch.stop = true;
      break;
    }
    launch.spinning.end();
    cluster->worker().idle_.push_back(std::move(cluster));
  }
  add_tracking_counts();
}

}  // namespace rung::vgpu
