#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "command.hpp"
#include "device/cpu/machine.hpp"

namespace rung {
namespace {

constexpr std::array devices = {"cpu", "gpu", "virtual"};

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t stop = text.find(separator, start);
    parts.push_back(text.substr(start, stop - start));
    if (stop == std::string::npos) return parts;
    start = stop + 1;
  }
}

}  // namespace

void CommonArguments::add_selectors(CLI::App& app, bool required) {
  auto* option = app.add_option("SELECTOR", selectors,
                                "op, op/backend or op/backend/NN: gemm, dot/cpu, gemm/cpu/05");
  option->type_name("");
  if (required) option->required();
}

void CommonArguments::add_json(CLI::App& app) {
  app.add_option("--json", json, "Write JSON to a file, or to standard output for -")
      ->type_name("FILE");
}

void CommonArguments::add_device_dtype_threads(CLI::App& app) {
  app.add_option("--device", device, "cpu, gpu or virtual")->type_name("D")->capture_default_str();
  app.add_option("--dtype", dtype, "f32, f64, i32, bf16 or f16")->type_name("T");
  app.add_option("--threads", threads, "At most so many threads (default: all processors)")
      ->type_name("N");
}

std::vector<const RungInfo*> read_selectors(const std::vector<std::string>& selectors) {
  try {
    return select(selectors);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

const Backend& read_device(const std::string& text) {
  if (std::find(devices.begin(), devices.end(), text) == devices.end()) {
    throw UsageError(
        fmt::format("--device: '{}' is not one of {}", text, fmt::join(devices, ", ")));
  }
  const Backend* backend = find_backend(text);
  if (backend == nullptr) {
    throw UnavailableError(fmt::format("--device: '{}' is not built into this program", text));
  }
  return *backend;
}

Dtype read_dtype(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string_view> names;
  for (const Dtype dtype : all_dtypes) names.push_back(name(dtype));
  throw UsageError(fmt::format("--dtype: '{}' is not one of {}", text, fmt::join(names, ", ")));
}

int read_threads(const std::string& text) {
  if (text.empty()) return cpu::machine().threads;
  return static_cast<int>(read_integer("--threads", text, 1, 1024));
}

std::optional<OutputFile> read_json(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return OutputFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(std::string("--json: ") + error.what());
  }
}

std::int64_t read_integer(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  const std::optional<double> value = parse_number(text);
  const bool fits = value && *value == std::floor(*value) && *value >= static_cast<double>(least) &&
                    *value <= static_cast<double>(most);
  if (!fits) {
    throw UsageError(
        fmt::format("{}: '{}' is not a whole number from {} to {}", option, text, least, most));
  }
  return static_cast<std::int64_t>(*value);
}

double read_number(const std::string& option, const std::string& text) {
  if (const auto value = parse_number(text)) return *value;
  throw UsageError(fmt::format("{}: '{}' is not a finite number", option, text));
}

std::vector<SizeArgument> read_sizes(const std::string& text, std::int64_t least) {
  std::vector<SizeArgument> sizes;
  for (const std::string& entry : split(text, ',')) {
    std::vector<std::int64_t> extents;
    for (const std::string& extent : split(entry, 'x')) {
      extents.push_back(read_integer("--sizes", extent, least, max_extent));
    }
    if (extents.size() == 1) {
      sizes.push_back({extents[0], extents[0], extents[0], true});
    } else if (extents.size() == 3) {
      sizes.push_back({extents[0], extents[1], extents[2], false});
    } else {
      throw UsageError(fmt::format("--sizes: '{}' is neither N nor MxNxK", entry));
    }
  }
  return sizes;
}

}  // namespace rung
