#include "kernel_file_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "choices.hpp"
#include "command_line.hpp"
#include "emu/compile/toolchain.hpp"
#include "own_process.hpp"
#include "tools/kernel_file/file_name.hpp"

namespace rung {

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

ExitCode with_kernel_file(const Action& body) {
  try {
    return body();
  } catch (const KernelFileError& error) {
    throw UsageError(error.what());
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  } catch (const emu::CompileError& error) {
    throw std::runtime_error(*error.what() == '\0' ? "the file does not compile" : error.what());
  }
}

ExitCode with_loaded_file(const KernelFile& file, const Action& body) {
  return in_own_process(file.name(), [&] { return with_kernel_file(body); });
}

}  // namespace rung
