#include "tools/analysis/rung_trace/access_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "vgpu/driver/virtual_driver.hpp"

namespace rung {

AccessRecorder::AccessRecorder(int warp, vgpu::AccessWatcher also)
    : warp_(warp), also_(std::move(also)) {
  vgpu::set_access_watcher([this](const vgpu::WarpAccess& access) { note(access); });
}

AccessRecorder::~AccessRecorder() { vgpu::set_access_watcher({}); }

void AccessRecorder::note(const vgpu::WarpAccess& access) {
  if (also_) also_(access);
  if (!access.shared && !access.load) stores_.push_back(access);
  if (access.block != 0 || access.warp != warp_) return;
  if (seen_.try_emplace({access.site, access.shared}, accesses_.size()).second) {
    accesses_.push_back(access);
  }
}

double waste(const vgpu::WarpAccess& access) {
  std::set<std::uint64_t> starts;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((access.lanes >> lane & 1) != 0) starts.insert(access.address[lane]);
  }
  const double unit_bytes = access.shared ? 128 : 32;
  const double bytes = static_cast<double>(starts.size()) * access.bytes;
  return access.units / std::max(1.0, std::ceil(bytes / unit_bytes));
}

}  // namespace rung
