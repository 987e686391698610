#include "measure/peers/peer.hpp"

#include <array>
#include <cstdlib>

#include "measure/peers/open.hpp"

namespace rung {
namespace {

constexpr std::array kinds = {
    PeerKind{"openblas", "libopenblas0-pthread", "RUNG_OPENBLAS", open_openblas},
    PeerKind{"blis", "libblis4-pthread", "RUNG_BLIS", open_blis},
    PeerKind{"onednn", "libdnnl2 (Debian 12) or libdnnl3 (Ubuntu 24.04)", "RUNG_ONEDNN",
             open_onednn},
    PeerKind{"mkl", "libmkl-rt (non-free, multiverse)", "RUNG_MKL", open_mkl},
};

// They choose older kernels, fewer threads, or threads that are pinned or never sleep.
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
};

}  // namespace

std::span<const PeerKind> peer_kinds() { return kinds; }

std::vector<std::string> clear_harmful_environment() {
  std::vector<std::string> cleared;
  for (const char* name : harmful) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    cleared.push_back(std::string(name) + "=" + value);
    unsetenv(name);
  }
  return cleared;
}

}  // namespace rung
