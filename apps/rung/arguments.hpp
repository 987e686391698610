#pragma once
// Arguments shared by commands. Values arrive as text and are parsed here, so that errors have a
// uniform form: throws UsageError, or UnavailableError for a device that is not available.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/rung.hpp"
#include "tools/measure/workload.hpp"
#include "tools/report/output_file.hpp"

namespace rung {

class Options;

/// The device, and its options.
struct DeviceArguments {
  std::string device;  // empty: the default of each rung (apps/rung/devices.hpp)
  std::string gpu = DeviceOptions().gpu;
  std::string code;
  bool observe = true;

  void add_device(Options& app);
  /// Only for the virtual GPU.
  void add_gpu_and_code(Options& app);
};

/// --threads, empty if not given, and --oversubscribe.
struct ThreadArguments {
  std::string threads;
  bool oversubscribe = false;

  void add_threads(Options& app);
  /// All processors that this process may use if empty. More than those only with --oversubscribe;
  /// otherwise a line on standard error says so.
  int thread_count() const;
};

/// The text of the shared options; empty if not given.
struct CommonArguments : DeviceArguments, ThreadArguments {
  std::vector<std::string> selectors;
  std::string dtype;
  std::string json;

  void add_selectors(Options& app, bool required);
  void add_json(Options& app);
  void add_dtype(Options& app);
  void add_device_dtype_threads(Options& app);
};

/// The options of gemm other than its sizes.
struct FormArguments {
  std::string layout = "nn";
  std::string alpha = "1";
  std::string beta = "0";

  void add_form(Options& app);
};

/// --m, --n and --k.
struct ExtentArguments {
  std::string m, n, k;

  void add_extents(Options& app);
  bool any() const { return !m.empty() || !n.empty() || !k.empty(); }
};

/// The words that shells offer for a selector ("gemm", "gemm/cpu", every rung) and for a GPU model.
std::vector<std::string> selector_words();
std::vector<std::string> gpu_words();

/// The parts of a text between separators; one, empty, for an empty text.
std::vector<std::string> split(const std::string& text, char separator);

/// select() that prints a note on stderr for each former id (core/former_ids.hpp).
std::vector<const RungInfo*> select_with_notes(const std::vector<std::string>& selectors);
/// The same; throws UsageError, with suggestions, where a selector matches nothing.
std::vector<const RungInfo*> read_selectors(const std::vector<std::string>& selectors);
Dtype read_dtype(const std::string& text);
/// The destination of an option's output; empty if `path` is empty.
std::optional<OutputFile> read_output(const std::string& option, const std::string& path);
std::optional<OutputFile> read_json(const std::string& path);

/// An option and the path that it was given; empty where not given.
struct OutputArgument {
  const char* option;
  std::string path;
};

/// Two outputs in one place would mix, or one would replace the other: throws UsageError.
void check_apart(const std::vector<OutputArgument>& outputs);

/// An integer from `least` to `most`, written as 100000000 or as 1e8.
std::int64_t read_integer(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most);
double read_number(const std::string& option, const std::string& text);
/// The time budget of a measurement.
double read_seconds(const std::string& text);

/// An entry of --sizes: N, or MxNxK.
struct SizeArgument {
  std::int64_t m, n, k;
  bool is_single;  // N: the cube of gemm, the length of dot
};

/// least: the smallest allowed extent.
std::vector<SizeArgument> read_sizes(const std::string& text, std::int64_t least);

/// Throws UsageError for operands that exceed memory, because they would be swapped or end the
/// process.
void check_memory(const std::string& op, const Size& size, Dtype dtype, std::int64_t batch = 1);

/// The same, parsed.
struct Form {
  bool a_transposed, b_transposed;
  double alpha, beta;
};

Form read_form(const FormArguments& arguments);

/// Each extent that is not given is that of the first of n, m, k that is; at least one must be
/// given.
SizeArgument read_extents(const ExtentArguments& extents);

inline constexpr std::int64_t max_extent = std::int64_t{1} << 40;

}  // namespace rung
