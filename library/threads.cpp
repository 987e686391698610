// The thread limit, in C++ and in C.

#include "rung/threads.hpp"

#include "device/cpu/machine.hpp"
#include "device/cpu/thread_limit.hpp"
#include "library/c_api.hpp"
#include "library/check.hpp"

namespace rung {

void set_num_threads(int threads) {
  check::threads("set_num_threads", threads);
  cpu::set_thread_limit(threads);
}

int get_num_threads() {
  const int limit = cpu::thread_limit();
  return limit != 0 ? limit : cpu::available_threads();
}

}  // namespace rung

extern "C" rung_status rung_set_num_threads(int32_t threads) {
  return rung::c_api::guarded([&] { rung::set_num_threads(threads); });
}

extern "C" int32_t rung_get_num_threads(void) { return rung::get_num_threads(); }
