// rung explain: explains the performance of a rung, or of the user's kernel.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "arguments.hpp"
#include "backends/cuda/cuda.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "core/temporary_folder.hpp"
#include "cpu_counts.hpp"
#include "devices.hpp"
#include "explain_cpu.hpp"
#include "explain_file.hpp"
#include "explain_head.hpp"
#include "explain_metal_file.hpp"
#include "kernel_file_arguments.hpp"
#include "own_command.hpp"
#include "run.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/kernel_file/adapter.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/report/explanation.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

struct ExplainArguments : CommonArguments, ExtentArguments, KernelFileArguments {
  LaunchArguments kernel_launch;  // its `values` are in program_arguments
  std::string what, layout;
  std::vector<std::string> program_arguments;
  std::string results;
  std::string html, baseline;
  bool has_dashes = false;  // "--" before the program's arguments
  std::string launch;       // in microseconds
  std::string calls;        // only call a CPU rung that often
  bool no_hardware = false;
};

constexpr std::int64_t explained_extent = 4096;
constexpr std::int64_t explained_length = 1 << 24;  // for dot and sum

std::vector<std::string> compiler_options(const ExplainArguments& arguments) {
  std::vector<std::string> options;
  for (const std::string& folder : arguments.include_folders) options.push_back("-I" + folder);
  for (const std::string& definition : arguments.definitions) options.push_back("-D" + definition);
  return options;
}

const RungInfo& read_rung(const ExplainArguments& arguments) {
  const auto rungs = read_selectors({arguments.what});
  if (rungs.size() != 1) {
    throw UsageError(fmt::format("RUNG: '{}' selects {} rungs; explain takes one", arguments.what,
                                 rungs.size()));
  }
  return *rungs.front();
}

/// Reads --launch-time, in microseconds. Returns seconds.
double read_launch(const std::string& text) {
  const double value = read_number("--launch-time", text);
  if (!(value > 0 && value <= 1000)) {
    throw UsageError(fmt::format(
        "--launch-time: '{}' is not a number of microseconds above 0, at most 1000", text));
  }
  return 1e-6 * value;
}

analysis::ExplainOptions read_options(const ExplainArguments& arguments,
                                      const std::string& usual_gpu = "h200") {
  analysis::ExplainOptions options;
  read_device_options(arguments);
  options.gpu = arguments.gpu.empty() ? usual_gpu : arguments.gpu;
  options.device = vgpu::parse_device(options.gpu);
  options.code = arguments.code;
  if (!arguments.launch.empty()) options.launch_seconds = read_launch(arguments.launch);
  if (options.code == "cubin") {
    throw UsageError("--code: 'cubin' is not one of clang, nvcc: counting needs PTX");
  }
  if (!arguments.results.empty()) {
    try {
      options.results = analysis::read_results(arguments.results);
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("--results: {}", error.what()));
    }
  }
  return options;
}

SizeArgument read_size(const ExplainArguments& arguments, const RungInfo& rung) {
  const bool is_gemm = rung.op == "gemm";
  const std::int64_t usual = is_gemm ? explained_extent : explained_length;
  const SizeArgument size =
      arguments.any() ? read_extents(arguments) : SizeArgument{usual, usual, usual, true};
  if (!is_gemm && !size.is_single) throw UsageError(fmt::format("{} takes only n: --n N", rung.op));
  return size;
}

/// If this machine has the GPU to explain, runs this program under ncu and adds the rung's hardware
/// counters.
void add_hardware(analysis::Explanation& explanation, const RungInfo& rung, Dtype dtype,
                  const SizeArgument& size, const std::string& gpu) {
  const std::string ncu = analysis::find_tool("ncu");
  const Backend* here = find_backend("gpu");
  if (here->absent()) {
    explanation.why_no_hardware = "no GPU here";
  } else if (here->device().find(gpu) == std::string::npos) {
    explanation.why_no_hardware = fmt::format("the GPU here is no {}", gpu);
  } else if (ncu.empty()) {
    explanation.why_no_hardware = "ncu is neither on the PATH nor in /usr/local/cuda/bin";
  }
  if (!explanation.why_no_hardware.empty()) return;
  const analysis::ToolOutput output = analysis::run_tool(
      analysis::ncu_command(ncu, explanation.evidence.sample.kernel,
                            own_command("bench", rung, dtype, size,
                                        {"--device", "gpu", "--vs", "none", "--seconds", "0.01"})));
  try {
    explanation.hardware = analysis::parse_ncu(output.text);
  } catch (const std::runtime_error& error) {
    const std::size_t said = output.text.find("==ERROR==");
    explanation.why_no_hardware =
        said == std::string::npos ? error.what()
                                  : output.text.substr(said, output.text.find('\n', said) - said);
  }
}

