#pragma once
// Types of the CUDA driver API that this project uses, with the values and layouts of its ABI (CUDA
// Driver API reference, "Data types used by CUDA driver").

#include <cstddef>
#include <cstdint>

namespace rung::cuda {

/// The ordinal of a device.
using Device = int;
/// An address in device memory; 0 is null.
using DevicePointer = std::uint64_t;

using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphExec = struct GraphExecHandle*;
using GraphNode = struct GraphNodeHandle*;
using UserObject = struct UserObjectHandle*;
using MemoryPool = struct MemoryPoolHandle*;

/// The default streams of a context. A null Stream also means the legacy one.
inline Stream legacy_stream() { return reinterpret_cast<Stream>(std::uintptr_t{1}); }
inline Stream per_thread_stream() { return reinterpret_cast<Stream>(std::uintptr_t{2}); }

/// CUuuid.
struct Uuid {
  unsigned char bytes[16];
};

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  max_block_dim_x = 2,
  max_block_dim_y = 3,
  max_block_dim_z = 4,
  max_grid_dim_x = 5,
  max_grid_dim_y = 6,
  max_grid_dim_z = 7,
  max_shared_memory_per_block = 8,
  total_constant_memory = 9,
  warp_size = 10,
  max_pitch = 11,
  max_registers_per_block = 12,
  clock_rate = 13,  // kHz
  texture_alignment = 14,
  gpu_overlap = 15,
  multiprocessor_count = 16,
  kernel_exec_timeout = 17,
  integrated = 18,
  can_map_host_memory = 19,
  compute_mode = 20,
  surface_alignment = 30,
  concurrent_kernels = 31,
  ecc_enabled = 32,
  pci_bus_id = 33,
  pci_device_id = 34,
  tcc_driver = 35,
  memory_clock_rate = 36,        // kHz
  global_memory_bus_width = 37,  // bits
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  async_engine_count = 40,
  unified_addressing = 41,
  pci_domain_id = 50,
  texture_pitch_alignment = 51,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  stream_priorities_supported = 78,
  global_l1_cache_supported = 79,
  local_l1_cache_supported = 80,
  max_shared_memory_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  managed_memory = 83,
  multi_gpu_board = 84,
  multi_gpu_board_group_id = 85,
  host_native_atomic_supported = 86,
  single_to_double_precision_perf_ratio = 87,
  pageable_memory_access = 88,
  concurrent_managed_access = 89,
  compute_preemption_supported = 90,
  can_use_host_pointer_for_registered_mem = 91,
  cooperative_launch = 95,
  max_shared_memory_per_block_optin = 97,
  host_register_supported = 99,
  pageable_memory_access_uses_host_page_tables = 100,
  direct_managed_mem_access_from_host = 101,
  max_blocks_per_multiprocessor = 106,
  max_persisting_l2_cache_size = 108,
  max_access_policy_window_size = 109,
  reserved_shared_memory_per_block = 111,
  memory_pools_supported = 115,
  cluster_launch = 120,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,  // static
  const_size_bytes = 2,
  local_size_bytes = 3,  // per thread
  num_regs = 4,
  ptx_version = 5,     // the PTX text's target: 10 * major + minor
  binary_version = 6,  // 10 * major + minor
  cache_mode_ca = 7,
  max_dynamic_shared_size_bytes = 8,
  preferred_shared_memory_carveout = 9,  // per cent; -1: the driver chooses
  cluster_size_must_be_set = 10,
  required_cluster_width = 11,
  required_cluster_height = 12,
  required_cluster_depth = 13,
  non_portable_cluster_size_allowed = 14,
  cluster_scheduling_policy_preference = 15,
};

/// CUlimit: in bytes unless noted.
enum class Limit : int {
  stack_size = 0,
  printf_fifo_size = 1,
  malloc_heap_size = 2,
  dev_runtime_sync_depth = 3,            // count
  dev_runtime_pending_launch_count = 4,  // count
  max_l2_fetch_granularity = 5,
  persisting_l2_cache_size = 6,
};

/// CUfunc_cache.
enum class CacheConfig : int {
  prefer_none = 0,
  prefer_shared = 1,
  prefer_l1 = 2,
  prefer_equal = 3
};

/// CUmemorytype.
enum class MemoryType : int { host = 1, device = 2, array = 3, unified = 4 };

/// CUpointer_attribute, each with the type of its value.
enum class PointerAttribute : int {
  context = 1,            // Context
  memory_type = 2,        // MemoryType
  device_pointer = 3,     // DevicePointer
  host_pointer = 4,       // void*
  buffer_id = 7,          // unsigned long long
  is_managed = 8,         // int, 0 or 1 (the driver writes 4 bytes)
  device_ordinal = 9,     // int
  range_start_addr = 11,  // DevicePointer
  range_size = 12,        // std::size_t
  mapped = 13,            // int, 0 or 1
};

/// CUmem_advise.
enum class MemoryAdvice : int {
  set_read_mostly = 1,
  unset_read_mostly = 2,
  set_preferred_location = 3,
  unset_preferred_location = 4,
  set_accessed_by = 5,
  unset_accessed_by = 6,
};

/// CUmemAllocationType and CUmemLocationType.
enum class AllocationType : int { pinned = 1 };
enum class MemoryLocationType : int { device = 1 };

