// rung emu: runs a CUDA program on the virtual GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "arguments.hpp"
#include "command_line.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/link/object_cache.hpp"
#include "emu/compile/nvcc_options.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/conclusion.hpp"
#include "emu/reports/summary.hpp"
#include "emu/runtime/options.hpp"
#include "emu_orders.hpp"
#include "help.hpp"
#include "orders.hpp"
#include "tools/kernel_file/signature.hpp"
#include "tools/report/output_file.hpp"
#include "vgpu/model/device.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

struct EmuArguments : OrderArguments {
  std::vector<std::string> sources;
  std::vector<std::string> program_arguments;
  emu::NvccOptions nvcc;  // what was given in nvcc's form
  std::vector<std::string> include_folders, definitions;
  std::string standard, optimisation;
  std::string gpu = "h200", compiler = "clang";
  bool no_check = false, lines = false;
  std::string threads, limit, launches, devices, json;
  bool keep = false, no_cache = false;
  bool no_order = false, leak_check = false, gen_suppressions = false,
       allow_unchecked_errors = false;
  std::vector<std::string> suppressions;
  std::string error_exit_code, fail_on, junit, sarif;
};

constexpr std::int64_t max_limit = std::int64_t{1} << 50;
constexpr std::int64_t max_exit_code = 255;
constexpr std::int64_t max_threads = 1024;
constexpr std::int64_t max_devices = 16;

