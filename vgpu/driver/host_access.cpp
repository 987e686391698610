#include "vgpu/driver/host_access.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/driver/host_line.hpp"
#include "vgpu/driver/state.hpp"
#include "vgpu/memory/device_addresses.hpp"

#ifdef __GLIBC__
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) noexcept;
#endif

namespace rung::vgpu {
namespace {

#ifdef __APPLE__
constexpr int fault_signal = SIGBUS;
#else
constexpr int fault_signal = SIGSEGV;
#endif

std::atomic<HostAccessObserver> observer = nullptr;
struct sigaction handler_after{};  // the program's handler, or the system's default
std::mutex observing;

/// Calls the system's sigaction, not the program's interposed one, which calls
/// set_handler_after_observer(). RTLD_NEXT would find nothing if the linker placed the interposing
/// library after libc.
int system_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
#ifdef __GLIBC__
  return __sigaction(signal, action, before);
#else
  return sigaction(signal, action, before);
#endif
}

/// The instruction that the signal interrupted, or nullptr if unknown.
const void* instruction_of(const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.pc);
#else
  (void)context;
  return nullptr;
#endif
}

const char* access_of(const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  constexpr greg_t page_fault_by_write = 2;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & page_fault_by_write) != 0 ? "write" : "read";
#else
  (void)context;
  return "access";
#endif
}

/// True if the instruction is an atomic read-modify-write.
bool is_atomic([[maybe_unused]] const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  constexpr unsigned char lock = 0xF0, operand_size = 0x66, exchange = 0x86, exchange_words = 0x87;
  const auto* at = static_cast<const unsigned char*>(instruction_of(context));
  while (*at == operand_size) ++at;
  if (*at == lock) return true;
  if (*at >> 4 == 4) ++at;  // a REX prefix
  return *at == exchange || *at == exchange_words;
#else
  return false;
#endif
}

std::string describe(std::uint64_t address) {
  driver::Process& process = driver::process();
  // Do not block: another thread holds the mutex as long as its kernel runs.
  if (const std::unique_lock lock(process.mutex, std::try_to_lock); lock.owns_lock()) {
    for (const auto& [handle, context] : process.contexts) {
      if (context->memory.reserves(address)) return context->memory.describe(address);
    }
  }
  return fmt::format("device address {:#x}", address);
}

/// "sum.cu:14"; empty if unknown.
std::string name_of(const HostLine& line) {
  if (line.file.empty()) return {};
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

Hazard hazard_of(std::uint64_t address, const void* context) {
  const HostLine line = find_host_line(instruction_of(context));
  Hazard hazard{};
  hazard.kind = HazardKind::host_access;
  hazard.first.access = access_of(context);
  hazard.first.file = line.file;
  hazard.first.line = line.line;
  hazard.first.source = name_of(line);
  hazard.kernel = line.function;
  hazard.address = describe(address);
  hazard.message = fmt::format(
      "{}: {} by the host{}, {}: the host cannot access device memory; copy it with cudaMemcpy, or "
      "allocate it with cudaMallocManaged",
      name(hazard.kind), hazard.first.access,
      hazard.first.source.empty() ? "" : " at " + hazard.first.source, hazard.address);
  return hazard;
}

#if defined(__linux__) && defined(__x86_64__)
/// The addresses whose pages are open for the thread's next instruction.
struct OpenPages {
  std::array<std::uint64_t, 4> addresses{};
  std::size_t count = 0;
};
thread_local OpenPages open_pages;
struct sigaction trap_handler_before{};

constexpr greg_t single_step = 0x100;  // the trap flag of EFLAGS

/// Runs after the instruction that has accessed the pages.
void close_pages(int signal, siginfo_t* info, void* context) {
  OpenPages& open = open_pages;
  if (open.count == 0) {
    const struct sigaction& before = trap_handler_before;
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler == SIG_IGN) return;
    if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
    system_sigaction(signal, &before, nullptr);
    raise(signal);
    return;
  }
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~single_step;
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  for (; open.count > 0; --open.count) process.order.close_page(open.addresses[open.count - 1]);
}

