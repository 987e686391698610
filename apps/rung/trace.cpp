// rung trace: runs a rung once on the virtual GPU, and prints its counters and hazards.

#include "tools/report/trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "command_line.hpp"
#include "core/case.hpp"
#include "core/dtype.hpp"
#include "devices.hpp"
#include "emu/reports/launch_json.hpp"
#include "kernel_file_arguments.hpp"
#include "launch_arguments.hpp"
#include "progress.hpp"
#include "run.hpp"
#include "tools/analysis/rung_trace/drawn_access.hpp"
#include "tools/analysis/trace_rung.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/kernel_file/loaded_file.hpp"
#include "tools/layout/uses.hpp"
#include "tools/report/json.hpp"
#include "tools/report/maps/access_map.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

struct TraceArguments : CommonArguments, ExtentArguments, FormArguments, KernelFileArguments {
  LaunchArguments kernel_launch;
  std::string map;
  std::string line;
  std::string warp;  // 0 where empty
  bool tiles = false;
};

constexpr const char* metal_units =
    "counters are in NVIDIA's units: Apple has not published those of its GPUs";
constexpr std::int64_t traced_extent = 256;
constexpr std::int64_t traced_length = 1 << 20;  // for dot and sum
constexpr std::int64_t max_warp = 31;            // per block

const RungInfo& read_rung(const TraceArguments& arguments) {
  const auto rungs = read_selectors(arguments.selectors);
  if (rungs.size() != 1) {
    throw UsageError(fmt::format("RUNG: '{}' selects {} rungs; trace takes one",
                                 arguments.selectors.front(), rungs.size()));
  }
  if (is_for(*rungs.front(), "cpu")) {
    throw UnavailableError(fmt::format(
        "{} is a cpu rung; the virtual GPU runs only cuda and metal rungs", rungs.front()->id));
  }
  return *rungs.front();
}

DotSpec read_dot_spec(const TraceArguments& arguments, const std::string& op) {
  DotSpec spec;
  if (!arguments.dtype.empty()) spec.dtype = read_dtype(arguments.dtype);
  const SizeArgument size = arguments.any()
                                ? read_extents(arguments)
                                : SizeArgument{traced_length, traced_length, traced_length, true};
  if (!size.is_single) throw UsageError(op + " takes only n: --n N");
  check_memory(op, {1, size.n, 1}, spec.dtype);
  spec.n = size.n;
  spec.sum = op == "sum";
  return spec;
}

GemmSpec read_gemm_spec(const TraceArguments& arguments, ComputeMode mode) {
  GemmSpec spec;
  spec.compute_mode = mode;
  if (!arguments.dtype.empty()) spec.dtype = read_dtype(arguments.dtype);
  const SizeArgument size = arguments.any()
                                ? read_extents(arguments)
                                : SizeArgument{traced_extent, traced_extent, traced_extent, true};
  check_memory("gemm", {size.m, size.n, size.k}, spec.dtype);
  spec.m = size.m;
  spec.n = size.n;
  spec.k = size.k;
  const Form form = read_form(arguments);
  spec.a_transposed = form.a_transposed;
  spec.b_transposed = form.b_transposed;
  spec.alpha = form.alpha;
  spec.beta = form.beta;
  return spec;
}

struct TracedLaunch {
  vgpu::LaunchReport report;
  std::vector<vgpu::Site> sites;
  std::vector<layout::UsedTile> tiles;  // with --tiles
};

/// The traced kernel: a rung, or a kernel in a file of the user's.
struct Subject {
  std::string id, file_name, op;
  std::string_view source;
  const RungInfo* rung = nullptr;  // one of the two
  const KernelFile* kernel = nullptr;
  bool is_metal = false;
};

Subject subject_of(const RungInfo& rung) {
  const bool is_metal = rung.backend == "metal";
  const std::string file_name = rung.slug + (is_metal ? ".metal" : ".cu");
  return {rung.id, file_name, rung.op, rung.source, &rung, nullptr, is_metal};
}

Subject subject_of(const KernelFile& file) {
  return {file.name(), file.name(), file.signature.op, file.text, nullptr, &file, file.is_metal()};
}

