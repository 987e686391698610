#pragma once
// Ragged groups as cublasGemmGroupedBatchedEx takes them: each a problem of its own, whose size the
// host must know, with arrays of pointers in device memory.

#include <memory>
#include <vector>

#include "core/grouped.hpp"
#include "measure/peers/column_major_gemm.hpp"
#include "measure/peers/groups_on_gpu.hpp"

namespace rung {

/// The function of the library (cuBLAS library, 2.8.15): one group for each problem.
template <class Handle>
using CublasGrouped = int(Handle, const CublasOperation*, const CublasOperation*, const int* m,
                          const int* n, const int* k, const void* alpha, const void* const* a,
                          CudaDataType, const int* lda, const void* const* b, CudaDataType,
                          const int* ldb, const void* beta, void* const* c, CudaDataType,
                          const int* ldc, int groups, const int* sizes, CublasCompute);

/// cublasGemmEx (2.8.12).
template <class Handle>
using CublasGemmEx = int(Handle, CublasOperation, CublasOperation, int m, int n, int k,
                         const void* alpha, const void* a, CudaDataType, int lda, const void* b,
                         CudaDataType, int ldb, const void* beta, void* c, CudaDataType, int ldc,
                         CublasCompute, int algorithm);

/// alpha or beta, the same for all groups.
class GroupScalars {
 public:
  GroupScalars(Dtype dtype, const CublasScalar& value, std::size_t groups)
      : value_(value), is_double_(dtype == Dtype::f64) {
    if (is_double_) {
      doubles_.assign(groups, value.f64);
    } else {
      floats_.assign(groups, value.f32);
    }
  }

  const void* of_each() const { return &value_; }
  /// One for each group, of double or float.
  const void* array() const {
    return is_double_ ? static_cast<const void*>(doubles_.data()) : floats_.data();
  }

 private:
  CublasScalar value_;
  bool is_double_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
};

class CublasGroups {
 public:
  /// Groups without rows are left out. The context must be current. Throws cuda::DriverError and
  /// std::bad_alloc.
  CublasGroups(cuda::Gpu& gpu, const GroupedCall& host);

  const std::shared_ptr<cuda::GemmOperands>& operands() const { return on_gpu_.operands; }

  template <class Handle>
  int launch(CublasGrouped<Handle>* grouped, Handle handle) const {
    const auto count = static_cast<int>(m_.size());
    const auto* const a = reinterpret_cast<const void* const*>(pointers_->data());
    const ColumnMajorGemm& like = *like_;
    return grouped(handle, of_first_.data(), of_second_.data(), m_.data(), n_.data(), k_.data(),
                   alpha_.array(), a, like.in_type(), ld_first_.data(), a + count, like.in_type(),
                   ld_second_.data(), beta_.array(), const_cast<void* const*>(a + 2 * count),
                   like.out_type(), ldc_.data(), count, ones_.data(), like.compute());
  }

  /// A call for each group. Returns the first status that is not success.
  template <class Handle>
  int launch_each(CublasGemmEx<Handle>* gemm, Handle handle, int algorithm) const {
    const ColumnMajorGemm& like = *like_;
    const std::size_t count = m_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const int status =
          gemm(handle, of_first_[i], of_second_[i], m_[i], n_[i], k_[i], alpha_.of_each(),
               matrices_[i], like.in_type(), ld_first_[i], matrices_[count + i], like.in_type(),
               ld_second_[i], beta_.of_each(), const_cast<void*>(matrices_[2 * count + i]),
               like.out_type(), ldc_[i], like.compute(), algorithm);
      if (status != 0) return status;
    }
    return 0;
  }

 private:
  GroupsOnGpu on_gpu_;
  std::shared_ptr<ColumnMajorGemm> like_;  // of no group: for the types
  std::vector<CublasOperation> of_first_, of_second_;
  std::vector<int> m_, n_, k_, ld_first_, ld_second_, ldc_, ones_;
  GroupScalars alpha_, beta_;
  std::vector<const void*> matrices_;  // of each group the first factor's, then the others
  std::shared_ptr<cuda::DeviceMatrix> pointers_;  // to matrices_
};

}  // namespace rung
