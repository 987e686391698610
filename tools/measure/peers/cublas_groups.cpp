#include "tools/measure/peers/cublas_groups.hpp"

#include "core/batch.hpp"
#include "tools/measure/peers/blas_operand.hpp"

namespace rung {
namespace {

/// The types and scalars of the groups' products.
std::shared_ptr<ColumnMajorGemm> like(cuda::Gpu& gpu, GemmCall call) {
  call.on_device = true;
  call.batch = 1;
  return std::make_shared<ColumnMajorGemm>(gpu, call);
}

}  // namespace

CublasGroups::CublasGroups(cuda::Gpu& gpu, const GroupedCall& host)
    : on_gpu_(gpu, host),
      like_(like(gpu, on_gpu_.call.call)),
      alpha_(like_->dtype, like_->alpha, static_cast<std::size_t>(host.call.batch)),
      beta_(like_->dtype, like_->beta, static_cast<std::size_t>(host.call.batch)) {
  std::vector<const void*> first, second, c;
  const GroupedCall with_host_offsets = {on_gpu_.call.call, host.groups};
  for (std::int64_t i = 0; i < host.call.batch; ++i) {
    const GemmCall one = group_of(with_host_offsets, i);
    if (one.m == 0) continue;
    // Column-major: C' = B' A'.
    const BlasOperand b(one.b, one.k, one.n), a(one.a, one.m, one.k);
    const auto operation = [](const BlasOperand& operand) {
      return operand.transposed ? cublas::op_transpose : cublas::op_none;
    };
    of_first_.push_back(operation(b));
    of_second_.push_back(operation(a));
    m_.push_back(static_cast<int>(one.n));
    n_.push_back(static_cast<int>(one.m));
    k_.push_back(static_cast<int>(one.k));
    ld_first_.push_back(static_cast<int>(b.ld));
    ld_second_.push_back(static_cast<int>(a.ld));
    ldc_.push_back(static_cast<int>(BlasOperand(one.c, one.m, one.n).ld));
    ones_.push_back(1);
    first.push_back(one.b.data);
    second.push_back(one.a.data);
    c.push_back(one.c.data);
  }
  matrices_ = first;
  matrices_.insert(matrices_.end(), second.begin(), second.end());
  matrices_.insert(matrices_.end(), c.begin(), c.end());
  const auto bytes = static_cast<std::int64_t>(matrices_.size() * sizeof(void*));
  pointers_ = std::make_shared<cuda::DeviceMatrix>(
      gpu, Storage{reinterpret_cast<std::byte*>(matrices_.data()), 1, bytes, bytes},
      matrices_.data());
}

}  // namespace rung