analysis::Explanation examine(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                              const analysis::ExplainOptions& options) {
  try {
    if (rung.op != "gemm") return analysis::explain_vectors(rung, dtype, size.n, options);
    return analysis::explain_gemm(rung, dtype, {size.m, size.n, size.k}, options);
  } catch (const std::invalid_argument& error) {
    throw UnavailableError(error.what());
  }
}

std::string describe_problem(const RungInfo& rung, Dtype dtype, const SizeArgument& size) {
  if (rung.op != "gemm") return fmt::format("{} {}", name(dtype), size.n);
  return fmt::format("{} {}x{}x{}", name(dtype), size.m, size.n, size.k);
}

/// Traces the rung once, for the page's access maps and counters per line.
Traces trace_of(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                const analysis::ExplainOptions& options) {
  DeviceOptions device;
  device.gpu = options.gpu;
  device.code = options.code;
  return {{rung.id, RungTracer(device).trace(rung, dtype, {size.m, size.n, size.k})}};
}

/// The source of the predicted times, for devices other than the measured ones.
std::string rates_note(bool is_metal, const vgpu::DeviceDescription& device) {
  if (is_metal) return wrap(metal_rates, 0);
  constexpr int blackwell = 10;
  if (device.compute_major < blackwell) return "";
  return wrap("Times follow the data sheet. Not measured: no such GPU was at hand.", 0);
}

ExitCode explain_rung(const ExplainArguments& arguments, const RungInfo& rung) {
  const Dtype dtype =
      arguments.dtype.empty() ? analysis::usual_dtype(rung) : read_dtype(arguments.dtype);
  const SizeArgument size = read_size(arguments, rung);
  const bool is_metal = rung.backend == "metal";
  const analysis::ExplainOptions options = read_options(arguments, usual_gpu(rung));
  const auto output = read_json(arguments.json);
  const auto page = read_output("--html", arguments.html);
  const auto is_stdout = [](const auto& file) { return file && file->is_stdout(); };
  std::FILE* out = is_stdout(output) || is_stdout(page) ? stderr : stdout;
  analysis::Explanation explanation = examine(rung, dtype, size, options);
  if (!arguments.no_hardware && !is_metal) {
    add_hardware(explanation, rung, dtype, size, options.device.name);
  }
  print_head(out, rung);
  const std::string problem =
      fmt::format("{} on {}", describe_problem(rung, dtype, size), options.device.name);
  fmt::print(out, "{}\n{}{}", problem, rates_note(is_metal, options.device),
             explanation_text(explanation));
  if (page) {
    const Traces traces = trace_of(rung, dtype, size, options);
    page->write(explanation_page({rung.id, problem, &rung, ""}, explanation, traces,
                                 stepped(rung, traces.at(rung.id))));
  }
  if (output) {
    Json json = explanation_head(rung, dtype, size, "virtual " + options.device.name);
    json.update(to_json(explanation));
    output->write(dump(json));
  }
  return exit_right;
}

/// C has enough tiles for all SMs; the short k keeps the simulation fast.
constexpr ProgramSize short_product = {2048, 2048, 128};
constexpr ProgramSize explained_metal_product = {1024, 1024, 128};  // for 16 cores
constexpr std::int64_t explained_vector = 1 << 22;

/// The product that rungs are explained for, from tiles of a small C. As many bytes of k for each
/// type fill the stages of a pipeline.
analysis::SampledProduct sampled_product(Dtype dtype) {
  constexpr std::int64_t rows = 256, bytes_of_k = 512;
  const auto k = bytes_of_k / static_cast<std::int64_t>(input_bytes(dtype));
  return {{rows, rows, k},
          {rows, rows, 2 * k},
          {2 * rows, rows, k},
          {explained_extent, explained_extent, explained_extent}};
}

ProgramSize size_of_program(const ExplainArguments& arguments, const KernelFile& file) {
  const std::string& op = file.signature.op;
  const bool is_gemm = op == "gemm";
  if (!arguments.any() && is_gemm) {
    return file.is_metal() ? explained_metal_product : short_product;
  }
  if (!arguments.any()) return {1, explained_vector, 1};
  const SizeArgument size = read_extents(arguments);
  if (!is_gemm && !size.is_single) throw UsageError(op + " takes only n: --n N");
  return {size.m, size.n, size.k};
}

