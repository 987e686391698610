#pragma once
// Accumulation over scale groups of packed weights, while wgmma adds to the sums.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung::cuda {

/// A scale group of a record in shared memory.
struct RecordGroup {
  const unsigned char* record;  // null: no group
  int group;
};

/// One set of accumulators for all groups. Sums are in units of the current group's scale, so that
/// its products are added unscaled; at the start of the next group they are multiplied by the ratio
/// of the two scales.
///
/// If a scale is far smaller than earlier ones, sums in its units could overflow. Such a group uses
/// larger units, with an error per product below 2^-80 of the row's largest scale so far.
/// pack_weights() makes the products of scales below 2^-124 zero; for these, the unit does not
/// change.
template <class In, int BITS, int J>
class SumsInUnits {
  using Form = RecordForm<BITS>;
  static constexpr float least_unit = 0x1p-126f, least_ratio = 0x1p-80f;
  // The reciprocal of a quarter of a scale is a normal number.
  static constexpr float fraction = 0.25f;

 public:
  static constexpr bool adds_always = true;

  /// `sums` are zero initially and hold the total at the end; `first` is the first group.
  __device__ __forceinline__ SumsInUnits(float (&sums)[J][4], const RecordGroup& first,
                                         const Form& form)
      : sums_(sums) {
    take({}, first, form);
  }

  /// The accumulators for wgmma.
  __device__ __forceinline__ float (&at_work())[J][4] { return sums_; }

  /// Reads the factors for end() from shared memory.
  __device__ __forceinline__ void take(const RecordGroup&, const RecordGroup& next,
                                       const Form& form) {
    if (next.record == nullptr) {
      RUNG_UNROLL
      for (int r = 0; r < 2; ++r) {
        factors_[r] = units_[r] * (WeightPair<In, BITS>::inverse_of_fraction / fraction);
      }
      return;
    }
    float scales[2];
    load_scales(scales, next.record, form, next.group, fraction);
    RUNG_UNROLL
    for (int r = 0; r < 2; ++r) {
      const float size = scales[r] < 0 ? -scales[r] : scales[r];
      const float least = least_ratio * size;
      if (least > least_[r]) least_[r] = least;
      float unit = size < least_[r] ? least_[r] : scales[r];
      if (size < least_unit) unit = units_[r];
      factors_[r] = units_[r] * ptx::rcp_approx_ftz_f32(unit);
      units_[r] = unit;
    }
  }

  /// Call when a group's products are complete: rescales the sums to units of the next group.
  __device__ __forceinline__ void end() {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) sums_[j][i] *= factors_[i / 2];
    }
  }

 private:
  float (&sums_)[J][4];
  float factors_[2], units_[2] = {1, 1}, least_[2] = {};
};

/// Separate accumulators for the current group, which are scaled and added to the total. With few
/// sums, this takes fewer instructions per group.
template <class In, int BITS, int J>
class SumsApart {
  using Form = RecordForm<BITS>;

 public:
  static constexpr bool adds_always = false;

  __device__ __forceinline__ SumsApart(float (&sums)[J][4], const RecordGroup&, const Form&)
      : sums_(sums) {
    ptx::set_undefined(of_group_);
  }

  __device__ __forceinline__ float (&at_work())[J][4] { return of_group_; }

  __device__ __forceinline__ void take(const RecordGroup& ending, const RecordGroup&,
                                       const Form& form) {
    load_scales(scales_, ending.record, form, ending.group,
                WeightPair<In, BITS>::inverse_of_fraction);
  }

  __device__ __forceinline__ void end() { promote(scales_, of_group_, sums_); }

 private:
  float (&sums_)[J][4];
  float of_group_[J][4], scales_[2];
};

/// Selects the faster variant, by measurements with J = 2 and 8.
template <class In, int BITS, int J>
struct GroupSums : SumsInUnits<In, BITS, J> {
  using SumsInUnits<In, BITS, J>::SumsInUnits;
};
template <class In, int BITS>
struct GroupSums<In, BITS, 2> : SumsApart<In, BITS, 2> {
  using SumsApart<In, BITS, 2>::SumsApart;
};

}  // namespace rung::cuda