/// Has the page of an address closed again after the interrupted instruction. False if that is not possible.
bool close_after_step(std::uint64_t address, void* context) {
  static const bool has_handler = [] {
    struct sigaction action{};
    action.sa_sigaction = close_pages;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return system_sigaction(SIGTRAP, &action, &trap_handler_before) == 0;
  }();
  OpenPages& open = open_pages;
  if (!has_handler || open.count == open.addresses.size()) return false;
  open.addresses[open.count++] = address;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= single_step;
  return true;
}
#else
bool close_after_step(std::uint64_t, void*) { return false; }
#endif

/// True unless the thread's last fault was the same. Another thread may have made the page accessible since
/// this one faulted.
bool is_first_try(std::uint64_t address, const void* instruction) {
  thread_local std::pair<std::uint64_t, const void*> last;
  return std::exchange(last, {address, instruction}) != std::pair{address, instruction};
}

/// Handles an access to memory that an operation of the program may still access. Returns false for
/// any other access.
bool see_ordered_access(std::uint64_t address, void* context) {
  driver::Process& process = driver::process();
  if (!process.order.has_protected_pages()) return false;
  if (driver::is_forked_child()) {  // has no device, and perhaps a lock that stays held
    if (!process.order.protects_pages()) return false;
    process.order.lift_pages();
    return true;
  }
  const std::lock_guard lock(process.mutex);
  for (const auto& [handle, owner] : process.contexts) {
    if (std::as_const(owner->memory).find(address) == nullptr) continue;
    const bool writes = access_of(context) == std::string_view("write");
    const Touch touch = !writes              ? Touch::read
                        : is_atomic(context) ? Touch::synchronized_write
                                             : Touch::write;
    const auto seen = process.order.see_host_access(owner->memory, address, touch, [&] {
      const HostLine line = find_host_line(instruction_of(context));
      return ProgramSource::Line{line.file, line.line, name_of(line), {}};
    });
    using Seen = driver::ProgramOrder::HostAccess;
    if (seen == Seen::other_bytes && !close_after_step(address, context)) {
      process.order.leave_page_open(address);
    }
    return seen != Seen::not_protected || is_first_try(address, instruction_of(context));
  }
  return false;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction after = handler_after;
  if ((after.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) handler_after = {};
  if ((after.sa_flags & SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if ((after.sa_flags & SA_SIGINFO) != 0) return after.sa_sigaction(signal, info, context);
  if (after.sa_handler != SIG_DFL && after.sa_handler != SIG_IGN) return after.sa_handler(signal);
  // Return to the faulting instruction, which faults again and ends the process.
  system_sigaction(signal, &after, nullptr);
}

void handle(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (info->si_code > 0 && see_ordered_access(address, context)) return;
  if (info->si_code > 0 && is_device_address(address)) {
    const std::lock_guard lock(observing);
    observer.load()(hazard_of(address, context));
  }
  hand_on(signal, info, context);
}

}  // namespace

void set_host_access_observer(HostAccessObserver observer_) {
  const bool is_first = observer.exchange(observer_) == nullptr;
  if (!is_first) return;
  prepare_host_lines();
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  system_sigaction(fault_signal, &action, &handler_after);
}

bool protects_host_pages() { return driver::process().order.protects_pages(); }

namespace driver {
bool handles_host_accesses() { return observer.load() != nullptr; }
}  // namespace driver

bool set_handler_after_observer(const struct sigaction* handler, struct sigaction* before) {
  if (observer.load() == nullptr) return false;
  const struct sigaction old = handler_after;
  if (handler != nullptr) handler_after = *handler;
  if (before != nullptr) *before = old;
  return true;
}

}  // namespace rung::vgpu