ExitCode explain_metal(const ExplainArguments& arguments, const std::string& path) {
  const KernelFile file =
      read_kernel_file(arguments, path, arguments.dtype, arguments.code, arguments.layout);
  const ProgramSize size = size_of_program(arguments, file);
  return with_kernel_file([&] {
    return explain_metal_file(file, size, read_options(arguments, "m1pro"),
                              read_json(arguments.json), read_output("--html", arguments.html));
  });
}

std::string describe_call(const Signature& signature, const ProgramSize& size) {
  const std::string extents = signature.op == "gemm"
                                  ? fmt::format("{}x{}x{}", size.m, size.n, size.k)
                                  : fmt::format("of {} elements", size.n);
  return fmt::format("{}: {} {} {}", signature.function, signature.op, name(signature.dtype),
                     extents);
}

/// Explains a file without main(): compiles and runs a generated program that calls its function. A
/// name after the file is the function's with --as, otherwise a kernel's.
ExitCode explain_kernel_file(const ExplainArguments& arguments, const std::string& path,
                             const std::string& name) {
  const bool is_function = !arguments.as.empty();
  const std::string kernel = is_function ? "" : name;
  const KernelFile file = read_kernel_file(arguments, is_function ? arguments.what : path,
                                           arguments.dtype, arguments.code, arguments.layout);
  const ProgramSize size = size_of_program(arguments, file);
  const TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "program.cu";
  std::ofstream(program) << program_text(file, size);
  return with_kernel_file([&] {
    FileToExplain explained = {path,
                               program.string(),
                               kernel,
                               {},
                               compiler_options(file),
                               read_options(arguments),
                               read_json(arguments.json),
                               read_output("--html", arguments.html),
                               arguments.baseline,
                               describe_call(file.signature, size)};
    if (file.signature.op == "gemm" && !arguments.any()) {
      explained.sample = sampled_product(file.signature.dtype);
      explained.shorter_call = std::exchange(
          explained.call,
          describe_call(file.signature, {explained_extent, explained_extent, explained_extent}));
    }
    return explain_file(explained);
  });
}

/// Throws UsageError for a second .cu file, unless "--" makes it an argument of the program.
void refuse_second_file(const ExplainArguments& arguments) {
  if (arguments.has_dashes || arguments.program_arguments.empty()) return;
  const std::string& first = arguments.program_arguments.front();
  if (!first.ends_with(".cu")) return;
  throw UsageError(fmt::format(
      "ARGS: '{}': explain takes one file; to compare two, write the JSON of one and name it as "
      "--baseline; a program's arguments come after --",
      first));
}

ExitCode explain_cpu(const ExplainArguments& arguments, const RungInfo& rung) {
  constexpr std::int64_t most_calls = 1'000'000;
  const Dtype dtype = arguments.dtype.empty() ? Dtype::f32 : read_dtype(arguments.dtype);
  const SizeArgument size = read_size(arguments, rung);
  if (!arguments.calls.empty()) {
    call_for_a_profiler(rung, dtype, size, read_integer("--calls", arguments.calls, 1, most_calls));
    return exit_right;
  }
  return explain_on_cpu(
      rung, dtype, size,
      {read_options(arguments).results, read_json(arguments.json), !arguments.no_hardware});
}

/// Explains one launch with --grid. The words after the file are the kernel's arguments.
ExitCode explain_one_launch(const ExplainArguments& arguments) {
  LaunchArguments launch = arguments.kernel_launch;
  launch.values = arguments.program_arguments;
  require_kernel_file(arguments.what, launch);
  const bool is_metal = arguments.what.find(".metal") != arguments.what.npos;
  const analysis::ExplainOptions options = read_options(arguments, is_metal ? "m1pro" : "h200");
  return explain_launch(
      {arguments.what, arguments.include_folders, arguments.definitions, options.gpu}, launch,
      options, arguments.json, arguments.html);
}

