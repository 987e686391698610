#include "emu/runtime/host_access.hpp"

#include <dlfcn.h>

#include <csignal>

#include "emu/runtime/report.hpp"
#include "vgpu/driver/host_access.hpp"

namespace rung::emu {
namespace {

bool has_handler() {
  struct sigaction of_program{};
  vgpu::set_handler_after_observer(nullptr, &of_program);
  return of_program.sa_handler != SIG_DFL && of_program.sa_handler != SIG_IGN;
}

void observe(const vgpu::Hazard& access) {
  report_hazard(access);
  // The signal ends the program, without destructors, unless its own handler knows what to do.
  if (!has_handler()) report_end();
}

}  // namespace

void watch_host_accesses() { vgpu::set_host_access_observer(observe); }

}  // namespace rung::emu

#ifdef __linux__
// The program's calls come here: the linker has this library before libc.
extern "C" {
__attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                     struct sigaction* before) noexcept {
  if (signal == SIGSEGV && rung::vgpu::set_handler_after_observer(action, before)) return 0;
  static const auto system = reinterpret_cast<decltype(&sigaction)>(dlsym(RTLD_NEXT, "sigaction"));
  return system(signal, action, before);
}

__attribute__((visibility("default"))) sighandler_t signal(int signal,
                                                           sighandler_t handler) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}
}
#endif
