// Compares the project's declarations of the driver API with those of the toolkit, if one is
// installed.

#include "core/cuda_driver/api.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace rung::cuda {
namespace {

TEST(DriverApi, EveryCallHasASymbolOfItsOwn) {
  std::set<std::string> symbols;
#define RUNG_COUNT(member, symbol, ...) EXPECT_TRUE(symbols.insert(symbol).second) << symbol;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_COUNT)
#undef RUNG_COUNT
  EXPECT_GT(symbols.size(), 90u);
}

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12000

// Compares an enumerator with that of cuda.h.
#define RUNG_SAME(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

RUNG_SAME(Result::invalid_value, CUDA_ERROR_INVALID_VALUE);
RUNG_SAME(Result::invalid_context, CUDA_ERROR_INVALID_CONTEXT);
RUNG_SAME(Result::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
RUNG_SAME(Result::invalid_ptx, CUDA_ERROR_INVALID_PTX);
RUNG_SAME(Result::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
RUNG_SAME(Result::illegal_state, CUDA_ERROR_ILLEGAL_STATE);
RUNG_SAME(Result::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
RUNG_SAME(Result::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
RUNG_SAME(Result::assert_triggered, CUDA_ERROR_ASSERT);
RUNG_SAME(Result::host_memory_not_registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
RUNG_SAME(Result::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS);
RUNG_SAME(Result::launch_failed, CUDA_ERROR_LAUNCH_FAILED);
RUNG_SAME(Result::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
RUNG_SAME(Result::stream_capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
RUNG_SAME(Result::invalid_cluster_size, CUDA_ERROR_INVALID_CLUSTER_SIZE);

#define RUNG_ATTRIBUTE(ours, theirs) RUNG_SAME(DeviceAttribute::ours, CU_DEVICE_ATTRIBUTE_##theirs)
RUNG_ATTRIBUTE(max_threads_per_block, MAX_THREADS_PER_BLOCK);
RUNG_ATTRIBUTE(max_block_dim_z, MAX_BLOCK_DIM_Z);
RUNG_ATTRIBUTE(max_grid_dim_z, MAX_GRID_DIM_Z);
RUNG_ATTRIBUTE(max_shared_memory_per_block, MAX_SHARED_MEMORY_PER_BLOCK);
RUNG_ATTRIBUTE(total_constant_memory, TOTAL_CONSTANT_MEMORY);
RUNG_ATTRIBUTE(max_pitch, MAX_PITCH);
RUNG_ATTRIBUTE(max_registers_per_block, MAX_REGISTERS_PER_BLOCK);
RUNG_ATTRIBUTE(clock_rate, CLOCK_RATE);
RUNG_ATTRIBUTE(texture_alignment, TEXTURE_ALIGNMENT);
RUNG_ATTRIBUTE(gpu_overlap, GPU_OVERLAP);
RUNG_ATTRIBUTE(multiprocessor_count, MULTIPROCESSOR_COUNT);
RUNG_ATTRIBUTE(kernel_exec_timeout, KERNEL_EXEC_TIMEOUT);
RUNG_ATTRIBUTE(integrated, INTEGRATED);
RUNG_ATTRIBUTE(can_map_host_memory, CAN_MAP_HOST_MEMORY);
RUNG_ATTRIBUTE(compute_mode, COMPUTE_MODE);
RUNG_ATTRIBUTE(surface_alignment, SURFACE_ALIGNMENT);
RUNG_ATTRIBUTE(concurrent_kernels, CONCURRENT_KERNELS);
RUNG_ATTRIBUTE(ecc_enabled, ECC_ENABLED);
RUNG_ATTRIBUTE(pci_bus_id, PCI_BUS_ID);
RUNG_ATTRIBUTE(pci_device_id, PCI_DEVICE_ID);
RUNG_ATTRIBUTE(tcc_driver, TCC_DRIVER);
RUNG_ATTRIBUTE(memory_clock_rate, MEMORY_CLOCK_RATE);
RUNG_ATTRIBUTE(global_memory_bus_width, GLOBAL_MEMORY_BUS_WIDTH);
RUNG_ATTRIBUTE(l2_cache_size, L2_CACHE_SIZE);
RUNG_ATTRIBUTE(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR);
RUNG_ATTRIBUTE(async_engine_count, ASYNC_ENGINE_COUNT);
RUNG_ATTRIBUTE(unified_addressing, UNIFIED_ADDRESSING);
RUNG_ATTRIBUTE(pci_domain_id, PCI_DOMAIN_ID);
RUNG_ATTRIBUTE(texture_pitch_alignment, TEXTURE_PITCH_ALIGNMENT);
RUNG_ATTRIBUTE(compute_capability_major, COMPUTE_CAPABILITY_MAJOR);
RUNG_ATTRIBUTE(compute_capability_minor, COMPUTE_CAPABILITY_MINOR);
RUNG_ATTRIBUTE(stream_priorities_supported, STREAM_PRIORITIES_SUPPORTED);
RUNG_ATTRIBUTE(global_l1_cache_supported, GLOBAL_L1_CACHE_SUPPORTED);
RUNG_ATTRIBUTE(local_l1_cache_supported, LOCAL_L1_CACHE_SUPPORTED);
RUNG_ATTRIBUTE(max_shared_memory_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
RUNG_ATTRIBUTE(max_registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
RUNG_ATTRIBUTE(managed_memory, MANAGED_MEMORY);
RUNG_ATTRIBUTE(multi_gpu_board, MULTI_GPU_BOARD);
RUNG_ATTRIBUTE(multi_gpu_board_group_id, MULTI_GPU_BOARD_GROUP_ID);
RUNG_ATTRIBUTE(host_native_atomic_supported, HOST_NATIVE_ATOMIC_SUPPORTED);
RUNG_ATTRIBUTE(single_to_double_precision_perf_ratio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
RUNG_ATTRIBUTE(pageable_memory_access, PAGEABLE_MEMORY_ACCESS);
RUNG_ATTRIBUTE(concurrent_managed_access, CONCURRENT_MANAGED_ACCESS);
RUNG_ATTRIBUTE(compute_preemption_supported, COMPUTE_PREEMPTION_SUPPORTED);
RUNG_ATTRIBUTE(can_use_host_pointer_for_registered_mem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
RUNG_ATTRIBUTE(cooperative_launch, COOPERATIVE_LAUNCH);
RUNG_ATTRIBUTE(max_shared_memory_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
RUNG_ATTRIBUTE(host_register_supported, HOST_REGISTER_SUPPORTED);
RUNG_ATTRIBUTE(max_blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR);
RUNG_ATTRIBUTE(max_persisting_l2_cache_size, MAX_PERSISTING_L2_CACHE_SIZE);
RUNG_ATTRIBUTE(max_access_policy_window_size, MAX_ACCESS_POLICY_WINDOW_SIZE);
RUNG_ATTRIBUTE(reserved_shared_memory_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK);
RUNG_ATTRIBUTE(memory_pools_supported, MEMORY_POOLS_SUPPORTED);
RUNG_ATTRIBUTE(cluster_launch, CLUSTER_LAUNCH);

RUNG_SAME(FunctionAttribute::num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS);
RUNG_SAME(FunctionAttribute::max_dynamic_shared_size_bytes,
          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
RUNG_SAME(FunctionAttribute::cluster_scheduling_policy_preference,
          CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
RUNG_SAME(Limit::persisting_l2_cache_size, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
RUNG_SAME(CacheConfig::prefer_equal, CU_FUNC_CACHE_PREFER_EQUAL);
RUNG_SAME(MemoryType::unified, CU_MEMORYTYPE_UNIFIED);
RUNG_SAME(PointerAttribute::is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
RUNG_SAME(PointerAttribute::range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
RUNG_SAME(PointerAttribute::mapped, CU_POINTER_ATTRIBUTE_MAPPED);
RUNG_SAME(MemoryAdvice::unset_accessed_by, CU_MEM_ADVISE_UNSET_ACCESSED_BY);
RUNG_SAME(JitOption::error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
RUNG_SAME(JitOption::cache_mode, CU_JIT_CACHE_MODE);
RUNG_SAME(CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
RUNG_SAME(CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
RUNG_SAME(LaunchAttributeId::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
RUNG_SAME(LaunchAttributeId::cluster_dimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
RUNG_SAME(LaunchAttributeId::priority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
RUNG_SAME(TensorMapDataType::uint64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
RUNG_SAME(TensorMapDataType::bfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
RUNG_SAME(TensorMapDataType::tfloat32_ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
RUNG_SAME(TensorMapDataType::u6_align_16, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
RUNG_SAME(TensorMapInterleave::bytes_32, CU_TENSOR_MAP_INTERLEAVE_32B);
RUNG_SAME(TensorMapSwizzle::bytes_128, CU_TENSOR_MAP_SWIZZLE_128B);
RUNG_SAME(TensorMapSwizzle::bytes_128_atom_64, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
RUNG_SAME(TensorMapL2Promotion::bytes_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
RUNG_SAME(TensorMapFill::nan_request_zero_fma, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
RUNG_SAME(context_map_host, CU_CTX_MAP_HOST);
RUNG_SAME(stream_non_blocking, CU_STREAM_NON_BLOCKING);
RUNG_SAME(event_disable_timing, CU_EVENT_DISABLE_TIMING);
RUNG_SAME(attach_host, CU_MEM_ATTACH_HOST);
RUNG_SAME(host_alloc_write_combined, CU_MEMHOSTALLOC_WRITECOMBINED);
RUNG_SAME(host_register_read_only, CU_MEMHOSTREGISTER_READ_ONLY);

// Structures that calls take by address.
#define RUNG_MEMBER(Ours, our_member, Theirs, their_member) \
  static_assert(offsetof(Ours, our_member) == offsetof(Theirs, their_member))
static_assert(sizeof(Uuid) == sizeof(CUuuid));
static_assert(sizeof(Memcpy2D) == sizeof(CUDA_MEMCPY2D));
RUNG_MEMBER(Memcpy2D, source_type, CUDA_MEMCPY2D, srcMemoryType);
RUNG_MEMBER(Memcpy2D, source_host, CUDA_MEMCPY2D, srcHost);
RUNG_MEMBER(Memcpy2D, source_pitch, CUDA_MEMCPY2D, srcPitch);
RUNG_MEMBER(Memcpy2D, destination_x_bytes, CUDA_MEMCPY2D, dstXInBytes);
RUNG_MEMBER(Memcpy2D, destination_device, CUDA_MEMCPY2D, dstDevice);
RUNG_MEMBER(Memcpy2D, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
RUNG_MEMBER(Memcpy2D, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(sizeof(LaunchAttribute::Value) == sizeof(CUlaunchAttributeValue));
RUNG_MEMBER(LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
static_assert(alignof(TensorMap) >= 64);  // toolkits require 64, from CUDA 13 on 128
RUNG_MEMBER(LaunchConfig, block_x, CUlaunchConfig, blockDimX);
RUNG_MEMBER(LaunchConfig, dynamic_shared_bytes, CUlaunchConfig, sharedMemBytes);
RUNG_MEMBER(LaunchConfig, stream, CUlaunchConfig, hStream);
RUNG_MEMBER(LaunchConfig, attributes, CUlaunchConfig, attrs);
RUNG_MEMBER(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);

TEST(DriverApi, IsThatOfTheToolkit) { SUCCEED() << "static_asserts have compared it"; }

#else

TEST(DriverApi, IsThatOfTheToolkit) { GTEST_SKIP() << "no <cuda.h> of CUDA 12 or later"; }

#endif

}  // namespace
}  // namespace rung::cuda
