#pragma once
// Driver functions for memory of other GPUs and for streams that wait for values in memory. They
// are separate from core/cuda_driver/api.hpp, because nothing else needs them.

#include <cstdint>

#include "core/cuda_driver/api.hpp"

namespace rung::nccl {

/// CUipcMemHandle.
struct IpcHandle {
  unsigned char bytes[64];
};

/// CUstreamBatchMemOpParams of a wait or a write.
struct WordOperation {
  enum class Type : std::uint32_t { wait = 1, write = 2 };  // 32-bit operations
  enum class Flags : std::uint32_t { none = 0, until_equal = 1 };

  Type type;
  cuda::DevicePointer at;
  std::uint64_t value;
  Flags flags = Flags::none;
  cuda::DevicePointer alias = 0;
  std::uint64_t unused = 0;
};
static_assert(sizeof(WordOperation) == 48);

/// X(member, exported symbol, signature)
#define RUNG_PEER_FUNCTIONS(X)                                                             \
  X(cuIpcGetMemHandle, "cuIpcGetMemHandle",                                                \
    cuda::Result(IpcHandle* handle, cuda::DevicePointer pointer))                          \
  X(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2",                                           \
    cuda::Result(cuda::DevicePointer* pointer, IpcHandle handle, unsigned flags))          \
  X(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", cuda::Result(cuda::DevicePointer pointer)) \
  X(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess",                                        \
    cuda::Result(cuda::Context context, unsigned flags))                                   \
  X(cuStreamBatchMemOp, "cuStreamBatchMemOp_v2",                                           \
    cuda::Result(cuda::Stream stream, unsigned count, WordOperation* operations, unsigned flags))

inline constexpr unsigned ipc_lazy_peer_access = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

struct PeerApi {
#define RUNG_PEER_MEMBER(member, symbol, ...) cuda::FunctionPointer<__VA_ARGS__> member = nullptr;
  RUNG_PEER_FUNCTIONS(RUNG_PEER_MEMBER)
#undef RUNG_PEER_MEMBER
};

/// The functions of NVIDIA's driver.
const PeerApi& real_peer_api();

}  // namespace rung::nccl
