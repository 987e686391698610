// rung new: writes a CUDA or Metal file to start a kernel from.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "tools/kernel_file/kernel_file.hpp"
#include "tools/kernel_file/starter.hpp"

namespace rung {
namespace {

struct NewArguments {
  std::string file, from, as, dtype;
  bool force = false;
};

std::string text_from(const NewArguments& arguments, const std::string& file, bool is_metal) {
  if (!arguments.as.empty()) throw UsageError("--as: cannot be combined with --from");
  const auto rungs = read_selectors({arguments.from});
  if (rungs.size() != 1) {
    throw UsageError(
        fmt::format("--from: '{}' selects {} rungs; one is allowed", arguments.from, rungs.size()));
  }
  const std::string language = is_metal ? "metal" : "cuda";
  if (rungs.front()->backend != language) {
    throw UsageError(fmt::format("--from: '{}' is a rung of {}; {} starts from one of {}",
                                 arguments.from, rungs.front()->backend, file, language));
  }
  std::optional<Dtype> dtype;
  if (!arguments.dtype.empty()) dtype = read_dtype(arguments.dtype);
  try {
    return starter_from(*rungs.front(), dtype, file);
  } catch (const KernelFileError& error) {
    throw UsageError(error.what());
  }
}

std::string plain_text(const NewArguments& arguments, bool is_metal) {
  constexpr std::array<std::string_view, 3> ops = {"gemm", "dot", "sum"};
  if (!arguments.dtype.empty())
    throw UsageError("--dtype: chooses a kernel of --from, and needs it");
  const std::string op = arguments.as.empty() ? "gemm" : arguments.as;
  if (std::ranges::find(ops, op) == ops.end()) {
    throw UsageError(not_one_of("--as", op, ops));
  }
  return plain_starter(op, is_metal);
}

ExitCode run(const NewArguments& arguments) {
  const std::filesystem::path path = arguments.file;
  const std::string file = path.filename().string();
  const bool is_metal = path.extension() == ".metal";
  if ((path.extension() != ".cu" && !is_metal) || path.stem().empty()) {
    throw UsageError(fmt::format("FILE: '{}' does not end in .cu or .metal", arguments.file));
  }
  const std::string text = arguments.from.empty() ? plain_text(arguments, is_metal)
                                                  : text_from(arguments, file, is_metal);
  if (std::filesystem::exists(path) && !arguments.force) {
    throw UsageError(fmt::format("FILE: '{}' exists; --force replaces it", arguments.file));
  }
  read_output("FILE", arguments.file)->write(text);
  fmt::print("{}: try rung check {}\n", arguments.file, arguments.file);
  return exit_right;
}

}  // namespace

Action add_new(Options& app) {
  auto arguments = std::make_shared<NewArguments>();
  app.add_option("FILE", arguments->file, "The file to write, such as my_gemm.cu or my_gemm.metal")
      ->type_name("")
      ->required();
  app.add_option(
         "--from", arguments->from,
         "Start from the kernel of a rung, such as gemm/cuda/04 or gemm/metal/04 (default: from "
         "a plain kernel)")
      ->type_name("RUNG")
      ->offers(selector_words);
  app.add_option("--as", arguments->as,
                 "What a plain kernel computes: gemm, dot or sum (default: gemm)")
      ->type_name("OP");
  app.add_option("--dtype", arguments->dtype,
                 "Element type of the kernel of --from (default: the first that it has)")
      ->type_name("T");
  app.add_flag("--force", arguments->force, "Replace a file that exists");
  app.footer(
      "Writes a complete CUDA file: a kernel, and the function that launches it, which rung "
      "check,\n"
      "explain, trace and bench call. Of a Metal file they dispatch the kernel itself. It passes\n"
      "rung check as it is.\n\n"
      "Examples:\n"
      "  rung new my_gemm.cu --from gemm/cuda/04\n"
      "  rung new my_gemm.metal --from gemm/metal/04\n"
      "  rung new my_dot.cu --as dot\n"
      "  rung new wmma.cu --from gemm/cuda/20 --dtype f16");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
