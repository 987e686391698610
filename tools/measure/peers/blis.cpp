#include <cstdlib>

#include "device/cpu/machine.hpp"
#include "tools/measure/peers/cblas_peer.hpp"
#include "tools/measure/peers/open.hpp"

namespace rung {
namespace {

class Blis final : public CblasPeer {
 public:
  explicit Blis(const SharedLibrary& library)
      : CblasPeer("blis", library),
        set_num_threads_(library.find<void(std::int64_t)>("bli_thread_set_num_threads")) {
    if (const auto query = library.find<const char*()>("bli_info_get_version_str")) {
      version_ = query();
    }
    choose_kernels(library);
  }

  std::string version() const override { return version_; }
  std::string kernels() const override { return kernels_; }
  std::string note() const override { return note_; }

 private:
  // If a virtual machine hides the CPU's model name, BLIS 0.x uses AVX2 kernels on a CPU with
  // AVX-512. It reads BLIS_ARCH_TYPE during initialization, and aborts if queried before.
  void choose_kernels(const SharedLibrary& library) {
    const bool has_avx512 = cpu::machine().isa.contains(cpu::Isa::avx512);
    if (has_avx512 && version_.starts_with("0.")) {
      constexpr const char* skx = "0";  // BLIS_ARCH_SKX in every 0.x
      setenv("BLIS_ARCH_TYPE", skx, 1);
      note_ = "told to use its AVX-512 kernels; its AVX2 ones can be faster where M or N is small";
    }
    if (const auto init = library.find<void()>("bli_init")) init();
    const auto query = library.find<int()>("bli_arch_query_id");
    const auto string = library.find<const char*(int)>("bli_arch_string");
    if (query != nullptr && string != nullptr) kernels_ = string(query());
    if (has_avx512) unsetenv("BLIS_ARCH_TYPE");  // AOCL-BLAS has other numbers
  }

  void set_threads(int threads) const override {
    if (set_num_threads_ != nullptr) set_num_threads_(threads);
  }

  void (*set_num_threads_)(std::int64_t);
  std::string version_ = "unknown";
  std::string kernels_ = "unknown";
  std::string note_;
};

}  // namespace

std::unique_ptr<Peer> open_blis(std::string& why_not) {
  return open_cblas_peer<Blis>(
      SharedLibrary("RUNG_BLIS", {"libblis.so.4", "libblis.so.3", "libblis.so"}), why_not);
}

}  // namespace rung
