#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "choices.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "device/cpu/machine.hpp"

namespace rung {
namespace {

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> names_of_dtypes() {
  std::vector<std::string_view> names;
  for (const Dtype dtype : all_dtypes) names.push_back(name(dtype));
  return names;
}

/// All that may select rungs, the shortest first: "gemm", "gemm/cuda", "gemm/cuda/04" and
/// "gemm/cuda/04_thread_tile".
std::vector<std::string> all_selectors() {
  std::vector<std::string> all;
  for (const RungInfo& rung : catalog()) {
    const std::string ladder = rung.op + "/" + rung.backend;
    all.insert(all.end(), {rung.op, ladder, rung.id});
    if (rung.is_on_ladder()) all.push_back(rung.id.substr(0, ladder.size() + 3));
  }
  std::ranges::stable_sort(all, {}, &std::string::size);
  return all;
}

template <class Names>
std::vector<std::string> words_of(const Names& names) {
  return {names.begin(), names.end()};
}

}  // namespace

std::vector<std::string> selector_words() {
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  };
  for (const RungInfo& rung : catalog()) {
    for (const std::string& word : {rung.op, rung.op + "/" + rung.backend, rung.id}) add(word);
  }
  return words;
}

std::vector<std::string> gpu_words() {
  return {"h200",    "h100", "a100",  "t4",    "rtx3090", "rtx4090", "b200",
          "rtx5090", "m1",   "m1pro", "m2max", "m3",      "m4max"};
}

void CommonArguments::add_selectors(Options& app, bool required) {
  auto* option = app.add_option(
      "SELECTOR", selectors,
      "An op, ladder, rung or kernel of the library: op, op/backend, op/backend/NN or "
      "op/backend/NAME, such as gemm/cpu/05 or gemm/cuda/skinny");
  option->type_name("")->offers(selector_words);
  if (required) option->required();
}

void CommonArguments::add_json(Options& app) {
  app.add_option("--json", json, "Write JSON to FILE; - for standard output")->type_name("FILE");
}

void CommonArguments::add_dtype(Options& app) {
  app.add_option("--dtype", dtype,
                 fmt::format("Element type: one of {}", fmt::join(names_of_dtypes(), ", ")))
      ->type_name("T")
      ->offers([] { return words_of(names_of_dtypes()); });
}

void DeviceArguments::add_device(Options& app) {
  app.add_option(
         "--device", device,
         "Device: cpu, gpu or virtual (default: cpu for cpu rungs; for others gpu, or virtual if "
         "there is none)")
      ->type_name("D")
      ->offers([] { return words_of(device_names); });
  add_gpu_and_code(app);
  app.add_flag_callback(
      "--unobserved", [this] { observe = false; },
      "Disable counters and hazard detection on the virtual GPU, which then runs faster");
}

void DeviceArguments::add_gpu_and_code(Options& app) {
  app.add_option("--gpu", gpu,
                 "GPU model to simulate: h200, h100, a100, t4, rtx3090, rtx4090, b200, rtx5090, "
                 "m1, m1pro, m2max, m3, m4max or custom; override "
                 "properties as in t4,multiprocessors=8 (default: h200; for metal rungs m1pro, for "
                 "trace and explain of rungs of sm_100a b200)")
      ->type_name("GPU")
      ->offers(gpu_words);
  app.add_alias("--compiler", "--code");
  app.add_option("--code", code,
                 "Form of CUDA kernels: PTX by clang or nvcc, or cubin (default: the best that is "
                 "available)")
      ->type_name("C");
}

void CommonArguments::add_device_dtype_threads(Options& app) {
  add_device(app);
  add_dtype(app);
  add_threads(app);
}

void ThreadArguments::add_threads(Options& app) {
  app.add_option("--threads", threads, "Use at most N CPU threads (default: all processors)")
      ->type_name("N");
  app.add_flag("--oversubscribe", oversubscribe,
               "Allow --threads to exceed the processors, up to 1024");
}

int ThreadArguments::thread_count() const {
  const int processors = cpu::available_threads();
  if (threads.empty()) return processors;
  const auto wanted = static_cast<int>(read_integer("--threads", threads, 1, 1024));
  if (wanted <= processors || oversubscribe) return wanted;
  fmt::print(stderr,
             "--threads: {} exceeds the {} processor{} of this process; using {} "
             "(--oversubscribe uses {})\n",
             wanted, processors, processors == 1 ? "" : "s", processors, wanted);
  return processors;
}

void FormArguments::add_form(Options& app) {
  app.add_option("--layout", layout, "Layouts of A and B: nn, nt, tn or tt, where t is transposed")
      ->type_name("AB")
      ->capture_default_str();
  app.add_option("--alpha", alpha, "Scale of the product: C = alpha A B + beta C")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--beta", beta, "Scale of C; see --alpha")->type_name("X")->capture_default_str();
}

