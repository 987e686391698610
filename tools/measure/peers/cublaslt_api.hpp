#pragma once
// The parts of the cuBLASLt API used here, with values and layouts from its reference (cuBLAS
// library, 3.3 and 3.4).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "core/epilogue_parts.hpp"
#include "core/shared_library/shared_library.hpp"
#include "tools/measure/peers/column_major_gemm.hpp"

namespace rung::cublaslt {

using Handle = struct LtContext*;
using Operation = struct LtMatmulDesc*;
using Layout = struct LtMatrixLayout*;
using Preference = struct LtMatmulPreference*;

/// cublasLtMatmulAlgo_t.
struct Algorithm {
  std::uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct Choice {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

struct Functions {
  int (*get_property)(int which, int* value);
  const char* (*status_name)(int);
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*create_operation)(Operation*, cublas::ComputeType, cublas::DataType scale_type);
  int (*destroy_operation)(Operation);
  int (*set_operation)(Operation, int attribute, const void* value, std::size_t bytes);
  int (*create_layout)(Layout*, cublas::DataType, std::uint64_t rows, std::uint64_t cols,
                       std::int64_t ld);
  int (*destroy_layout)(Layout);
  int (*set_layout)(Layout, int attribute, const void* value, std::size_t bytes);
  int (*create_preference)(Preference*);
  int (*destroy_preference)(Preference);
  int (*set_preference)(Preference, int attribute, const void* value, std::size_t bytes);
  int (*get_heuristic)(Handle, Operation, Layout a, Layout b, Layout c, Layout d, Preference,
                       int wanted, Choice* choices, int* found);
  int (*matmul)(Handle, Operation, const void* alpha, const void* a, Layout, const void* b, Layout,
                const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*,
                void* workspace, std::size_t workspace_bytes, cuda::Stream);

  explicit Functions(const SharedLibrary& library);

  std::string version() const;
  /// Throws KernelError naming the call if the status is not success.
  void check(int status, const char* call) const;

  std::string missing;  // the first function missing in the library
};

/// Owns an object of the library.
template <class Pointer>
class Object {
 public:
  using Destroy = int (*)(Pointer);

  explicit Object(Destroy destroy) : destroy_(destroy) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    if (pointer_ != nullptr) destroy_(pointer_);
  }

  Pointer* out() { return &pointer_; }
  operator Pointer() const { return pointer_; }

 private:
  Destroy destroy_;
  Pointer pointer_ = nullptr;
};

/// A problem in the form required by cuBLASLt.
struct Plan {
  /// Throws KernelError on failure.
  Plan(const Functions& functions, const ColumnMajorGemm& g);

  /// Adds the bias, activation and auxiliary output of a call on the device with product g. Throws
  /// KernelError on failure.
  void add_epilogue(const Functions& functions, const ColumnMajorGemm& g,
                    const CallWithEpilogue& call);
  /// Adds the block scales of a call on the device, whose A and B are the second and first factor.
  /// Returns false if the library does not support them.
  bool add_block_scales(const Functions& functions, const CallWithEpilogue& call);

  /// Up to `most` algorithms that the library predicts to be fastest, best first.
  std::vector<Algorithm> choices(const Functions& functions, Handle handle,
                                 std::size_t workspace_bytes, int most) const;

  Object<Operation> operation;
  Object<Layout> first, second, c;
  std::uint32_t alignments[3];  // of the first factor, the second, and C, in bytes
};

}  // namespace rung::cublaslt
