// rung check: verifies a kernel in the user's file, as rung verify does a rung.

#include "tools/kernel_file/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "devices.hpp"
#include "kernel_file_arguments.hpp"
#include "orders.hpp"
#include "progress.hpp"
#include "run.hpp"
#include "tools/report/json.hpp"
#include "tools/report/table.hpp"
#include "vgpu/schedule.hpp"

namespace rung {
namespace {

struct CheckArguments : CommonArguments, KernelFileArguments, OrderArguments {
  LaunchArguments kernel_launch;
  std::string file, layout;
  std::string sizes;
  std::string random = "0";
  std::string seed = "1";
};

CheckOptions read_options(const CheckArguments& arguments, const KernelFile& file) {
  CheckOptions options;
  options.device = read_device_options(arguments);
  options.device.code.clear();  // it selects the code of rungs
  const std::string& device = arguments.device;
  if (!device.empty() && device != "gpu" && device != "virtual") {
    throw unknown_choice("--device", device, "gpu", "virtual");
  }
  options.on_gpu = device == "gpu";
  options.threads = arguments.thread_count();
  if (!arguments.sizes.empty()) {
    for (const auto& [m, n, k, is_single] : read_sizes(arguments.sizes, 1)) {
      const std::string& op = file.signature.op;
      if (op != "gemm" && !is_single) throw UsageError(op + " takes only n: --sizes N");
      check_memory(op, {m, n, k}, file.signature.dtype);
      options.sizes.push_back({m, n, k});
    }
  }
  options.random = static_cast<int>(read_integer("--random", arguments.random, 0, 1'000'000));
  options.seed =
      static_cast<std::uint64_t>(read_integer("--seed", arguments.seed, 0, 1'000'000'000));
  return options;
}

std::string verdict(const KernelFile& file, const CheckReport& report) {
  if (report.wrong > 0) {
    return fmt::format("WRONG in {} of {} cases: {}", report.wrong, report.cases, report.message);
  }
  if (report.launches == 0u) {
    return fmt::format("WRONG: {} launched no kernel in {} cases", file.signature.function,
                       report.cases);
  }
  return fmt::format("right in {} cases, error {:.2f} of bound", report.cases,
                     report.max_error_ratio);
}

void print(const KernelFile& file, const CheckReport& report) {
  fmt::print("{}: {}, {} {}\non {}\n{}\n", file.name(), file.signature.function, file.signature.op,
             name(file.signature.dtype), report.device, report.code);
  for (const KernelHazard& hazard : report.hazards) {
    fmt::print("hazard: {} ({} {}, {} of {} cases, first {})\n", hazard.message, hazard.count,
               hazard.count == 1 ? "time" : "times", hazard.cases, report.cases, hazard.problem);
  }
  fmt::print("{}\n", verdict(file, report));
  if (!report.common_to_wrong.empty()) {
    fmt::print("{}", wrap(fmt::format("each wrong case has {}",
                                      fmt::join(report.common_to_wrong, ", and ")),
                          0));
  }
  if (!report.left_out.empty()) {
    fmt::print("not checked, because the signature has no parameter for it:\n{}",
               wrap(fmt::format("{}", fmt::join(report.left_out, ", ")), 2));
  }
}

Json to_json(const KernelFile& file, const CheckReport& report) {
  Json hazards = Json::array();
  for (const KernelHazard& hazard : report.hazards) {
    hazards.push_back({{"kind", hazard.kind},
                       {"message", hazard.message},
                       {"problem", hazard.problem},
                       {"count", hazard.count},
                       {"cases", hazard.cases}});
  }
  Json json = {
      {"file", file.path.string()},
      {"function", file.signature.function},
      {"op", file.signature.op},
      {"dtype", name(file.signature.dtype)},
      {"device", report.device},
      {"code", report.code},
      {"hazards", std::move(hazards)},
      {"cases", report.cases},
      {"wrong_cases", report.wrong},
      {"verified", report.right()},
      {"max_error_ratio", std::min(report.max_error_ratio, std::numeric_limits<double>::max())},
      {"left_out", report.left_out}};
  if (report.launches) json["launches"] = *report.launches;
  if (report.wrong > 0) {
    json["wrong"] = report.message;
    json["wrong_cases_have"] = report.common_to_wrong;
  }
  return json;
}

/// With --grid: checks one launch of a kernel, instead of a function's test cases.
ExitCode check_launch(const CheckArguments& arguments) {
  if (!arguments.device.empty() && arguments.device != "virtual") {
    throw UsageError(fmt::format("--device: '{}': a launch by --grid runs on the virtual GPU alone",
                                 arguments.device));
  }
  LaunchArguments launch = arguments.kernel_launch;
  launch.seed = arguments.seed;
  return run_launch(
      {arguments.file, arguments.include_folders, arguments.definitions, arguments.gpu}, launch,
      {false, true, static_cast<unsigned>(arguments.thread_count()), arguments.json,
       arguments.orders()});
}

/// The report of the first order, with the hazards and wrong cases of all others.
CheckReport check_orders(const KernelFile& file, const CheckOptions& options,
                         const std::vector<std::uint64_t>& orders, OrderResults& results) {
  const auto key_of = [](const KernelHazard& hazard) { return hazard.kind + "\n" + hazard.where; };
  CheckReport usual;
  for (const std::uint64_t order : orders) {
    vgpu::set_schedule(order);
    CheckReport one = check_kernel(file, options);
    std::vector<KernelHazard> missing;
    for (const KernelHazard& hazard : one.hazards) {
      if (results.add_hazard(order, key_of(hazard))) missing.push_back(hazard);
    }
    if (order == orders.front()) {
      usual = std::move(one);
      continue;
    }
    usual.hazards.insert(usual.hazards.end(), missing.begin(), missing.end());
    if (one.digest != usual.digest) results.add_difference(order, "results");
    if (one.wrong > 0 && usual.wrong == 0) {
      usual.wrong = one.wrong;
      usual.message = fmt::format("{}, in order {}", one.message, order);
      usual.common_to_wrong = one.common_to_wrong;
    }
  }
  for (KernelHazard& hazard : usual.hazards) hazard.message += results.found_in(key_of(hazard));
  return usual;
}

ExitCode run(const CheckArguments& arguments) {
  if (arguments.kernel_launch.any()) return check_launch(arguments);
  const KernelFile file = read_kernel_file(arguments, arguments.file, arguments.dtype,
                                           arguments.code, arguments.layout);
  CheckOptions options = read_options(arguments, file);
  const std::vector<std::uint64_t> orders = arguments.orders();
  if (orders.size() > 1) options.threads = 1;
  if (arguments.OrderArguments::any() && options.on_gpu) {
    throw UsageError(
        "--schedule and --replay choose orders of the virtual GPU, not of --device gpu");
  }
  const auto output = read_json(arguments.json);
  return with_loaded_file(file, [&] {
    if (options.on_gpu) {
      if (const auto absent = find_backend("gpu")->absent()) {
        throw UnavailableError(fmt::format("--device: 'gpu' is not available: {}", *absent));
      }
    }
    Progress progress;
    progress.show("compiling " + file.name());
    options.progress = [&](double done) {
      progress.show("checking " + file.name(), "cases", done);
    };
    OrderResults results(orders);
    const CheckReport report = check_orders(file, options, orders, results);
    progress.clear();
    if (!output || !output->is_stdout()) {
      print(file, report);
      fmt::print("{}", results.text());
    }
    if (output) {
      Json json = to_json(file, report);
      if (orders.size() > 1) json["schedule"] = results.json();
      output->write(dump(json));
    }
    return report.right() ? exit_right : exit_wrong;
  });
}

}  // namespace

Action add_check(Options& app) {
  auto arguments = std::make_shared<CheckArguments>();
  app.add_option(
         "FILE", arguments->file,
         "A CUDA file with a function gemm, dot or sum that launches your kernel, a Metal file "
         "with such a kernel, or FILE:FUNCTION with --as")
      ->type_name("")
      ->required();
  app.add_option("NAME=VALUE", arguments->kernel_launch.values,
                 "With --grid, the arguments of the file's kernel (see rung run)")
      ->type_name("")
      ->may_be_empty();
  arguments->add_kernel_file(app);
  arguments->kernel_launch.add_launch(app);
  arguments->add_orders(app);
  add_layout_of_file(app, arguments->layout);
  arguments->add_device_dtype_threads(app);
  app.add_option("--sizes", arguments->sizes, "Also check these comma-separated sizes")
      ->type_name("N|MxNxK,...");
  app.add_option("--random", arguments->random, "Also check N random problems (default: 0)")
      ->type_name("N");
  app.add_option("--seed", arguments->seed, "Seed of the random problems (default: 1)")
      ->type_name("S");
  arguments->add_json(app);
  app.footer(
      "Compiles the file, and verifies the function as rung verify does a rung: sizes around tile\n"
      "edges, NaN between the rows, alpha and beta, each element against its error bound. The\n"
      "virtual GPU, which is the default, also finds races, accesses out of bounds and reads of\n"
      "memory that was never written. These are printed first, and each fails the check. "
      "rung new\nwrites such a file.\n\n"
      "The parameters may be any of m, n, k, alpha, A, lda, B, ldb, beta, C, ldc and stream, in\n"
      "any order, of a dot product n, x, incx, y, incy, result and stream. Matrices are row-major\n"
      "unless --order says otherwise, and pointers are those of the device.\n\n"
      "Examples:\n"
      "  rung new my_gemm.cu --from gemm/cuda/04 && rung check my_gemm.cu\n"
      "  rung check my_gemm.cu --sizes 1000x300x77 --random 20\n"
      "  rung check kernels.cu:run_sgemm --as gemm --device gpu\n"
      "  rung check scan.cu:scan --grid 4 --block 256 x=rand:1024 y=out:1024 n=1024");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