/// The launches of one call. A launch that failed is among them, with its hazards.
class Trace {
 public:
  Trace(const Subject& subject, const DeviceOptions& options, bool tiles)
      : subject_(subject),
        recorder_(tiles ? std::make_unique<layout::UseRecorder>() : nullptr),
        backend_((subject.is_metal ? make_metal_virtual_backend : make_virtual_backend)(
            options, [this](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
              const auto& sites = vgpu::sites(kernel);
              launches_.push_back({report, sites, {}});
              if (recorder_ == nullptr) return;
              launches_.back().tiles = layout::used_tiles(recorder_->take(), sites);
            })) {
    if (subject.kernel == nullptr) return;
    if (const auto absent = backend_->absent()) throw UnavailableError(*absent);
    loaded_ = load_file(*subject.kernel, *backend_);
  }

  std::string device() const { return backend_->device(); }
  std::string code() const {
    return loaded_ != nullptr ? loaded_->code() : backend_->code(*subject_.rung);
  }

  template <class Case>
  const std::vector<TracedLaunch>& run(const Case& problem, int threads) {
    Progress progress;
    progress.show(fmt::format("running {} on the virtual GPU", subject_.id));
    if (const auto reason = why_not(problem.call())) {
      throw UnavailableError(fmt::format("{}: {}", subject_.id, *reason));
    }
    try {
      if (loaded_ != nullptr) {
        call_kernel(problem.call(), threads);
      } else {
        ::rung::run(*backend_, *subject_.rung, problem.call(), threads);
      }
    } catch (const KernelError&) {
      if (launches_.empty() || launches_.back().report.hazards.empty()) throw;
    }
    return launches_;
  }

 private:
  template <class Call>
  std::optional<std::string> why_not(const Call& call) const {
    if (loaded_ == nullptr) return backend_->why_not(*subject_.rung, call);
    const std::string reason = ::rung::why_not(subject_.kernel->signature, call);
    return reason.empty() ? std::nullopt : std::optional(reason);
  }
  void call_kernel(const GemmCall& call, int threads) const {
    loaded_->bind(call, threads).batch.call();
  }
  void call_kernel(const DotCall& call, int threads) const {
    std::array<std::byte, sizeof(double)> result;  // of any type
    loaded_->bind(call, threads, result.data()).batch.call();
  }

  const Subject& subject_;
  std::vector<TracedLaunch> launches_;
  std::unique_ptr<layout::UseRecorder> recorder_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const LoadedFile> loaded_;  // null for a rung
};

Json to_json(const TraceArguments& arguments, const GemmSpec& spec) {
  return {{"dtype", name(spec.dtype)},  {"m", spec.m},         {"n", spec.n},      {"k", spec.k},
          {"layout", arguments.layout}, {"alpha", spec.alpha}, {"beta", spec.beta}};
}

Json to_json(const TraceArguments& /*arguments*/, const DotSpec& spec) {
  return {{"dtype", name(spec.dtype)}, {"m", nullptr}, {"n", spec.n}, {"k", nullptr}};
}

int read_warp(const TraceArguments& arguments) {
  if (arguments.warp.empty()) return 0;
  const auto warp = static_cast<int>(read_integer("--warp", arguments.warp, 0, max_warp));
  if (arguments.map.empty()) throw UsageError("--warp: chooses what --map draws, and needs it");
  return warp;
}

/// A number, or FILE:NUMBER.
void check_line(const TraceArguments& arguments) {
  const std::string& line = arguments.line;
  if (line.empty()) return;
  const std::string number = line.substr(line.rfind(':') + 1);  // all of it without a colon
  const bool is_line = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  if (!is_line || line.front() == ':') {
    throw UsageError(fmt::format("--at: '{}' is neither LINE nor FILE:LINE", line));
  }
  if (arguments.map.empty()) throw UsageError("--at: chooses what --map draws, and needs it");
}

std::string tiles_text(const std::vector<layout::UsedTile>& tiles) {
  std::string text = "\ntiles of block 0 in shared memory\n";
  if (tiles.empty()) text += "  no TMA box, and no descriptor of wgmma\n";
  for (const layout::UsedTile& tile : tiles) {
    const std::string times = tile.count > 1 ? fmt::format(", {} times", tile.count) : "";
    text += wrap(fmt::format("{}: {}{}", tile.where, tile.what, times), 2);
    if (!tile.finding.empty()) text += wrap(tile.finding, 6);
  }
  return text;
}

