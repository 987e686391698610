#include "tools/measure/peers/peer.hpp"

#include <array>
#include <cstdlib>

#include "tools/measure/peers/open.hpp"

namespace rung {
namespace {

using OpenOnCpu = std::unique_ptr<Peer> (*)(std::string& why_not);

template <OpenOnCpu open>
std::unique_ptr<Peer> on_cpu(const Backend& /*backend*/, std::string& why_not) {
  return open(why_not);
}

constexpr const char* cublas_package =
    "package libcublas-13-0 (NVIDIA's repository) or libcublas11";

constexpr std::array kinds = {
    PeerKind{"openblas", "cpu", "package libopenblas0-pthread or `make peers`", "RUNG_OPENBLAS",
             on_cpu<open_openblas>},
    PeerKind{"blis", "cpu", "package libblis4-pthread", "RUNG_BLIS", on_cpu<open_blis>},
    PeerKind{"aocl", "cpu", "`make peers`", "RUNG_AOCL", on_cpu<open_aocl>},
    PeerKind{"onednn", "cpu",
             "package libdnnl2 (Debian 12) or libdnnl3 (Ubuntu 24.04), or `make peers`",
             "RUNG_ONEDNN", on_cpu<open_onednn>},
    PeerKind{"mkl", "cpu", "`make peers` or package libmkl-rt (non-free, multiverse)", "RUNG_MKL",
             on_cpu<open_mkl>},
    PeerKind{"cublas", "gpu", cublas_package, "RUNG_CUBLAS", open_cublas},
    PeerKind{"cublaslt", "gpu", cublas_package, "RUNG_CUBLASLT", open_cublaslt},
    PeerKind{"cub", "gpu", "package nvidia-cuda-toolkit, by make cub", "RUNG_CUB", open_cub},
};

// Variables that distort measurements: they select older kernels or fewer threads, pin threads,
// keep them from sleeping, or print logs.
constexpr std::array harmful = {
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_MAIN_FREE",
    "GOTO_NUM_THREADS",
    "OPENBLAS_THREAD_TIMEOUT",
    "BLIS_ARCH_TYPE",
    "BLIS_NUM_THREADS",
    "BLIS_JC_NT",
    "BLIS_PC_NT",
    "BLIS_IC_NT",
    "BLIS_JR_NT",
    "BLIS_IR_NT",
    "DNNL_MAX_CPU_ISA",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_VERBOSE",
    "ONEDNN_VERBOSE",
    "MKL_NUM_THREADS",
    "MKL_DYNAMIC",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_VERBOSE",
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
    "OMP_DYNAMIC",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_SPINCOUNT",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUBLAS_LOGINFO_DBG",
    "CUBLASLT_LOG_LEVEL",
};

struct Variable {
  const char* name;
  const char* value;
};

// The spinning time of idle threads in OpenBLAS (2^22 ticks of the time-stamp counter, about 2 ms)
// and in MKL's OpenMP library (ms). The defaults are 100 and 200 ms, during which they occupy CPUs
// needed by the next contender. Calls of a sample are only microseconds apart.
constexpr std::array short_spins = {
    Variable{"OPENBLAS_THREAD_TIMEOUT", "22"},
    Variable{"KMP_BLOCKTIME", "2"},
};

}  // namespace

std::span<const PeerKind> peer_kinds() { return kinds; }

std::unique_ptr<Peer> open_peer(const PeerKind& kind, const Backend& backend,
                                std::string& why_not) {
  if (const auto absent = backend.absent()) {
    why_not = *absent;
    return nullptr;
  }
  auto peer = kind.open(backend, why_not);
  if (peer == nullptr) why_not += "; it comes with " + std::string(kind.package);
  return peer;
}

std::vector<std::string> prepare_environment() {
  std::vector<std::string> cleared;
  for (const char* name : harmful) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    cleared.push_back(std::string(name) + "=" + value);
    unsetenv(name);
  }
  for (const auto& [name, value] : short_spins) setenv(name, value, 1);
  return cleared;
}

}  // namespace rung
