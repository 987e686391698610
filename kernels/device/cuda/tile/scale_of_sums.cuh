#pragma once
// Sums of groups of packed weights that have a scale each, in one set of registers: they are in units of
// the scale of the group at work, so that its products are added as they are, and multiplied by the ratio
// of two scales where the next group begins.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/approx.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung::cuda {

/// The scales of a lane's two rows. Sums could overflow in units of a scale that is far below earlier ones,
/// or 0: such a group is in larger units, an error of less than 2^-80 of the row's largest scale so far for
/// each product. pack_weights() makes the products of scales below 2^-124 zeros.
template <class In, int BITS>
class ScaleOfSums {
  using Form = RecordForm<BITS>;
  static constexpr float least_unit = 0x1p-126f, least_ratio = 0x1p-80f;
  // The reciprocal of a fourth of a scale is a normal number.
  static constexpr float fraction = 0.25f;

 public:
  /// For the first group of a record, before anything is added to sums of 0.
  __device__ __forceinline__ ScaleOfSums(const unsigned char* record, const Form& form) {
    float none[2];
    next(none, record, form, 0);
  }

  /// What brings the sums to units of the scales of a group of a record.
  __device__ __forceinline__ void next(float (&factors)[2], const unsigned char* record,
                                       const Form& form, int group) {
    float scales[2];
    load_scales(scales, record, form, group, fraction);
    RUNG_UNROLL
    for (int r = 0; r < 2; ++r) {
      const float size = scales[r] < 0 ? -scales[r] : scales[r];
      const float least = least_ratio * size;
      if (least > least_[r]) least_[r] = least;
      const float unit = size < least_[r] ? least_[r] : scales[r];
      factors[r] = units_[r] * ptx::rcp_approx_ftz_f32(unit);
      units_[r] = unit;
    }
  }

  /// What makes the sums those of weights.
  __device__ __forceinline__ void last(float (&factors)[2]) const {
    RUNG_UNROLL
    for (int r = 0; r < 2; ++r) {
      factors[r] = units_[r] * (WeightPair<In, BITS>::inverse_of_fraction / fraction);
    }
  }

 private:
  float units_[2] = {1, 1}, least_[2] = {least_unit, least_unit};
};

/// Multiplies the two rows of sums of a lane, as mma.m16n8k16 has them.
template <int J>
__device__ __forceinline__ void scale_rows(const float (&factors)[2], float (&sums)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) sums[j][i] *= factors[i / 2];
  }
}

}  // namespace rung::cuda
