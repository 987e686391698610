#pragma once
// Ragged groups in the form required by cublasGemmGroupedBatchedEx: each is a separate problem
// whose size must be known on the host; arrays of pointers are in device memory.

#include <memory>
#include <vector>

#include "core/grouped.hpp"
#include "tools/measure/peers/column_major_gemm.hpp"
#include "tools/measure/peers/groups_on_gpu.hpp"

namespace rung {

/// The function of the library (cuBLAS library, 2.8.15). Called with one problem per group.
template <class Handle>
using CublasGrouped = int(Handle, const cublas::Operation*, const cublas::Operation*, const int* m,
                          const int* n, const int* k, const void* alpha, const void* const* a,
                          cublas::DataType, const int* lda, const void* const* b, cublas::DataType,
                          const int* ldb, const void* beta, void* const* c, cublas::DataType,
                          const int* ldc, int groups, const int* sizes, cublas::ComputeType);

/// cublasGemmEx (2.8.12).
template <class Handle>
using CublasGemmEx = int(Handle, cublas::Operation, cublas::Operation, int m, int n, int k,
                         const void* alpha, const void* a, cublas::DataType, int lda, const void* b,
                         cublas::DataType, int ldb, const void* beta, void* c, cublas::DataType,
                         int ldc, cublas::ComputeType, int algorithm);

/// alpha or beta, the same value for all groups.
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
  /// An array with one value per group, of type double or float.
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
  /// Omits groups without rows. The context must be current. Throws cuda::DriverError and
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

  /// One call per group. Returns the first status that is not success.
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
  std::shared_ptr<ColumnMajorGemm> like_;  // not a group; for the types
  std::vector<cublas::Operation> of_first_, of_second_;
  std::vector<int> m_, n_, k_, ld_first_, ld_second_, ldc_, ones_;
  GroupScalars alpha_, beta_;
  std::vector<const void*> matrices_;  // the first factor of all groups, then the other matrices
  std::shared_ptr<cuda::DeviceMatrix> pointers_;  // to matrices_
};

}  // namespace rung