vgpu::DeviceDescription read_gpu(const std::string& text) {
  try {
    return vgpu::parse_device(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--gpu: {}", error.what()));
  }
}

emu::CompileOptions compile_options(const EmuArguments& arguments,
                                    const vgpu::DeviceDescription& gpu) {
  emu::NvccOptions given = arguments.nvcc;
  emu::CompileOptions& options = given.compile;
  if (arguments.compiler == "nvcc") options.nvcc = emu::find_nvcc();
  options.sources.assign(arguments.sources.begin(), arguments.sources.end());
  if (options.architecture.empty()) {
    options.architecture = fmt::format("sm_{}{}", gpu.compute_major, gpu.compute_minor);
  }
  if (!arguments.no_cache) options.cache = emu::ObjectCache::default_folder();
  emu::finish_nvcc_options(given, emu::find_clang());
  for (const std::string& folder : arguments.include_folders) {
    options.passed.push_back(fmt::format("-I{}", folder));
  }
  for (const std::string& definition : arguments.definitions) {
    options.passed.push_back(fmt::format("-D{}", definition));
  }
  if (!arguments.standard.empty()) {
    // The parser reads the compiler's usual form, -std=c++20, as -s with the value td=c++20.
    const std::size_t start = arguments.standard.starts_with("td=") ? 3 : 0;
    options.passed.push_back(fmt::format("-std={}", arguments.standard.substr(start)));
  }
  if (!arguments.optimisation.empty()) {
    options.passed.push_back(fmt::format("-O{}", arguments.optimisation));
  }
  return options;
}

fs::path compile(const EmuArguments& arguments, const vgpu::DeviceDescription& gpu,
                 const fs::path& folder) {
  try {
    return emu::compile(compile_options(arguments, gpu), emu::find_installation(),
                        emu::find_clang(), folder);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
}

std::vector<std::pair<std::string, std::string>> variables(const EmuArguments& arguments,
                                                           std::uint64_t order,
                                                           const fs::path& report) {
  return {
      {emu::gpu_variable, arguments.gpu},
      {emu::check_variable, arguments.no_check ? "0" : "1"},
      // The usual order is the same in each run on one CPU thread, with which others are compared.
      {emu::threads_variable, arguments.schedule.empty() ? arguments.threads : "1"},
      {emu::limit_variable, arguments.limit},
      {emu::launches_variable, arguments.launches},
      {emu::devices_variable, arguments.devices},
      {emu::lines_variable, arguments.lines ? "1" : "0"},
      {emu::order_variable, arguments.no_order ? "0" : "1"},
      {emu::allow_unchecked_errors_variable, arguments.allow_unchecked_errors ? "1" : ""},
      {emu::each_launch_variable, arguments.json.empty() ? "0" : "1"},
      {emu::schedule_variable, arguments.any() ? std::to_string(order) : ""},
      {emu::report_variable, report.string()}};
}

emu::ReportOptions report_options(const EmuArguments& arguments) {
  emu::ReportOptions options;
  options.leak_check = arguments.leak_check;
  options.gen_suppressions = arguments.gen_suppressions;
  for (const std::string& path : arguments.suppressions) {
    try {
      for (auto& entry : emu::read_suppressions(path)) options.suppressions.push_back(entry);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--suppressions: {}", error.what()));
    }
  }
  if (!arguments.fail_on.empty()) {
    const auto severity = emu::severity_named(arguments.fail_on);
    if (!severity) {
      throw UsageError(
          fmt::format("--fail-on: '{}' is not error, warning or note", arguments.fail_on));
    }
    options.fail_on = *severity;
  }
  if (!arguments.error_exit_code.empty()) {
    options.error_exit_code = static_cast<int>(
        read_integer("--error-exitcode", arguments.error_exit_code, 0, max_exit_code));
  }
  return options;
}

// The files that a run leaves, checked before it.
struct Outputs {
  explicit Outputs(const EmuArguments& arguments)
      : json(read_json(arguments.json)),
        junit(read_output("--junit", arguments.junit)),
        sarif(read_output("--sarif", arguments.sarif)) {
    check_apart(
        {{"--json", arguments.json}, {"--junit", arguments.junit}, {"--sarif", arguments.sarif}});
  }
  std::optional<OutputFile> json, junit, sarif;
};

std::string dump(const emu::Json& json) {
  return json.dump(2, ' ', false, emu::Json::error_handler_t::replace) + "\n";
}

void write_outputs(const Outputs& outputs, const EmuArguments& arguments,
                   const emu::Records& records, const emu::Reports& reports,
                   const emu::ExitStatus& status, const OrderResults& results) {
  if (outputs.json) {
    emu::Json json = to_json(records, reports);
    if (arguments.any()) json["schedule"] = results.json();
    outputs.json->write(dump(json));
  }
  emu::ProgramRun run;
  run.program = fs::path(arguments.sources.front()).filename().string();
  run.command = arguments.program_arguments;
  if (status.signal == 0) run.exit_code = status.code;
  run.signal = status.signal;
  run.root = emu::report_root(fs::current_path());
  run.first_source = arguments.sources.front();
  if (outputs.junit) outputs.junit->write(to_junit(reports, run));
  if (outputs.sarif) outputs.sarif->write(dump(to_sarif(reports, run)));
}

void print_end(const emu::ExitStatus& status, const emu::Records& records,
               const emu::Reports& reports, const emu::ReportOptions& options) {
  if (status.signal != 0) {
    const emu::Json ended = {{"signal", status.signal}};
    fmt::print(stderr, "rung emu: the program was ended by {}\n",
               emu::interruption(records.interrupted.is_null() ? ended : records.interrupted));
  } else if (status.code != 0) {
    fmt::print(stderr, "rung emu: the program ended with exit code {}\n", status.code);
  }
  fmt::print(stderr, "{}", reports_summary(reports, options));
  const bool has_launched = !records.launches.empty() || records.interrupted.contains("kernel");
  if (!has_launched) fmt::print(stderr, "rung emu: no kernel was launched\n");
}

ExitCode run(const EmuArguments& arguments) {
  const vgpu::DeviceDescription gpu = read_gpu(arguments.gpu);
  if (!arguments.threads.empty()) read_integer("--threads", arguments.threads, 1, max_threads);
  if (!arguments.limit.empty()) read_integer("--limit", arguments.limit, 1, max_limit);
  if (!arguments.launches.empty()) read_integer("--launches", arguments.launches, 1, max_limit);
  if (!arguments.devices.empty()) read_integer("--device-count", arguments.devices, 1, max_devices);
  if (arguments.compiler != "clang" && arguments.compiler != "nvcc") {
    throw UsageError(fmt::format("--code: '{}' is neither clang nor nvcc", arguments.compiler));
  }
  const std::vector<std::uint64_t> orders = arguments.orders();
  const emu::ReportOptions options = report_options(arguments);
  const Outputs outputs(arguments);
  for (const std::string& source : arguments.sources) {
    if (!fs::is_regular_file(source)) {
      throw UsageError(fmt::format("FILE: '{}' is not a readable file", source));
    }
  }

  const TemporaryFolder folder("rung-emu-", arguments.keep);
  if (arguments.keep) fmt::print(stderr, "rung emu: building in {}\n", folder.path().string());
  fs::path program;
  try {
    program = compile(arguments, gpu, folder.path());
  } catch (const emu::CompileError& error) {
    if (*error.what() != '\0') fmt::print(stderr, "rung emu: {}\n", error.what());
    if (arguments.sources.size() == 1 && is_kernel_file(arguments.sources.front())) {
      fmt::print(
          stderr,
          "rung emu: {} has no main(); rung check and rung explain call a function gemm, dot "
          "or sum\n",
          arguments.sources.front());
    }
    return exit_wrong;
  }
  OrderResults results(orders);
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), arguments.program_arguments.begin(),
                 arguments.program_arguments.end());
  const fs::path report = folder.path() / "report.jsonl";
  const auto run_in = [&](std::uint64_t order, const std::string& output) {
    fs::remove(report);
    const emu::ExitStatus ended =
        emu::run_with_output(command, variables(arguments, order, report), output);
    return ProgramOutcome{ended, emu::read_records(report), {}};
  };
  ProgramOutcome outcome = run_orders(orders, run_in, folder.path(), results);
  const emu::ExitStatus& status = outcome.status;
  emu::Records& records = outcome.records;
  const int asked_to_end = emu::HeldSignals::received();

  if (arguments.lines) emu::add_text(records, arguments.sources.front());
  emu::Reports reports = merge(records);
  judge(reports, options);
  const std::string text = reports_text(reports, options);
  fmt::print(stderr, "\n{}{}{}{}{}", launch_tables(records), text.empty() ? "" : "\n", text,
             failed_calls(records), summarize_lines(records, terminal_width(STDERR_FILENO)));
  fmt::print(stderr, "{}", results.text("rung emu: "));
  print_end(status, records, reports, options);
  write_outputs(outputs, arguments, records, reports, status, results);
  // A program that has ended well in spite of a signal takes it for something else.
  if (asked_to_end != 0 && status.signal != 0) throw emu::Interrupted{asked_to_end};
  const int own = status.signal != 0 ? exit_wrong : status.code;
  return static_cast<ExitCode>(judged_exit_code(own, reports, options));
}

