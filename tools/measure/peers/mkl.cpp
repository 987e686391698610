#include <filesystem>

#include "tools/measure/peers/cblas_peer.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/peers/peer_library.hpp"

namespace rung {
namespace {

// MKLVersion in mkl_types.h.
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
    use_gnu_threads(library);
    if (const auto query = library.find<void(MklVersion*)>("MKL_Get_Version")) {
      MklVersion found{};
      query(&found);
      version_ = std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
                 std::to_string(found.update);
      kernels_ = found.processor;
      kernels_ = kernels_.substr(0, kernels_.find(" with "));  // followed by a list of features
    }
  }

  std::string version() const override { return version_; }
  std::string kernels() const override { return kernels_; }

 private:
  // Intel's OpenMP runtime spins for 200 ms after a call, which disturbs the measurement of the
  // next contender, and is a separate package. MKL requires that this is the first call.
  void use_gnu_threads(const SharedLibrary& library) const {
    const std::filesystem::path rt = path();  // "…/libmkl_rt.so.3"
    std::error_code error;
    const bool is_there = std::filesystem::exists(
        rt.parent_path() / ("libmkl_gnu_thread.so" + rt.extension().string()), error);
    const auto set_layer = library.find<int(int)>("MKL_Set_Threading_Layer");
    constexpr int gnu = 3;  // MKL_THREADING_GNU of mkl_service.h
    if (is_there && set_layer != nullptr) set_layer(gnu);
  }

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
      open_peer_library("RUNG_MKL", "libmkl_rt.so",
                        {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}),
      why_not);
}

}  // namespace rung
