#include "bench_options.hpp"

#include <fmt/format.h>

#include <string>

#include "choices.hpp"
#include "command_line.hpp"
#include "core/compute_mode.hpp"
#include "core/dtype.hpp"

namespace rung {
namespace {

constexpr std::int64_t max_batch = 10'000'000;

/// True if the groups' rows follow a Zipf distribution.
bool read_skew(const std::string& skew) {
  if (skew.empty() || skew == "none") return false;
  if (skew == "zipf") return true;
  throw unknown_choice("--skew", skew, "none", "zipf");
}

/// The parts of --epilogue, which is the bench's own form of a product.
EpilogueParts read_epilogue(const BenchArguments& arguments) {
  EpilogueParts parts;
  if (arguments.epilogue.empty()) return parts;
  for (const std::string& part : split(arguments.epilogue, ',')) {
    if (add_part(parts, part)) continue;
    throw UsageError(fmt::format(
        "--epilogue: '{}' is not one more of bias, aux, residual and one of relu, gelu, "
        "gelu-erf, silu",
        part));
  }
  const Form form = read_form(arguments);
  if (!arguments.batch.empty() || !arguments.groups.empty() || arguments.cold || form.alpha != 1 ||
      form.beta != 0) {
    throw UsageError(
        "--epilogue: cannot be combined with --batch, --groups, --cold, --alpha or --beta");
  }
  return parts;
}

/// True if --scales asks for block scales.
bool read_scales(const BenchArguments& arguments, Dtype dtype) {
  if (arguments.scales.empty()) return false;
  if (arguments.scales != "block") {
    throw UsageError(fmt::format("--scales: '{}' is not block", arguments.scales));
  }
  if (dtype != Dtype::e4m3) throw UsageError("--scales: block needs --dtype e4m3");
  const Form form = read_form(arguments);
  if (!arguments.batch.empty() || !arguments.epilogue.empty() || arguments.cold ||
      form.alpha != 1 || form.beta != 0) {
    throw UsageError(
        "--scales: cannot be combined with --batch, --epilogue, --cold, --alpha or --beta");
  }
  return true;
}

/// The bits of packed weights; 0: none.
int read_weights(const BenchArguments& arguments, Dtype dtype) {
  if (arguments.weights.empty()) {
    if (arguments.weight_group.empty()) return 0;
    throw UsageError("--weight-group: needs --weights");
  }
  if (arguments.weights != "int8" && arguments.weights != "int4") {
    throw unknown_choice("--weights", arguments.weights, "int8", "int4");
  }
  if (unrounded(dtype) != Dtype::bf16 && unrounded(dtype) != Dtype::f16) {
    throw UsageError("--weights: needs --dtype bf16, f16, bf16-bf16 or f16-f16");
  }
  const Form form = read_form(arguments);
  if (!arguments.batch.empty() || !arguments.groups.empty() || !arguments.epilogue.empty() ||
      !arguments.scales.empty() || arguments.cold || form.alpha != 1 || form.beta != 0) {
    throw UsageError(
        "--weights: cannot be combined with --batch, --groups, --epilogue, --scales, --cold, "
        "--alpha or --beta");
  }
  return arguments.weights == "int8" ? 8 : 4;
}

int read_weight_group(const BenchArguments& arguments) {
  if (arguments.weight_group.empty() || arguments.weight_group == "128") return 128;
  if (arguments.weight_group == "64") return 64;
  throw UsageError(
      fmt::format("--weight-group: '{}' is not one of 64, 128", arguments.weight_group));
}

Family read_family(const BenchArguments& arguments, Dtype dtype) {
  const auto family = parse_family(arguments.family);
  if (!family) {
    throw unknown_choice("--family", arguments.family, "symmetric", "uniform", "normal", "wide",
                         "cancelling", "spread", "mixed");
  }
  if (*family == Family::symmetric) return *family;
  if (!arguments.batch.empty() || !arguments.groups.empty() || !arguments.epilogue.empty() ||
      !arguments.scales.empty() || !arguments.weights.empty()) {
    throw UsageError(
        "--family: cannot be combined with --batch, --groups, --epilogue, --scales or --weights");
  }
  if (!has_family(dtype, *family)) {
    throw UsageError(fmt::format("--family: {} has no '{}'", name(dtype), arguments.family));
  }
  return *family;
}

/// Sizes NxK, with the rows of all groups as m.
std::vector<SizeArgument> read_group_sizes(const BenchArguments& arguments) {
  constexpr std::int64_t most_tokens = 1 << 30;
  const std::int64_t tokens = read_integer("--tokens", arguments.tokens, 1, most_tokens);
  std::string sizes;
  for (const std::string& size : split(arguments.sizes, ',')) {
    if (split(size, 'x').size() != 2) {
      throw UsageError(fmt::format("--sizes: '{}' is not NxK, as --groups needs it", size));
    }
    sizes += fmt::format("{}{}x{}", sizes.empty() ? "" : ",", tokens, size);
  }
  return read_sizes(sizes, 1);
}

}  // namespace

void check_no_random(const RandomArguments& arguments) {
  const auto require = [](bool given, const char* option) {
    if (given) throw UsageError(fmt::format("{}: needs --random", option));
  };
  require(!arguments.seed.empty(), "--seed");
  require(!arguments.max_size.empty(), "--max-size");
  if (arguments.regret) throw UsageError("--regret: needs --random or --sizes");
}

void check_groups(const BenchArguments& arguments) {
  const bool has_groups = !arguments.groups.empty();
  if (!has_groups && !arguments.skew.empty()) throw UsageError("--skew: needs --groups");
  if (has_groups != !arguments.tokens.empty()) {
    throw UsageError("--groups and --tokens: each needs the other");
  }
  if (!has_groups) return;
  const Form form = read_form(arguments);
  if (!arguments.batch.empty() || arguments.cold || form.a_transposed || form.alpha != 1 ||
      form.beta != 0) {
    throw UsageError(
        "--groups: cannot be combined with --batch, --cold, --alpha, --beta or a transposed A");
  }
  if (arguments.sizes.empty()) throw UsageError("--groups: needs --sizes NxK,...");
}

ComputeMode read_mode(const BenchArguments& arguments) {
  const auto mode = parse_compute_mode(arguments.math);
  if (mode) return *mode;
  throw unknown_choice("--math", arguments.math, "standard", "split", "reproducible",
                       "batch_invariant");
}

WorkloadOptions read_options(const BenchArguments& arguments) {
  WorkloadOptions options;
  options.dtype = arguments.dtype.empty() ? Dtype::f32 : read_dtype(arguments.dtype);
  options.threads = arguments.thread_count();
  const Form form = read_form(arguments);
  options.a_transposed = form.a_transposed;
  options.b_transposed = form.b_transposed;
  options.alpha = form.alpha;
  options.beta = form.beta;
  options.cold = arguments.cold;
  if (!arguments.groups.empty()) {
    options.groups = read_integer("--groups", arguments.groups, 1, max_batch);
    options.zipf = read_skew(arguments.skew);
  }
  options.epilogue = read_epilogue(arguments);
  if (options.epilogue != EpilogueParts{} && is_integer(options.dtype)) {
    throw UsageError("--epilogue: needs a --dtype of floating-point numbers");
  }
  options.block_scales = read_scales(arguments, options.dtype);
  options.weight_bits = read_weights(arguments, options.dtype);
  options.weight_group = read_weight_group(arguments);
  options.compute_mode = read_mode(arguments);
  options.family = read_family(arguments, options.dtype);
  return options;
}

std::vector<SizeArgument> read_all_sizes(const BenchArguments& arguments) {
  if (!arguments.sizes.empty() && arguments.any()) {
    throw UsageError("--sizes: cannot be combined with --m, --n or --k");
  }
  if (arguments.any()) return {read_extents(arguments)};
  if (!arguments.groups.empty()) return read_group_sizes(arguments);
  if (!arguments.sizes.empty()) return read_sizes(arguments.sizes, 1);
  return {};
}

std::vector<std::int64_t> read_batches(const BenchArguments& arguments, std::size_t sizes) {
  if (arguments.batch.empty()) return std::vector<std::int64_t>(sizes, 1);
  std::vector<std::int64_t> batches;
  for (const std::string& batch : split(arguments.batch, ',')) {
    batches.push_back(read_integer("--batch", batch, 1, max_batch));
  }
  const std::size_t given = batches.size();
  if (given == 1) batches.resize(sizes, batches.front());
  if (batches.size() == sizes) return batches;
  throw UsageError(fmt::format("--batch: {} numbers for {} {}; give one for each, or one", given,
                               sizes, sizes == 1 ? "size" : "sizes"));
}

}  // namespace rung
