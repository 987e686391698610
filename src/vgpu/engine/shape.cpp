#include "vgpu/engine/shape.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "vgpu/observers/banks.hpp"

namespace rung::vgpu {

const std::array<std::uint64_t, warp_size>& Shape::addresses() {
  if (listed_) return address_;
  const std::uint64_t first = stride < 0 ? high : low;
  for (int lane = 0; lane < warp_size; ++lane) {
    address_[lane] = first + static_cast<std::uint64_t>(stride * lane);
  }
  listed_ = true;
  return address_;
}

const std::array<Shape::Unique, warp_size>& Shape::unique_addresses() {
  if (uniques_ != 0) return unique_;
  const auto& address = addresses();
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint8_t>(first_lane(left));
    // Neighbours tend to be neighbours: from the last one back.
    int at = uniques_ - 1;
    while (at >= 0 && unique_[at].address != address[lane]) --at;
    if (at < 0) {
      unique_[uniques_++] = {address[lane], lane, lane};
    } else if (unique_[at].second == unique_[at].first) {
      unique_[at].second = lane;
    }
  }
  return unique_;
}

int Shape::regular_wavefronts(std::uint32_t bytes, bool load) const {
  if (kind == Kind::uniform) {
    const int groups = bytes > 8 ? 4 : bytes > 4 ? 2 : 1;
    return load && groups > 1 ? groups / 2 : groups;
  }
  if (kind != Kind::linear) return 0;
  const std::int64_t distance = stride < 0 ? -stride : stride;
  if (distance == bytes && bytes > 4) return static_cast<int>(bytes / 4);
  // Every gcd-th bank only, so often each.
  if (bytes <= 4 && distance % 4 == 0) return static_cast<int>(std::gcd(distance / 4, warp_size));
  return 0;
}

int Shape::wavefronts(std::uint32_t bytes, std::int64_t offset, bool load) {
  if (const int known = regular_wavefronts(bytes, load)) return known;
  if (bytes < 4 || ((low | low_bits) & 3) != 0)
    return shared_wavefronts(addresses(), mask, bytes, offset, load);
  // Banks are four bytes wide: what offset shifts all lanes by does not matter.
  std::uint8_t& known =
      wavefronts_[static_cast<std::size_t>(std::countr_zero(bytes)) % 8 + (load ? 8 : 0)];
  if (known == 0) {
    known = static_cast<std::uint8_t>(shared_wavefronts(addresses(), mask, bytes, 0, load));
  }
  return known;
}

}  // namespace rung::vgpu
