#pragma once
// Results of the CUDA driver API: values, names and texts of CUresult (CUDA Driver API reference,
// "Data types used by CUDA driver"). Omits those of graphics interoperation and MPS.

/// X(enumerator, value, name, text).
#define RUNG_CUDA_RESULTS(X)                                                                       \
  X(success, 0, "CUDA_SUCCESS", "no error")                                                        \
  X(invalid_value, 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument")                              \
  X(out_of_memory, 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory")                                 \
  X(not_initialized, 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error")                      \
  X(deinitialized, 4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down")                          \
  X(stub_library, 34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library")                  \
  X(device_unavailable, 46, "CUDA_ERROR_DEVICE_UNAVAILABLE",                                       \
    "CUDA-capable device(s) is/are busy or unavailable")                                           \
  X(no_device, 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected")                  \
  X(invalid_device, 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal")                    \
  X(invalid_image, 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid")              \
  X(invalid_context, 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context")                  \
  X(no_binary_for_gpu, 209, "CUDA_ERROR_NO_BINARY_FOR_GPU",                                        \
    "no kernel image is available for execution on the device")                                    \
  X(ecc_uncorrectable, 214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered") \
  X(unsupported_limit, 215, "CUDA_ERROR_UNSUPPORTED_LIMIT",                                        \
    "limit is not supported on this architecture")                                                 \
  X(invalid_ptx, 218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed")                    \
  X(jit_compiler_not_found, 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",                              \
    "PTX JIT compiler library not found")                                                          \
  X(unsupported_ptx_version, 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",                            \
    "the provided PTX was compiled with an unsupported toolchain.")                                \
  X(invalid_source, 300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid")            \
  X(file_not_found, 301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found")                            \
  X(operating_system, 304, "CUDA_ERROR_OPERATING_SYSTEM",                                          \
    "OS call failed or operation not supported on this OS")                                        \
  X(invalid_handle, 400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle")                   \
  X(illegal_state, 401, "CUDA_ERROR_ILLEGAL_STATE",                                                \
    "the operation cannot be performed in the present state")                                      \
  X(not_found, 500, "CUDA_ERROR_NOT_FOUND", "named symbol not found")                              \
  X(not_ready, 600, "CUDA_ERROR_NOT_READY", "device not ready")                                    \
  X(illegal_address, 700, "CUDA_ERROR_ILLEGAL_ADDRESS",                                            \
    "an illegal memory access was encountered")                                                    \
  X(launch_out_of_resources, 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",                            \
    "too many resources requested for launch")                                                     \
  X(launch_timeout, 702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated")   \
  X(primary_context_active, 708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",                              \
    "cannot set while device is active in this process")                                           \
  X(context_is_destroyed, 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed")          \
  X(assert_triggered, 710, "CUDA_ERROR_ASSERT", "device-side assert triggered")                    \
  X(host_memory_already_registered, 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",              \
    "part or all of the requested memory range is already mapped")                                 \
  X(host_memory_not_registered, 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",                      \
    "pointer does not correspond to a registered memory region")                                   \
  X(hardware_stack_error, 714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error")          \
  X(illegal_instruction, 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION",                                    \
    "an illegal instruction was encountered")                                                      \
  X(misaligned_address, 716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address")                \
  X(invalid_address_space, 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",                                \
    "operation not supported on global/shared address space")                                      \
  X(invalid_pc, 718, "CUDA_ERROR_INVALID_PC", "invalid program counter")                           \
  X(launch_failed, 719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure")                  \
  X(cooperative_launch_too_large, 720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",                  \
    "too many blocks in cooperative launch")                                                       \
  X(not_permitted, 800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted")                     \
  X(not_supported, 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported")                     \
  X(system_not_ready, 802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized")            \
  X(system_driver_mismatch, 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",                              \
    "system has unsupported display driver / cuda driver combination")                             \
  X(compat_not_supported_on_device, 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",              \
    "forward compatibility was attempted on non supported HW")                                     \
  X(stream_capture_unsupported, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",                      \
    "operation not permitted when stream is capturing")                                            \
  X(stream_capture_invalidated, 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",                      \
    "operation failed due to a previous error during capture")                                     \
  X(stream_capture_merge, 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",                                  \
    "operation would result in a merge of separate capture sequences")                             \
  X(stream_capture_unmatched, 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",                          \
    "capture was not ended in the same stream as it began")                                        \
  X(stream_capture_unjoined, 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",                            \
    "capturing stream has unjoined work")                                                          \
  X(stream_capture_isolation, 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",                          \
    "dependency created on uncaptured work in another stream")                                     \
  X(stream_capture_implicit, 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",                            \
    "operation would make the legacy stream depend on a capturing blocking stream")                \
  X(captured_event, 907, "CUDA_ERROR_CAPTURED_EVENT",                                              \
    "operation not permitted on an event last recorded in a capturing stream")                     \
  X(stream_capture_wrong_thread, 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",                    \
    "attempt to terminate a thread-local capture sequence from another thread")                    \
  X(timeout, 909, "CUDA_ERROR_TIMEOUT", "wait operation timed out")                                \
  X(invalid_cluster_size, 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE",                                  \
    "a kernel launch error has occurred due to cluster misconfiguration")                          \
  X(unknown, 999, "CUDA_ERROR_UNKNOWN", "unknown error")

namespace rung::cuda {

/// CUresult.
enum class Result : int {
#define RUNG_CUDA_RESULT(enumerator, value, name, text) enumerator = value,
  RUNG_CUDA_RESULTS(RUNG_CUDA_RESULT)
#undef RUNG_CUDA_RESULT
};

}  // namespace rung::cuda