Json to_json(const std::vector<layout::UsedTile>& tiles) {
  Json json = Json::array();
  for (const layout::UsedTile& tile : tiles) {
    json.push_back({{"where", tile.where},
                    {"what", tile.what},
                    {"finding", tile.finding},
                    {"fits", tile.fits},
                    {"count", tile.count}});
  }
  return json;
}

/// The most wasteful access at --at, or of all if no line is given.
std::string draw_map(const TraceArguments& arguments, const std::string& file_name,
                     const AccessRecorder& recorder, const std::vector<vgpu::Site>& sites) {
  const auto drawn =
      worst_access(recorder.accesses(), sites, full_place(arguments.line, file_name));
  if (!drawn) {
    throw UsageError(fmt::format("--at: '{}' has no access by warp {}; lines with one: {}",
                                 arguments.line, read_warp(arguments),
                                 fmt::join(places_of(recorder.accesses(), sites), ", ")));
  }
  const std::string where = fmt::format("{} at {}", drawn->what, drawn->where);
  return access_map("map", drawn->access, where).picture.file();
}

template <class Case, class Spec>
ExitCode run(const TraceArguments& arguments, const Subject& subject, const Spec& spec) {
  const int threads = arguments.thread_count();
  const int warp = read_warp(arguments);
  check_line(arguments);
  check_apart({{"--json", arguments.json}, {"--map", arguments.map}});
  DeviceOptions device = read_device_options(arguments);
  if (subject.kernel != nullptr) device.code.clear();  // which is of rungs
  Trace trace(subject, device, arguments.tiles);
  const auto output = read_json(arguments.json);
  const auto map = read_output("--map", arguments.map);
  std::optional<AccessRecorder> recorder;
  if (map) recorder.emplace(warp);
  const bool keep_stdout = (output && output->is_stdout()) || (map && map->is_stdout());
  std::FILE* out = keep_stdout ? stderr : stdout;

  fmt::print(out, "{} {}\non {}\n{}\n", subject.id, describe(spec), trace.device(), trace.code());
  if (subject.is_metal) fmt::print(out, "{}\n", metal_units);
  Json kernels = Json::array();
  ExitCode code = exit_right;
  const std::vector<TracedLaunch>& launches = trace.run(Case(spec), threads);
  for (const TracedLaunch& launch : launches) {
    auto lines = vgpu::by_line(launch.report, launch.sites);
    add_text(lines, subject.file_name, subject.source);
    vgpu::LaunchReport shown = launch.report;
    shown.kernel = emu::readable_name(shown.kernel);
    fmt::print(out, "\n{}", launch_table(shown, lines));
    kernels.push_back(emu::to_json(launch.report, lines));
    if (arguments.tiles) {
      fmt::print(out, "{}", tiles_text(launch.tiles));
      kernels.back()["tiles"] = to_json(launch.tiles);
    }
    if (!launch.report.hazards.empty()) code = exit_wrong;
  }
  if (map) {
    if (launches.empty()) throw UsageError("--map: this problem launches no kernel");
    map->write(draw_map(arguments, subject.file_name, *recorder, launches.front().sites));
  }
  if (output) {
    Json json = to_json(arguments, spec);
    json.update({{"rung", subject.id}, {"device", trace.device()}, {"code", trace.code()}});
    if (subject.is_metal) json["units"] = metal_units;
    json["kernels"] = std::move(kernels);
    output->write(dump(json));
  }
  return code;
}

ExitCode run(const TraceArguments& arguments, const Subject& subject) {
  if (subject.op != "gemm") {
    return run<DotCase>(arguments, subject, read_dot_spec(arguments, subject.op));
  }
  const ComputeMode mode =
      subject.rung != nullptr ? subject.rung->compute_mode : ComputeMode::standard;
  return run<GemmCase>(arguments, subject, read_gemm_spec(arguments, mode));
}

