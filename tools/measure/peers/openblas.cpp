#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "device/cpu/machine.hpp"
#include "tools/measure/peers/cblas_peer.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/peers/peer_library.hpp"

namespace rung {
namespace {

constexpr const char* core_variable = "OPENBLAS_CORETYPE";

// The kernel sets that use the widest vectors of this CPU, preferred one first. Any of them is
// suitable; empty if unknown.
std::span<const std::string_view> fitting_cores() {
  static constexpr std::array<std::string_view, 5> cores = {"SkylakeX", "Cooperlake",
                                                            "SapphireRapids", "Haswell", "Zen"};
  const cpu::Isa isa = cpu::machine().isa;
  if (isa.contains(cpu::Isa::avx512)) return std::span(cores).first(3);
  if (isa.contains(cpu::Isa::avx2)) return std::span(cores).last(2);
  return {};
}

SharedLibrary open_library() {
  return open_peer_library("RUNG_OPENBLAS", "libopenblas.so",
                           {"libopenblas.so.0", "libopenblas.so"});
}

/// Finds a function by name; builds in Python packages add a prefix to all names.
template <class Function>
Function* find(const SharedLibrary& library, const std::string& name) {
  return library.find<Function>((CblasPeer::prefix(library) + name).c_str());
}

// OpenBLAS selects kernels by CPU model; old versions use those of a Prescott (2004) for unknown
// models. It reads its environment variable only during loading.
SharedLibrary open_with_fitting_cores() {
  SharedLibrary library = open_library();
  const auto core = find<char*()>(library, "openblas_get_corename");
  const auto fitting = fitting_cores();
  if (core == nullptr || fitting.empty()) return library;
  if (std::ranges::find(fitting, std::string_view(core())) != fitting.end()) return library;
  library.close();
  setenv(core_variable, fitting.front().data(), 1);
  return open_library();
}

class OpenBlas final : public CblasPeer {
 public:
  explicit OpenBlas(const SharedLibrary& library)
      : CblasPeer("openblas", library),
        set_num_threads_(find<void(int)>(library, "openblas_set_num_threads")) {
    if (const auto config = find<char*()>(library, "openblas_get_config")) config_ = config();
    if (const auto core = find<char*()>(library, "openblas_get_corename")) kernels_ = core();
  }

  // The configuration string is "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …".
  std::string version() const override {
    const std::size_t first = config_.find(' ') + 1;
    return config_.substr(first, config_.find(' ', first) - first);
  }
  std::string kernels() const override { return kernels_; }
  std::string note() const override {
    if (set_num_threads_ == nullptr) return "its number of threads cannot be set";
    const char* told = std::getenv(core_variable);
    return told == nullptr ? "" : std::string("does not know this CPU; told to use ") + told;
  }

 private:
  void set_threads(int threads) const override {
    if (set_num_threads_ != nullptr) set_num_threads_(threads);
  }

  void (*set_num_threads_)(int);
  std::string config_ = "OpenBLAS unknown";
  std::string kernels_ = "unknown";
};

}  // namespace

std::unique_ptr<Peer> open_openblas(std::string& why_not) {
  return open_cblas_peer<OpenBlas>(open_with_fitting_cores(), why_not);
}

}  // namespace rung