/// True for a word that CLI11 reads: a long option, or -h, -s, -I, -D and -O. All others are nvcc's.
bool is_own(const Options& app, const std::string& word) {
  return app.kind_of(word) != Options::Kind::unknown || word == "-h" || word == "-s" ||
         word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-std=") ||
         (word.starts_with("-O") && !word.starts_with("-Ofc"));
}

bool takes_next_word(const Options& app, const std::string& word) {
  const bool has_value = word.find('=') != word.npos;
  return (!has_value && app.kind_of(word) == Options::Kind::value) || word == "-I" ||
         word == "-D" || word == "-O" || word == "-s";
}

/// Takes the words that CLI11 cannot read: nvcc's options, and the program's own arguments, which follow
/// `--` or, if that comes first, the file after it.
std::vector<std::string> take_words(const std::vector<std::string>& words, const Options& app,
                                    EmuArguments& arguments) {
  std::vector<std::string> remaining;
  bool has_file = false;
  try {
    for (std::size_t at = 0; at < words.size();) {
      const std::string& word = words[at];
      if (word == "--") {
        if (!has_file && at + 1 < words.size()) {
          remaining.push_back(word);
          remaining.push_back(words[++at]);
        }
        arguments.program_arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                           words.end());
        break;
      }
      if (is_own(app, word)) {
        remaining.push_back(word);
        if (!takes_next_word(app, words[at++]) || at == words.size()) continue;
        // -I and -D join their value in one word, so that CLI11 does not read the files after it as values.
        const bool is_list = remaining.back() == "-I" || remaining.back() == "-D";
        if (remaining.back() == "--suppressions") {
          remaining.back() += "=" + words[at++];
        } else if (is_list && !words[at].empty()) {
          remaining.back() += words[at++];
        } else {
          remaining.push_back(words[at++]);
        }
      } else if (!word.starts_with('-') || !emu::take_nvcc_option(words, at, arguments.nvcc)) {
        has_file = has_file || !word.starts_with('-');
        remaining.push_back(words[at++]);
      }
    }
  } catch (const emu::NvccUsageError& error) {
    throw UsageError(error.what());
  }
  return remaining;
}

}  // namespace

