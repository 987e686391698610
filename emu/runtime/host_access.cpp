#include "emu/runtime/host_access.hpp"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>

#include "emu/runtime/report.hpp"
#include "vgpu/driver/host_access.hpp"
#include "vgpu/driver/host_threads.hpp"

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
namespace {

template <class F>
F system_function(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// Accesses each page of memory that a system call is about to access. The call would fail on a protected
/// page.
void access_pages(const void* memory, std::size_t bytes, bool writes) {
  if (bytes == 0 || !rung::vgpu::protects_host_pages()) return;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin; at < begin + bytes; at = (at / page + 1) * page) {
    auto* const byte = reinterpret_cast<volatile char*>(at);
    const char value = *byte;
    if (writes) *byte = value;
  }
}

std::chrono::nanoseconds duration_of(const timespec* time) {
  if (time == nullptr) return {};
  return std::chrono::seconds{time->tv_sec} + std::chrono::nanoseconds{time->tv_nsec};
}

}  // namespace

#define RUNG_VISIBLE __attribute__((visibility("default")))

// The program's calls come here: the linker has this library before libc.
extern "C" {
RUNG_VISIBLE int sigaction(int signal, const struct sigaction* action,
                           struct sigaction* before) noexcept {
  if (signal == SIGSEGV && rung::vgpu::set_handler_after_observer(action, before)) return 0;
  static const auto system = system_function(&sigaction, "sigaction");
  return system(signal, action, before);
}

RUNG_VISIBLE sighandler_t signal(int signal, sighandler_t handler) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

RUNG_VISIBLE int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static const auto system = system_function(&clock_nanosleep, "clock_nanosleep");
  timespec now{};
  if ((flags & TIMER_ABSTIME) != 0) clock_gettime(clock, &now);
  const rung::vgpu::SleepingThread sleeping(duration_of(time) - duration_of(&now));
  return system(clock, flags, time, left);
}

RUNG_VISIBLE int nanosleep(const timespec* time, timespec* left) {
  static const auto system = system_function(&nanosleep, "nanosleep");
  const rung::vgpu::SleepingThread sleeping(duration_of(time));
  return system(time, left);
}

RUNG_VISIBLE int usleep(useconds_t microseconds) {
  static const auto system = system_function(&usleep, "usleep");
  const rung::vgpu::SleepingThread sleeping(std::chrono::microseconds{microseconds});
  return system(microseconds);
}

RUNG_VISIBLE unsigned sleep(unsigned seconds) {
  static const auto system = system_function(&sleep, "sleep");
  const rung::vgpu::SleepingThread sleeping(std::chrono::seconds{seconds});
  return system(seconds);
}

RUNG_VISIBLE ssize_t read(int file, void* to, std::size_t bytes) {
  static const auto system = system_function(&read, "read");
  access_pages(to, bytes, true);
  return system(file, to, bytes);
}

RUNG_VISIBLE ssize_t write(int file, const void* from, std::size_t bytes) {
  static const auto system = system_function(&write, "write");
  access_pages(from, bytes, false);
  return system(file, from, bytes);
}

RUNG_VISIBLE std::size_t fread(void* to, std::size_t bytes, std::size_t count, FILE* file) {
  static const auto system = system_function(&fread, "fread");
  access_pages(to, bytes * count, true);
  return system(to, bytes, count, file);
}

RUNG_VISIBLE std::size_t fwrite(const void* from, std::size_t bytes, std::size_t count,
                                FILE* file) {
  static const auto system = system_function(&fwrite, "fwrite");
  access_pages(from, bytes * count, false);
  return system(from, bytes, count, file);
}
}
#endif