/// Traces one launch, whose grid is given.
ExitCode trace_launch(const TraceArguments& given) {
  if (given.tiles) throw UsageError("--tiles: for rungs and functions, not a launch by --grid");
  const int warp = read_warp(given);
  check_line(given);
  check_apart({{"--json", given.json}, {"--map", given.map}});
  RunOptions options;
  options.with_lines = true;
  options.threads = static_cast<unsigned>(given.thread_count());
  options.json = given.json;
  const auto map = read_output("--map", given.map);
  std::vector<vgpu::Site> sites;
  std::optional<AccessRecorder> recorder;
  if (map) {
    recorder.emplace(warp);
    options.keeps_stdout = map->is_stdout();
    options.observer = [&](const vgpu::LaunchReport&, const vgpu::Kernel& kernel) {
      sites = vgpu::sites(kernel);
    };
  }
  const std::string& file = given.selectors.front();
  const ExitCode code = run_launch({file, given.include_folders, given.definitions, given.gpu},
                                   given.kernel_launch, options);
  const std::string path = file.substr(0, file.rfind(':'));
  if (map) map->write(draw_map(given, path.substr(path.rfind('/') + 1), *recorder, sites));
  return code;
}

ExitCode run(const TraceArguments& given) {
  const std::string& what = given.selectors.front();
  require_kernel_file(what, given.kernel_launch);
  if (given.kernel_launch.any()) return trace_launch(given);
  if (!names_kernel_file(what)) {
    if (!given.as.empty()) throw UsageError("--as: for a file of yours, such as my_gemm.cu");
    const RungInfo& rung = read_rung(given);
    TraceArguments arguments = given;
    if (arguments.dtype.empty()) arguments.dtype = name(analysis::usual_dtype(rung));
    if (arguments.gpu.empty()) arguments.gpu = usual_gpu(rung);
    return run(arguments, subject_of(rung));
  }
  const KernelFile file = read_kernel_file(given, what, given.dtype, given.code, given.layout);
  TraceArguments arguments = given;
  arguments.dtype = name(file.signature.dtype);
  arguments.layout = row_major_layout(file);
  return with_loaded_file(file, [&] { return run(arguments, subject_of(file)); });
}

}  // namespace

Action add_trace(Options& app) {
  auto arguments = std::make_shared<TraceArguments>();
  app.add_option("RUNG", arguments->selectors.emplace_back(),
                 "A rung, such as gemm/cuda/02, or a file of yours, such as my_gemm.cu")
      ->type_name("")
      ->required()
      ->offers(selector_words);
  app.add_option("NAME=VALUE", arguments->kernel_launch.values,
                 "With --grid, the arguments of the file's kernel (see rung run)")
      ->type_name("")
      ->may_be_empty();
  arguments->add_kernel_file(app);
  arguments->kernel_launch.add_launch(app);
  arguments->kernel_launch.add_seed(app);
  arguments->add_extents(app);
  arguments->add_dtype(app);
  arguments->add_form(app);
  arguments->add_gpu_and_code(app);
  arguments->add_threads(app);
  arguments->add_json(app);
  app.add_option("--map", arguments->map, "Draw the memory accesses of a warp's lanes, as SVG")
      ->type_name("FILE");
  app.add_alias("--line", "--at");
  app.add_option("--at", arguments->line,
                 "For --map: a line of the rung, or FILE:LINE (default: the most wasteful access)")
      ->type_name("LINE");
  app.add_option("--warp", arguments->warp, "For --map: a warp of block 0 (default: 0)")
      ->type_name("N");
  app.add_flag(
      "--tiles", arguments->tiles,
      "Show the TMA boxes of block 0 and the wgmma descriptors that read them, and if they\n"
      "agree (see rung layout)");
  app.footer(
      "Counters use NVIDIA's units: a request is a warp instruction, a sector is 32 bytes, a\n"
      "wavefront is a pass through the banks of shared memory. \"As issued\" counts neighbouring\n"
      "accesses that ptxas merges as one.\n\n"
      "Examples:\n"
      "  rung trace gemm/cuda/00\n"
      "  rung trace dot/cuda/06 --n 1e6\n"
      "  rung trace gemm/cuda/02 --n 1024 --dtype f16 --json trace.json\n"
      "  rung trace my_gemm.cu --n 512\n"
      "  rung trace scan.cu:scan --grid 4 --block 256 x=rand:1024 y=out:1024 n=1024\n"
      "  rung trace gemm/cuda/05 --map banks.svg --at staged_tile.cuh:47");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