/// CUmemPoolProps.
struct MemoryPoolProperties {
  AllocationType allocation = AllocationType::pinned;
  int handle_types = 0;  // none: memory is not shared with other processes
  MemoryLocationType location = MemoryLocationType::device;
  Device device = 0;
  void* security_attributes = nullptr;
  std::size_t max_bytes = 0;  // 0: the size of the device memory
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};
static_assert(sizeof(MemoryPoolProperties) == 88);

/// CUmemPool_attribute.
enum class MemoryPoolAttribute : int { release_threshold = 4 };  // std::uint64_t

/// CUjit_option.
enum class JitOption : int {
  max_registers = 0,
  threads_per_block = 1,
  wall_time = 2,
  info_log_buffer = 3,
  info_log_buffer_size_bytes = 4,
  error_log_buffer = 5,
  error_log_buffer_size_bytes = 6,
  optimization_level = 7,
  target_from_context = 8,
  target = 9,
  fallback_strategy = 10,
  generate_debug_info = 11,
  log_verbose = 12,
  generate_line_info = 13,
  cache_mode = 14,
  global_symbol_names = 17,
  global_symbol_addresses = 18,
  global_symbol_count = 19,
};

/// CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CU_GRAPH_USER_OBJECT_MOVE.
inline constexpr unsigned user_object_no_destructor_sync = 1;
inline constexpr unsigned graph_user_object_move = 1;

/// CUstreamCaptureMode and CUstreamCaptureStatus.
enum class CaptureMode : int { global = 0, thread_local_only = 1, relaxed = 2 };
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };

// Flags of cuCtxCreate, cuStreamCreate, cuEventCreate, cuMemAllocManaged, cuMemHostAlloc,
// cuMemHostRegister and cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.
inline constexpr unsigned context_schedule_mask = 0x07;
inline constexpr unsigned context_map_host = 0x08;
inline constexpr unsigned context_flags_mask = 0xFF;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;
inline constexpr unsigned event_wait_external = 1;  // of cuStreamWaitEvent
inline constexpr unsigned attach_global = 1;
inline constexpr unsigned attach_host = 2;
inline constexpr unsigned attach_single = 4;
inline constexpr unsigned host_alloc_portable = 1;
inline constexpr unsigned host_alloc_device_map = 2;
inline constexpr unsigned host_alloc_write_combined = 4;
inline constexpr unsigned host_register_portable = 1;
inline constexpr unsigned host_register_device_map = 2;
inline constexpr unsigned host_register_io_memory = 4;
inline constexpr unsigned host_register_read_only = 8;
inline constexpr unsigned occupancy_disable_caching_override = 1;

// Keys of cuLaunchKernel's `extra`.
inline constexpr std::uintptr_t launch_param_end = 0;
inline constexpr std::uintptr_t launch_param_buffer_pointer = 1;
inline constexpr std::uintptr_t launch_param_buffer_size = 2;

/// CUDA_MEMCPY2D: a rectangle of `height` rows of `width_bytes`. Copies of CUDA arrays are not
/// supported.
struct Memcpy2D {
  std::size_t source_x_bytes, source_y;
  MemoryType source_type;
  const void* source_host;
  DevicePointer source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t destination_x_bytes, destination_y;
  MemoryType destination_type;
  void* destination_host;
  DevicePointer destination_device;
  void* destination_array;
  std::size_t destination_pitch;
  std::size_t width_bytes, height;
};

/// CUlaunchAttributeID.
enum class LaunchAttributeId : int {
  ignore = 0,
  access_policy_window = 1,
  cooperative = 2,
  synchronization_policy = 3,
  cluster_dimension = 4,
  cluster_scheduling_policy_preference = 5,
  programmatic_stream_serialization = 6,
  programmatic_event = 7,
  priority = 8,
  mem_sync_domain_map = 9,
  mem_sync_domain = 10,
  preferred_cluster_dimension = 11,
  launch_completion_event = 12,
  device_updatable_kernel_node = 13,
  preferred_shared_memory_carveout = 14,
};

/// CUlaunchAttribute.
struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[8 - sizeof(LaunchAttributeId)];
  union Value {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster_dimension;
    int programmatic_stream_serialization;
    int priority;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned dynamic_shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// CUtensorMap, an opaque encoding.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

/// CUtensorMapDataType.
enum class TensorMapDataType : int {
  uint8 = 0,
  uint16 = 1,
  uint32 = 2,
  int32 = 3,
  uint64 = 4,
  int64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float32_ftz = 10,
  tfloat32 = 11,
  tfloat32_ftz = 12,
  u4_align_8 = 13,   // 16 packed elements in 8 bytes of shared memory
  u4_align_16 = 14,  // the same, padded to 16 bytes
  u6_align_16 = 15,  // 16 packed elements in 12 bytes, padded to 16
};

/// CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill.
enum class TensorMapInterleave : int { none = 0, bytes_16 = 1, bytes_32 = 2 };
enum class TensorMapSwizzle : int {
  none = 0,
  bytes_32 = 1,
  bytes_64 = 2,
  bytes_128 = 3,
  bytes_128_atom_32 = 4,
  bytes_128_atom_32_flip_8 = 5,
  bytes_128_atom_64 = 6
};
enum class TensorMapL2Promotion : int { none = 0, bytes_64 = 1, bytes_128 = 2, bytes_256 = 3 };
enum class TensorMapFill : int { zeros = 0, nan_request_zero_fma = 1 };

/// CUoccupancyB2DSize: dynamic shared memory as a function of the block size.
using SharedBytesOfBlock = std::size_t (*)(int block_size);
/// CUhostFn.
using HostFunction = void (*)(void* user_data);

}  // namespace rung::cuda
