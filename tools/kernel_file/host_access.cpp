#include "tools/kernel_file/host_access.hpp"

#include "vgpu/driver/host_access.hpp"

namespace rung {
namespace {

void (*on_host_access)(const std::string& message) = nullptr;

}  // namespace

void tell_host_accesses(void (*told)(const std::string& message)) {
  on_host_access = told;
  vgpu::set_host_access_observer(
      [](const vgpu::Hazard& access) { on_host_access(access.message); });
}

}  // namespace rung
