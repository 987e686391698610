#pragma once
// The driver's functions for memory of other GPUs, and for streams that wait for values in memory:
// those that src/cuda_driver/api.hpp lacks, because nothing else needs them.

#include <cstdint>

#include "cuda_driver/api.hpp"

namespace rung::nccl {

/// CUipcMemHandle.
struct IpcHandle {
  unsigned char bytes[64];
};

/// X(member, exported symbol, signature)
#define RUNG_PEER_FUNCTIONS(X)                                                             \
  X(cuIpcGetMemHandle, "cuIpcGetMemHandle",                                                \
    cuda::Result(IpcHandle* handle, cuda::DevicePointer pointer))                          \
  X(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2",                                           \
    cuda::Result(cuda::DevicePointer* pointer, IpcHandle handle, unsigned flags))          \
  X(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", cuda::Result(cuda::DevicePointer pointer)) \
  X(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess",                                        \
    cuda::Result(cuda::Context context, unsigned flags))                                   \
  X(cuStreamWaitValue32, "cuStreamWaitValue32_v2",                                         \
    cuda::Result(cuda::Stream stream, cuda::DevicePointer at, std::uint32_t value,         \
                 unsigned flags))                                                          \
  X(cuStreamWriteValue32, "cuStreamWriteValue32_v2",                                       \
    cuda::Result(cuda::Stream stream, cuda::DevicePointer at, std::uint32_t value,         \
                 unsigned flags))

inline constexpr unsigned ipc_lazy_peer_access = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
inline constexpr unsigned wait_until_equal = 1;      // CU_STREAM_WAIT_VALUE_EQ

struct PeerApi {
#define RUNG_PEER_MEMBER(member, symbol, ...) cuda::FunctionPointer<__VA_ARGS__> member = nullptr;
  RUNG_PEER_FUNCTIONS(RUNG_PEER_MEMBER)
#undef RUNG_PEER_MEMBER
};

/// NVIDIA's driver's.
const PeerApi& real_peer_api();

}  // namespace rung::nccl
