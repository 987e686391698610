#include "tools/analysis/rung_trace/rung_trace.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/gemm_call.hpp"
#include "backends/cuda/gpu.hpp"
#include "backends/metal/metal.hpp"
#include "backends/rungs/cuda.hpp"
#include "core/case.hpp"
#include "rung/types.hpp"
#include "tools/analysis/rung_trace/access_recorder.hpp"
#include "vgpu/step_recorder.hpp"

namespace rung {
namespace {

// Large enough for the largest tile with many k-blocks, and small enough for the first rung.
constexpr cuda::GemmSize traced_gemm = {256, 256, 512};
constexpr std::int64_t traced_dot = 1 << 16;

struct SeenLaunch {
  vgpu::LaunchReport report;
  std::vector<vgpu::Site> sites;
};

/// The most wasteful access of each kind.
std::vector<DrawnAccess> worst_accesses(const AccessRecorder& recorder,
                                        const std::vector<vgpu::Site>& sites) {
  std::vector<DrawnAccess> drawn;
  const auto draw = [&](bool shared, bool load) {
    const auto is = [=](const vgpu::WarpAccess& access) {
      return access.shared == shared && access.load == load;
    };
    if (auto worst = worst_access(recorder.accesses(), sites, is)) {
      drawn.push_back(std::move(*worst));
    }
  };
  draw(false, true);
  draw(true, false);
  draw(true, true);
  return drawn;
}

/// A launch made by the calls in `launch`.
class Watched {
 public:
  Watched(const RungInfo& rung, const DeviceOptions& options)
      : backend_((rung.backend == "metal" ? make_metal_virtual_backend : make_virtual_backend)(
            options, [this](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
              launches_.push_back({report, vgpu::sites(kernel)});
              if (launches_.size() == 1) steps_ = recorder_.take(report, kernel);
            })) {}

  const Backend& backend() const { return *backend_; }

  template <class LaunchIt>
  void run(const LaunchIt& launch, RungTrace& trace) {
    const AccessRecorder recorder(0, [this](const auto& seen) { recorder_.see(seen); });
    launch();
    if (launches_.empty()) throw std::runtime_error("it launches nothing");
    for (const SeenLaunch& each : launches_) {
      trace.counters += each.report.counters;
      for (vgpu::LineCounters& line : vgpu::by_line(each.report, each.sites)) {
        trace.lines.push_back(std::move(line));
      }
    }
    trace.accesses = worst_accesses(recorder, launches_.front().sites);
    stores_ = recorder.stores();
    trace.steps = steps_;
  }

  const std::vector<vgpu::WarpAccess>& stores() const { return stores_; }

 private:
  std::vector<SeenLaunch> launches_;
  std::vector<vgpu::WarpAccess> stores_;
  vgpu::StepRecorder recorder_;
  std::string steps_;
  std::unique_ptr<Backend> backend_;
};

std::string describe_tile(const cuda::GemmRung& rung, Dtype dtype, const cuda::GemmConfig& config) {
  const auto tiles = cuda::tiles_of(rung, dtype);
  if (tiles.empty()) return "";
  const cuda::TileShape& tile = tiles[static_cast<std::size_t>(config.tile)];
  return fmt::format("{} x {} x {}, {} threads, {} bytes of shared memory", tile.BM, tile.BN,
                     tile.BK, tile.threads, tile.shared_bytes);
}

/// Traces a GEMM with the tile chosen for the measured problem, without split-K. Records which
/// thread stores which element.
void trace_cuda_gemm(const RungInfo& info, const GemmCall& call, const cuda::GemmSize& measured,
                     Watched& watched, RungTrace& trace) {
  cuda::Gpu& gpu = *gpu_of(watched.backend());
  const cuda::GemmRung& rung = *cuda::find_gemm_rung(info.id);
  cuda::GemmConfig config = cuda::TunedConfigs::of_device(gpu.name())
                                .nearest(rung, info.id, call.dtype, measured, gpu.limits());
  config.splits = 1;
  gpu.make_current();
  const auto operands = std::make_shared<const cuda::GemmOperands>(gpu, call);
  cuda::GemmCallOnGpu bound(operands, cuda::configured_gemm(info.id, config), call, 0);
  const auto launch = [&] {
    bound.enqueue(1);
    bound.wait();
  };
  watched.run(launch, trace);
  trace.tile = describe_tile(rung, call.dtype, config);
  const auto element_bytes = visit(call.dtype, []<class In, class Out>(Elements<In, Out>) {
    return static_cast<std::uint32_t>(sizeof(Out));
  });
  trace.tiles = tile_map(watched.stores(),
                         {operands->c().data(), call.m, call.n, call.c.row_stride, element_bytes});
}

void trace_gemm(const RungInfo& info, Dtype dtype, const cuda::GemmSize& measured, Watched& watched,
                RungTrace& trace) {
  GemmSpec spec;
  spec.dtype = dtype;
  spec.m = traced_gemm.m;
  spec.n = traced_gemm.n;
  spec.k = traced_gemm.k;
  spec.compute_mode = info.compute_mode;
  GemmCase problem(spec);
  const GemmCall call = problem.call();
  if (const auto why_not = watched.backend().why_not(info, call)) {
    throw std::runtime_error(*why_not);
  }
  trace.problem = describe(spec);
  trace.flops = 2.0 * static_cast<double>(spec.m * spec.n * spec.k);
  if (info.backend == "cuda") {
    trace_cuda_gemm(info, call, measured, watched, trace);
  } else {
    watched.run([&] { ::rung::run(watched.backend(), info, call, 1); }, trace);
  }
}

void trace_dot(const RungInfo& info, Dtype dtype, Watched& watched, RungTrace& trace) {
  DotSpec spec;
  spec.dtype = dtype;
  spec.n = traced_dot;
  spec.sum = info.op == "sum";
  DotCase problem(spec);
  if (const auto why_not = watched.backend().why_not(info, problem.call())) {
    throw std::runtime_error(*why_not);
  }
  watched.run([&] { ::rung::run(watched.backend(), info, problem.call(), 1); }, trace);
  trace.problem = describe(spec);
  const double terms = static_cast<double>(spec.n), vectors = spec.sum ? 1 : 2;
  trace.flops = vectors * terms;
}

}  // namespace

double RungTrace::intensity() const {
  const std::uint64_t sectors = counters.global_load_sectors + counters.global_store_sectors +
                                counters.bulk_load_sectors + counters.bulk_store_sectors;
  return sectors == 0 ? 0 : flops / (32.0 * static_cast<double>(sectors));
}

RungTracer::RungTracer(const DeviceOptions& options) : options_(options) {}

RungTrace RungTracer::trace(const RungInfo& rung, Dtype dtype,
                            const cuda::GemmSize& measured) const {
  RungTrace trace;
  if (is_for(rung, "cpu")) {
    trace.why_not = "a rung of the CPU: the virtual GPU runs those of CUDA";
    return trace;
  }
  try {
    Watched watched(rung, options_);
    trace.device = watched.backend().device();
    trace.code = watched.backend().code(rung);
    if (rung.op == "gemm") {
      trace_gemm(rung, dtype, measured, watched, trace);
    } else {
      trace_dot(rung, dtype, watched, trace);
    }
  } catch (const std::exception& error) {
    trace = {};
    trace.why_not = error.what();
  }
  return trace;
}

}  // namespace rung