ExitCode run(const ExplainArguments& arguments) {
  check_apart({{"--json", arguments.json}, {"--html", arguments.html}});
  const std::string& what = arguments.what;
  refuse_second_file(arguments);
  if (arguments.kernel_launch.any()) return explain_one_launch(arguments);
  if (names_kernel_file(what) && what.find(".metal") != what.npos) {
    return explain_metal(arguments, what);
  }
  if (const std::size_t colon = what.rfind(':'); colon != what.npos || what.ends_with(".cu")) {
    const std::string path = what.substr(0, colon);
    const std::string kernel = colon == what.npos ? "" : what.substr(colon + 1);
    if (is_kernel_file(path)) return explain_kernel_file(arguments, path, kernel);
    return explain_file({path, "", kernel, arguments.program_arguments, compiler_options(arguments),
                         read_options(arguments), read_json(arguments.json),
                         read_output("--html", arguments.html), arguments.baseline, ""});
  }
  if (!arguments.baseline.empty()) {
    throw UsageError("--baseline: only for your own CUDA program; rung diff compares two rungs");
  }
  const RungInfo& rung = read_rung(arguments);
  if (is_for(rung, "cpu")) {
    if (!arguments.html.empty()) {
      throw UsageError("--html: only for GPU kernels; use rung report for CPU rungs");
    }
    return explain_cpu(arguments, rung);
  }
  if (!arguments.calls.empty()) throw UsageError("--calls: only for rungs of the CPU");
  return explain_rung(arguments, rung);
}

}  // namespace

Action add_explain(Options& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  app.add_option("RUNG", arguments->what,
                 "A rung, such as gemm/cuda/02, or your own program or file with a function gemm, "
                 "dot or sum,\n"
                 "as FILE.cu, or one of its kernels, as FILE.cu:KERNEL")
      ->type_name("")
      ->required()
      ->offers(selector_words);
  app.add_option("ARGS", arguments->program_arguments,
                 "That program's arguments, after --; with --grid, the kernel's as NAME=VALUE")
      ->type_name("")
      ->may_be_empty();
  arguments->add_kernel_file(app);
  arguments->kernel_launch.add_launch(app);
  arguments->kernel_launch.add_seed(app);
  add_layout_of_file(app, arguments->layout);
  arguments->add_extents(app);
  arguments->add_dtype(app);
  arguments->add_gpu_and_code(app);
  app.add_option("--results", arguments->results,
                 "Read measured times from FILE, the JSON of rung bench")
      ->type_name("FILE");
  app.add_option(
         "--launch-time", arguments->launch,
         "Time of an empty kernel between two events on your machine, in microseconds, for\n"
         "predicted times (default: 3.5; one H200 needs 4.4)")
      ->type_name("US");
  app.add_alias("--launch", "--launch-time");
  app.add_flag("--no-hardware", arguments->no_hardware,
               "Do not run ncu or valgrind, even if they are installed");
  app.add_option("--calls", arguments->calls,
                 "Only call a CPU rung N times on one thread, for a profiler to watch: in\n"
                 "rung_counted_calls(), after one call outside of it")
      ->type_name("N");
  arguments->add_json(app);
  app.add_option("--html", arguments->html,
                 "Also write an HTML page with pictures and sources, that steps through a warp;\n"
                 "- for standard output")
      ->type_name("FILE");
  app.add_option("--baseline", arguments->baseline,
                 "Compare your program with an earlier version, from FILE, its --json")
      ->type_name("FILE");
  app.prepare([arguments](const auto& words) {
    arguments->has_dashes = std::ranges::find(words, "--") != words.end();
    return words;
  });
  app.footer(
      "Runs one tile of C on the virtual GPU for two values of k, and extrapolates to the whole\n"
      "problem (default: 4096x4096x4096; for vectors 2^24 elements, from at most 2^22). Prints:\n"
      "- the elements moved, computed from the tiles and as counted\n"
      "- the minimum time of each part of the machine\n"
      "- registers, shared memory, occupancy and instructions\n"
      "- the causes that cost most, each with the rung that removes it\n"
      "- hardware counters, if ncu and the GPU are available\n"
      "Of your own program, each kernel's causes are listed by what they cost in predicted time,\n"
      "with what to write instead; hazards come first. A file without main(), such as rung new\n"
      "writes, is called on --m x --n x --k (default: 4096x4096x4096, from tiles of smaller "
      "products,\n"
      "in Metal 1024x1024x128; for vectors 2^22 elements).\n\n"
      "Examples:\n"
      "  rung explain gemm/cuda/02\n"
      "  rung explain gemm/cuda/05 --gpu a100 --n 2048 --json explained.json\n"
      "  rung explain gemm/metal/01\n"
      "  rung explain gemm/cuda/24 --dtype bf16 --html explained.html\n"
      "  rung explain program.cu:matmul -- 512\n"
      "  rung explain my_gemm.cu --n 1024\n"
      "  rung explain scan.cu:scan --grid 264 --block 256 x=rand:67584 y=out\n"
      "  rung explain my_gemm.cu --json before.json, then --baseline before.json\n"
      "  rung explain my_gemm.metal --html explained.html");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