Action add_emu(Options& app) {
  auto arguments = std::make_shared<EmuArguments>();
  app.prepare([arguments, &app](const auto& words) { return take_words(words, app, *arguments); });
  app.add_option("FILE", arguments->sources,
                 "A CUDA program with kernels and main(): .cu, .cpp and .c files, objects and "
                 "libraries; the program's own arguments follow after --")
      ->type_name("")
      ->required();
  app.add_option("-I", arguments->include_folders, "Look for headers in DIR")
      ->type_name("DIR")
      ->one_at_a_time();
  app.add_option("-D", arguments->definitions, "Define a macro")
      ->type_name("NAME[=VALUE]")
      ->one_at_a_time();
  app.add_option("-O", arguments->optimisation,
                 "Optimisation level, 0 to 3 (default: 3 for device code)")
      ->type_name("N");
  app.add_option("-s,--std", arguments->standard, "C++ standard: c++17 (default), c++20, ...")
      ->type_name("STD");
  app.add_option(
         "--gpu", arguments->gpu,
         "GPU model to simulate: h200, h100, a100, t4, rtx3090 or rtx4090; override properties "
         "as in h200,multiprocessors=4")
      ->type_name("GPU")
      ->offers(gpu_words)
      ->capture_default_str();
  app.add_alias("--devices", "--device-count");
  app.add_option("--device-count", arguments->devices,
                 "Show the program N devices of this model, 1 to 16, which are peers of each other "
                 "(default: 1)")
      ->type_name("N");
  app.add_alias("--compiler", "--code");
  app.add_option("--code", arguments->compiler,
                 "Compiler of device code: clang, or nvcc with CUDA's own headers")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--no-check", arguments->no_check,
               "Disable counters and hazard detection, to run faster");
  app.add_flag("--no-order", arguments->no_order,
               "Do not check the order of kernels, copies and host accesses across streams, events "
               "and graphs");
  app.add_flag("--lines", arguments->lines, "Print counters for each source line, hottest first");
  app.add_option("--threads", arguments->threads, "Use at most N CPU threads")->type_name("N");
  app.add_option("--limit", arguments->limit, "Abort a launch after N warp instructions")
      ->type_name("N");
  app.add_option("--launches", arguments->launches,
                 "Run the first N launches of each kernel and skip the others, for programs that "
                 "repeat a kernel to measure it (default: all run)")
      ->type_name("N");
  arguments->add_orders(app);
  app.add_option("--json", arguments->json, "Write the counters and hazards of each launch as JSON")
      ->type_name("FILE");
  app.add_flag("--leak-check", arguments->leak_check,
               "Also fail a program that does not free its device memory");
  app.add_flag("--allow-unchecked-errors", arguments->allow_unchecked_errors,
               "Accept CUDA calls and launches that fail although the program neither uses their "
               "result nor calls cudaGetLastError (default: they are hazards)");
  app.add_option("--suppressions", arguments->suppressions,
                 "Ignore the reports that this file lists; may be repeated")
      ->type_name("FILE");
  app.add_flag("--gen-suppressions", arguments->gen_suppressions,
               "After the reports, print an entry for --suppressions for each");
  app.add_option("--error-exitcode", arguments->error_exit_code,
                 "Exit code if hazards were found, 1 to 255; 0 for the program's own in any case "
                 "(default: the program's own, or 1 if that is 0)")
      ->type_name("N");
  app.add_option("--fail-on", arguments->fail_on,
                 "Least severity of the reports that fail the program: error, warning or note "
                 "(default: warning)")
      ->type_name("LEVEL");
  app.add_option("--junit", arguments->junit, "Write a test case for each kernel as JUnit XML")
      ->type_name("FILE");
  app.add_option("--sarif", arguments->sarif,
                 "Write the hazards with their source lines as SARIF 2.1.0")
      ->type_name("FILE");
  app.add_flag("--no-cache", arguments->no_cache,
               "Compile everything again, also what has not changed");
  app.add_flag("--keep", arguments->keep,
               "Keep the compiled program and its PTX, and print their folder");
  app.footer(
      "Compiles the unmodified files with clang (passing on -I, -D, -O and -std), runs the "
      "program\n"
      "with the CUDA runtime API on the virtual GPU, and prints each kernel's counters and "
      "hazards\n"
      "on standard error. The exit code is the program's, or 1 if hazards were found. Leaks and\n"
      "writes of the same value are printed, but are no hazards; with --leak-check leaks are.\n"
      "Compiled objects are kept in the folder that RUNG_EMU_CACHE names. Options of\n"
      "nvcc such as -arch, -rdc=true, -Xcompiler, -L and -l are understood, too; rung-nvcc is a\n"
      "command that takes nothing else, for make NVCC=rung-nvcc. docs/environment.md lists the\n"
      "variables RUNG_EMU_* of its programs.\n\n"
      "Examples:\n  rung emu vector_add.cu\n  rung emu -I include matmul.cu --gpu a100 -- 512\n"
      "  rung emu -rdc=true main.cu kernels.cu timer.cpp -- --size 64");
  return [arguments] { return emu::with_signals_held([&] { return run(*arguments); }); };
}

}  // namespace rung
