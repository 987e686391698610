#include "kernel_file_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "choices.hpp"
#include "command_line.hpp"

namespace rung {

void KernelFileArguments::add_kernel_file(Options& app) {
  app.add_option("--as", as,
                 "What the function in the file computes: gemm, dot or sum (default: what its name "
                 "says)")
      ->type_name("OP");
  app.add_option("--order", order,
                 "How the file's gemm stores its matrices: row or column major (default: row)")
      ->type_name("row|column");
  app.add_option("-I", include_folders, "Look for the file's headers in DIR")
      ->type_name("DIR")
      ->one_at_a_time();
  app.add_option("-D", definitions, "Define a macro for the file")
      ->type_name("NAME[=VALUE]")
      ->one_at_a_time();
}

void add_layout_of_file(Options& app, std::string& layout) {
  app.add_option("--layout", layout,
                 "Layouts of A and B that the file's gemm takes: nn, nt, tn or tt, where t is "
                 "transposed (default: nn)")
      ->type_name("LAYOUT");
}

std::string row_major_layout(const KernelFile& file) {
  return name(file.signature.layout.row_major());
}

namespace {

/// --order and --layout, of a file whose gemm takes no strides.
MatrixLayout read_layout(const std::string& order, const std::string& layout) {
  constexpr std::array<std::string_view, 2> orders = {"row", "column"};
  if (!order.empty() && std::ranges::find(orders, order) == orders.end()) {
    throw UsageError(not_one_of("--order", order, orders));
  }
  constexpr std::array<std::string_view, 4> layouts = {"nn", "nt", "tn", "tt"};
  const std::string given = layout.empty() ? "nn" : layout;
  if (std::ranges::find(layouts, given) == layouts.end()) {
    throw UsageError(not_one_of("--layout", given, layouts));
  }
  return {order == "column", given[0] == 't', given[1] == 't'};
}

}  // namespace

KernelFile read_kernel_file(const KernelFileArguments& arguments, const std::string& path,
                            const std::string& dtype, const std::string& code,
                            const std::string& layout) {
  constexpr std::array<std::string_view, 3> ops = {"gemm", "dot", "sum"};
  constexpr std::array<std::string_view, 2> compilers = {"clang", "nvcc"};
  const auto check = [](const char* option, const std::string& value, const auto& allowed) {
    if (value.empty() || std::ranges::find(allowed, value) != allowed.end()) return;
    throw UsageError(not_one_of(option, value, allowed));
  };
  check("--as", arguments.as, ops);
  check("--code", code, compilers);
  if (!names_kernel_file(path)) {
    throw UsageError(fmt::format("FILE: '{}' does not end in .cu or .metal", path));
  }
  KernelFileRequest request{path, arguments.as, dtype, {}, code};
  for (const std::string& folder : arguments.include_folders) {
    request.options.push_back("-I" + folder);
  }
  for (const std::string& definition : arguments.definitions) {
    request.options.push_back("-D" + definition);
  }
  const MatrixLayout matrices = read_layout(arguments.order, layout);
  try {
    KernelFile file = rung::read_kernel_file(request);
    if (file.signature.op == "gemm") file.signature.layout = matrices;
    return file;
  } catch (const KernelFileError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace rung
