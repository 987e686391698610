#include "measure/peers/cblas_peer.hpp"
#include "measure/peers/open.hpp"

namespace rung {
namespace {

// MKLVersion of mkl_types.h.
struct MklVersion {
  int major;
  int minor;
  int update;
  char* status;
  char* build;
  char* processor;
  char* platform;
};

class Mkl final : public CblasPeer {
 public:
  explicit Mkl(const SharedLibrary& library)
      : CblasPeer("mkl", library),
        set_num_threads_(library.find<void(int)>("MKL_Set_Num_Threads")) {
    if (const auto query = library.find<void(MklVersion*)>("MKL_Get_Version")) {
      MklVersion found{};
      query(&found);
      version_ = std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
                 std::to_string(found.update);
      kernels_ = found.processor;
      kernels_ = kernels_.substr(0, kernels_.find(" with "));  // a list of features follows
    }
  }

  std::string version() const override { return version_; }
  std::string kernels() const override { return kernels_; }

 private:
  void set_threads(int threads) const override {
    if (set_num_threads_ != nullptr) set_num_threads_(threads);
  }

  void (*set_num_threads_)(int);
  std::string version_ = "unknown";
  std::string kernels_ = "unknown";
};

}  // namespace

std::unique_ptr<Peer> open_mkl(std::string& why_not) {
  return open_cblas_peer<Mkl>(
      SharedLibrary("RUNG_MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}), why_not);
}

}  // namespace rung
