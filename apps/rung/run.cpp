// rung run: launches any kernel of a file on the virtual GPU.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "command_line.hpp"
#include "launch_arguments.hpp"
#include "launch_report.hpp"
#include "orders.hpp"
#include "run.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/kernel_file/kernel_file.hpp"
#include "tools/report/json.hpp"
#include "tools/report/output_file.hpp"
#include "vgpu/schedule.hpp"

namespace rung {
namespace {

struct RunArguments : ThreadArguments, LaunchArguments, OrderArguments {
  std::string file, gpu, json;
  std::vector<std::string> include_folders, definitions;
  bool lines = false, no_check = false;

  LaunchedFile launched() const { return {file, include_folders, definitions, gpu}; }
};

ExitCode list_kernels(const RunArguments& arguments) {
  const auto output = read_json(arguments.json);
  LaunchedFile file = arguments.launched();
  file.is_list = true;
  const any_kernel::Program program = compile_kernels(file);
  if (output) output->write(dump(kernels_json(program)));
  if (!output || !output->is_stdout()) fmt::print("{}", kernels_text(program));
  return exit_right;
}

ExitCode run(const RunArguments& arguments) {
  if (!arguments.LaunchArguments::any()) return list_kernels(arguments);
  return run_launch(
      arguments.launched(), arguments,
      {arguments.lines, !arguments.no_check, static_cast<unsigned>(arguments.thread_count()),
       arguments.json, arguments.orders()});
}

void compare(std::uint64_t order, const any_kernel::Outcome& one, const any_kernel::Outcome& usual,
             OrderResults& results) {
  for (std::size_t i = 0; i < usual.results.size() && i < one.results.size(); ++i) {
    if (one.results[i].array.bytes != usual.results[i].array.bytes) {
      results.add_difference(order, usual.results[i].name);
    }
  }
  if (one.report.fault != usual.report.fault) {
    results.add_difference(order, "fault",
                           one.report.fault ? vgpu::name(*one.report.fault) : "none");
  }
}

/// The outcome of the first order, with the hazards of all others.
any_kernel::Outcome run_orders(KernelLaunch& launch, const std::vector<std::uint64_t>& orders,
                               OrderResults& results) {
  vgpu::set_schedule(orders.front());
  any_kernel::Outcome usual = launch.run();
  if (orders.size() == 1) return usual;
  MergedHazards hazards;
  hazards.add(orders.front(), usual.report.hazards, results);
  for (std::size_t i = 1; i < orders.size(); ++i) {
    vgpu::set_schedule(orders[i]);
    const auto one = any_kernel::launch(launch.program(), launch.kernel(), launch.request());
    hazards.add(orders[i], one.report.hazards, results);
    compare(orders[i], one, usual, results);
    for (const any_kernel::Judgement& judgement : one.judgements) {
      if (judgement.right) continue;
      usual.judgements.push_back(judgement);
      usual.judgements.back().message += fmt::format(", in order {}", orders[i]);
    }
  }
  usual.report.hazards = hazards.take(results);
  return usual;
}

}  // namespace

ExitCode run_launch(const LaunchedFile& file, const LaunchArguments& arguments,
                    const RunOptions& options) {
  KernelLaunch launch(file, arguments);
  launch.request().observe = options.observe;
  launch.request().cpu_threads = options.orders.size() > 1 ? 1 : options.threads;
  launch.request().observer = options.observer;
  const auto output = read_json(options.json);
  const bool is_used = options.keeps_stdout || (output && output->is_stdout());
  std::FILE* out = is_used ? stderr : stdout;
  fmt::print(out, "{}", launch.head());
  OrderResults results(options.orders);
  const any_kernel::Outcome outcome = run_orders(launch, options.orders, results);
  fmt::print(out, "{}{}", outcome_text(launch, outcome, options.with_lines), results.text());
  if (output) {
    Json json = outcome_json(launch, outcome, options.with_lines);
    if (options.orders.size() > 1) json["schedule"] = results.json();
    output->write(dump(json));
  }
  return outcome.is_right() ? exit_right : exit_wrong;
}

void require_kernel_file(const std::string& what, const LaunchArguments& arguments) {
  if (!arguments.any() || names_kernel_file(what)) return;
  for (const std::string& value : arguments.values) {
    if (value.find('=') == value.npos) {
      throw UsageError("RUNG: expected one, such as gemm/cuda/02; see --help");
    }
  }
  throw UsageError(
      fmt::format("RUNG: '{}' is not a file of yours, such as scan.cu, whose kernel NAME=VALUE and "
                  "--grid launch",
                  what));
}

Action add_run(Options& app) {
  auto arguments = std::make_shared<RunArguments>();
  app.add_option(
         "FILE", arguments->file,
         "A CUDA or Metal file; FILE:KERNEL names one of its kernels, of a template with its "
         "arguments, as in 'file.cu:softmax<float, 128>'")
      ->type_name("")
      ->required();
  app.add_option("NAME=VALUE", arguments->values,
                 "The kernel's arguments, by the names of its parameters")
      ->type_name("")
      ->may_be_empty();
  arguments->add_launch(app);
  arguments->add_seed(app);
  app.add_option("--gpu", arguments->gpu,
                 "GPU model to simulate: h200 (default), h100, a100, t4, rtx3090, rtx4090, b200 or "
                 "rtx5090; "
                 "of Metal "
                 "m1, m1pro (default), m2max, m3 or m4max; override properties as in "
                 "h200,multiprocessors=4")
      ->type_name("GPU");
  app.add_option("-I", arguments->include_folders, "Look for the file's headers in DIR")
      ->type_name("DIR")
      ->one_at_a_time();
  app.add_option("-D", arguments->definitions, "Define a macro for the file")
      ->type_name("NAME[=VALUE]")
      ->one_at_a_time();
  arguments->add_threads(app);
  arguments->add_orders(app);
  app.add_flag("--lines", arguments->lines, "Print counters for each source line, hottest first");
  app.add_flag("--no-check", arguments->no_check,
               "Disable counters and hazard detection, to run faster");
  app.add_option("--json", arguments->json,
                 "Write results, counters and hazards as JSON; - for standard output")
      ->type_name("FILE");
  app.footer(
      "Without a grid, lists the file's kernels with their parameters. With one, launches a "
      "kernel\n"
      "and prints the buffers that it may write, counters and hazards. The exit code is 1 for a\n"
      "hazard, or a result that differs from --expect.\n\n"
      "Values:\n"
      "  40, 1.5, true, 1,2,3       numbers: an argument by value, a vector, a short buffer\n"
      "  M:40,N:24,K:33             the fields of a struct; *:0 for all others\n"
      "  x:rand:100,n:100           with an array for a pointer or texture in the struct\n"
      "  rand:24x33, iota:100       a buffer of that shape: uniform in [-1, 1], or 0, 1, 2, ...\n"
      "  zeros:4, ones:4, 7:4, nan:4\n"
      "  out:24x40, out             a buffer without a value; reading it is a hazard. Its shape "
      "may\n"
      "                             come from --expect\n"
      "  rand:100:half              a type, where the kernel has none (void*)\n"
      "  x.npy, @x.npy              a file of NumPy's\n"
      "  shared:4096                the size of a threadgroup parameter, in bytes\n"
      "  null                       a null pointer\n"
      "  rand:48x64, photo.npy      a texture of 48 rows of 64 texels; the depth or the elements "
      "of "
      "an\n"
      "                             array come first, the components of a file's texels last\n"
      "  linear,repeat              a sampler; nearest has the defaults\n\n"
      "Examples:\n"
      "  rung run scan.cu\n"
      "  rung run scan.cu:scan --grid 4 --block 256 x=rand:1024 y=out:1024 n=1024\n"
      "  rung run matmul.metal:matmul --grid 40x24 --group 16x16 \\\n"
      "    A=rand:24x33 B=rand:33x40 C=out params=M:40,N:24,K:33 --expect 'C = A B'\n"
      "  rung run 'softmax.cu:softmax<float, 128>' --grid 8 --block 128 \\\n"
      "    0=x.npy --out 1=y.npy --expect 1=ref.npy");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
