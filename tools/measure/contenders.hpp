#pragma once
// The contenders in this program itself. Peers are in measure/peers.

#include "backends/backend.hpp"
#include "backends/cuda/gpu.hpp"
#include "core/quantize.hpp"
#include "core/rung.hpp"
#include "library/cuda/driver.hpp"
#include "tools/measure/contender.hpp"

namespace rung {

/// A rung on a backend. Both must outlive the object.
class RungContender final : public Contender {
 public:
  RungContender(const Backend& backend, const RungInfo& info) : backend_(backend), info_(info) {}

  std::string name() const override { return info_.id; }
  ComputeMode compute_mode() const override { return info_.compute_mode; }
  BlockFormat format() const override { return block_format(info_.needs); }
  const RungInfo& info() const { return info_; }

  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;
  bool has_epilogues() const override { return false; }

 private:
  const Backend& backend_;
  const RungInfo& info_;
};

/// rung::gemm() and rung::dot() as called by applications: each call includes argument checks and
/// the selection of a rung.
class LibraryContender final : public Contender {
 public:
  /// `is_mixed`: A is passed as bfloat16, to which its values convert exactly.
  explicit LibraryContender(ComputeMode mode = ComputeMode::standard, bool is_mixed = false)
      : mode_(mode), is_mixed_(is_mixed) {}

  ComputeMode compute_mode() const override { return mode_; }
  std::string name() const override { return "library"; }

  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;
  Bound bind_groups(const GroupedCall& call, int threads) const override;
  Bound bind_scaled_groups(const GroupedCall& call, const GroupScales& scales,
                           int threads) const override;
  bool has_packed_weights() const override { return true; }
  Bound bind_epilogue(const CallWithEpilogue& call, int threads) const override;

 private:
  Bound bind_mixed(const GemmCall& call, int threads) const;

  ComputeMode mode_;
  bool is_mixed_;
};

/// The library's functions for GPU memory (rung::gemm() and others), on a real or virtual GPU.
/// Objects may exist for only one GPU at a time: during their lifetime, the library uses this GPU's
/// driver.
class GpuLibraryContender final : public Contender {
 public:
  /// The GPU must outlive the object.
  explicit GpuLibraryContender(cuda::Gpu& gpu, ComputeMode mode = ComputeMode::standard,
                               bool is_mixed = false);
  GpuLibraryContender(const GpuLibraryContender&) = delete;
  GpuLibraryContender& operator=(const GpuLibraryContender&) = delete;
  ~GpuLibraryContender() override;

  ComputeMode compute_mode() const override { return mode_; }
  std::string name() const override { return "library"; }

  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;
  Bound bind_groups(const GroupedCall& call, int threads) const override;
  Bound bind_scaled_groups(const GroupedCall& call, const GroupScales& scales,
                           int threads) const override;
  bool has_packed_weights() const override { return true; }
  Bound bind_epilogue(const CallWithEpilogue& call, int threads) const override;

 private:
  Bound bind_mixed(const GemmCall& call, int threads) const;
  void launch(const std::function<void()>& run, int threads) const;

  cuda::Gpu& gpu_;
  ComputeMode mode_;
  bool is_mixed_;
  cuda::Driver driver_;
};

}  // namespace rung
