#pragma once
// The part of NCCL that this library calls, as a table of functions with the names and the ABI of
// NCCL's User Guide, "NCCL API". It is opened at run time.

#include <cstddef>
#include <string>

#include "core/cuda_driver/types.hpp"

namespace rung::nccl {

using Comm = struct NcclCommHandle*;
using Window = struct NcclWindowHandle*;

/// ncclResult_t.
enum class Result : int { success = 0, remote_error = 6, in_progress = 7 };

/// ncclDataType_t.
enum class DataType : int { bytes = 0, f16 = 6, f32 = 7, f64 = 8, bf16 = 9 };

/// ncclRedOp_t.
enum class Reduction : int { sum = 0 };

/// ncclConfig_t of NCCL 2.18. Later versions have more fields and interpret `size` and `version`.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 1;
  int cga_cluster_size = undefined;
  int min_ctas = undefined;
  int max_ctas = undefined;
  const char* net_name = nullptr;
  int split_share = undefined;

  static constexpr int undefined = -2147483647 - 1;  // NCCL_CONFIG_UNDEF_INT
};

/// X(name, signature)
#define RUNG_NCCL_FUNCTIONS(X)                                                                     \
  X(ncclGetVersion, Result(int* version))                                                          \
  X(ncclGetErrorString, const char*(Result result))                                                \
  X(ncclCommCount, Result(Comm comm, int* count))                                                  \
  X(ncclCommUserRank, Result(Comm comm, int* rank))                                                \
  X(ncclCommSplit, Result(Comm comm, int color, int key, Comm* created, Config* config))           \
  X(ncclCommDestroy, Result(Comm comm))                                                            \
  X(ncclCommAbort, Result(Comm comm))                                                              \
  X(ncclCommGetAsyncError, Result(Comm comm, Result* error))                                       \
  X(ncclGroupStart, Result())                                                                      \
  X(ncclGroupEnd, Result())                                                                        \
  X(ncclSend, Result(const void* from, std::size_t count, DataType type, int peer, Comm comm,      \
                     cuda::Stream stream))                                                         \
  X(ncclRecv,                                                                                      \
    Result(void* to, std::size_t count, DataType type, int peer, Comm comm, cuda::Stream stream))  \
  X(ncclAllGather, Result(const void* from, void* to, std::size_t count, DataType type, Comm comm, \
                          cuda::Stream stream))                                                    \
  X(ncclReduceScatter, Result(const void* from, void* to, std::size_t count, DataType type,        \
                              Reduction reduction, Comm comm, cuda::Stream stream))                \
  X(ncclAllReduce, Result(const void* from, void* to, std::size_t count, DataType type,            \
                          Reduction reduction, Comm comm, cuda::Stream stream))

/// Functions of later versions; null if NCCL lacks them.
#define RUNG_NCCL_LATER_FUNCTIONS(X)                                               \
  X(ncclMemAlloc, Result(void** memory, std::size_t bytes))                        \
  X(ncclMemFree, Result(void* memory))                                             \
  X(ncclCommWindowRegister,                                                        \
    Result(Comm comm, void* memory, std::size_t bytes, Window* window, int flags)) \
  X(ncclCommWindowDeregister, Result(Comm comm, Window window))

inline constexpr int window_is_symmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC

template <class Signature>
using FunctionPointer = Signature*;

struct Api {
#define RUNG_NCCL_MEMBER(name, ...) FunctionPointer<__VA_ARGS__> name = nullptr;
  RUNG_NCCL_FUNCTIONS(RUNG_NCCL_MEMBER)
  RUNG_NCCL_LATER_FUNCTIONS(RUNG_NCCL_MEMBER)
#undef RUNG_NCCL_MEMBER
};

/// The NCCL that this process has loaded, or the file named by RUNG_NCCL, or libnccl.so.2. Throws
/// Error (Status::unavailable).
const Api& real_nccl();

}  // namespace rung::nccl
