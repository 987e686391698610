#include "measure/peers/cblas_peer.hpp"
#include "measure/peers/open.hpp"

namespace rung {
namespace {

class OpenBlas final : public CblasPeer {
 public:
  explicit OpenBlas(const SharedLibrary& library)
      : CblasPeer("openblas", library),
        set_num_threads_(library.find<void(int)>("openblas_set_num_threads")) {
    if (const auto config = library.find<char*()>("openblas_get_config")) config_ = config();
    if (const auto core = library.find<char*()>("openblas_get_corename")) kernels_ = core();
  }

  // The configuration reads "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …".
  std::string version() const override {
    const std::size_t first = config_.find(' ') + 1;
    return config_.substr(first, config_.find(' ', first) - first);
  }
  std::string kernels() const override { return kernels_; }
  std::string note() const override {
    return set_num_threads_ == nullptr ? "its number of threads cannot be set" : "";
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
  return open_cblas_peer<OpenBlas>(
      SharedLibrary("RUNG_OPENBLAS", {"libopenblas.so.0", "libopenblas.so"}), why_not);
}

}  // namespace rung