void ExtentArguments::add_extents(Options& app) {
  app.add_option("--m", m, "Rows of A and C")->type_name("N");
  app.add_option("--n", n, "Columns of B and C; the length of dot")->type_name("N");
  app.add_option("--k", k, "Columns of A and rows of B")->type_name("N");
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

std::vector<const RungInfo*> select_with_notes(const std::vector<std::string>& selectors) {
  const std::vector<const RungInfo*> rungs = select(selectors);
  for (const auto& [former, id] : former_ids_in(selectors)) {
    fmt::print(stderr, "{} is now {}\n", former, id);
  }
  return rungs;
}

std::vector<const RungInfo*> read_selectors(const std::vector<std::string>& selectors) {
  try {
    return select_with_notes(selectors);
  } catch (const std::invalid_argument& error) {
    std::string message = error.what();
    const std::vector<std::string> all = all_selectors();
    const std::vector<std::string_view> known(all.begin(), all.end());
    for (const std::string& selector : selectors) {
      if (!message.starts_with("'" + selector + "'")) continue;
      const std::string file = selector + ".cu";
      message += std::filesystem::exists(file) ? fmt::format("; did you mean the file '{}'?", file)
                                               : did_you_mean(selector, known);
    }
    throw UsageError(message);
  }
}

Dtype read_dtype(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  throw UsageError(not_one_of("--dtype", text, names_of_dtypes()));
}

std::optional<OutputFile> read_output(const std::string& option, const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return OutputFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(option + ": " + error.what());
  }
}

void check_apart(const std::vector<OutputArgument>& outputs) {
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return path == "-"
               ? std::filesystem::path(path)
               : std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
  };
  for (auto first = outputs.begin(); first != outputs.end(); ++first) {
    for (auto second = first + 1; second != outputs.end(); ++second) {
      if (first->path.empty() || second->path.empty()) continue;
      if (place(first->path) != place(second->path)) continue;
      throw UsageError(
          fmt::format("{} and {}: both are written to {}", first->option, second->option,
                      first->path == "-" ? "standard output" : fmt::format("'{}'", second->path)));
    }
  }
}

std::optional<OutputFile> read_json(const std::string& path) { return read_output("--json", path); }

std::int64_t read_integer(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  const std::optional<double> value = parse_number(text);
  const bool fits = value && *value == std::floor(*value) && *value >= static_cast<double>(least) &&
                    *value <= static_cast<double>(most);
  if (!fits) {
    throw UsageError(
        fmt::format("{}: '{}' is not an integer from {} to {}", option, text, least, most));
  }
  return static_cast<std::int64_t>(*value);
}

double read_number(const std::string& option, const std::string& text) {
  if (const auto value = parse_number(text)) return *value;
  throw UsageError(fmt::format("{}: '{}' is not a finite number", option, text));
}

double read_seconds(const std::string& text) {
  const double seconds = read_number("--seconds", text);
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw UsageError(
      fmt::format("--seconds: '{}' is not a number of seconds above 0, at most 3600", text));
}

std::vector<SizeArgument> read_sizes(const std::string& text, std::int64_t least) {
  std::vector<SizeArgument> sizes;
  for (const std::string& entry : split(text, ',')) {
    const std::vector<std::string> parts = split(entry, 'x');
    const bool has_empty_part = std::ranges::find(parts, "") != parts.end();
    if ((parts.size() != 1 && parts.size() != 3) || has_empty_part) {
      throw UsageError(fmt::format("--sizes: '{}' is not N or MxNxK", entry));
    }
    std::vector<std::int64_t> extents;
    for (const std::string& extent : parts) {
      extents.push_back(read_integer("--sizes", extent, least, max_extent));
    }
    extents.resize(3, extents.front());
    sizes.push_back({extents[0], extents[1], extents[2], parts.size() == 1});
  }
  return sizes;
}

void check_memory(const std::string& op, const Size& size, Dtype dtype, std::int64_t batch) {
  const auto area = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
  };
  const auto& [m, n, k] = size;
  const double in = static_cast<double>(input_bytes(dtype));
  const double out = static_cast<double>(output_bytes(dtype));
  const bool is_gemm = op == "gemm";
  const double of_one =
      is_gemm ? (area(m, k) + area(k, n)) * in + area(m, n) * out : 2 * static_cast<double>(n) * in;
  const double bytes = static_cast<double>(batch) * of_one;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0.8 * memory) return;
  throw UsageError(
      fmt::format("{} {}: the operands take {:.3g} GB, but this machine has {:.3g} GB of memory",
                  op, is_gemm ? fmt::format("{}x{}x{}", m, n, k) : fmt::format("{}", n),
                  bytes * 1e-9, memory * 1e-9));
}

Form read_form(const FormArguments& arguments) {
  const std::string& layout = arguments.layout;
  if (layout != "nn" && layout != "nt" && layout != "tn" && layout != "tt") {
    throw unknown_choice("--layout", layout, "nn", "nt", "tn", "tt");
  }
  return {layout[0] == 't', layout[1] == 't', read_number("--alpha", arguments.alpha),
          read_number("--beta", arguments.beta)};
}

SizeArgument read_extents(const ExtentArguments& extents) {
  const auto read = [](const std::string& option, const std::string& text) {
    return text.empty() ? 0 : read_integer(option, text, 1, max_extent);
  };
  const std::int64_t m = read("--m", extents.m);
  const std::int64_t n = read("--n", extents.n);
  const std::int64_t k = read("--k", extents.k);
  const std::int64_t first = n != 0 ? n : m != 0 ? m : k;
  const bool is_single = m == 0 && k == 0;
  return {m != 0 ? m : first, n != 0 ? n : first, k != 0 ? k : first, is_single};
}

}  // namespace rung
