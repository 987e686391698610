#pragma once
// __managed__ variables: tells the runtime library where this program has them, before its code
// registers any variable.

#ifndef __CUDA_ARCH__
extern "C" {
void __cudaRegisterManagedRange(const void* begin, const void* end);
// The linker defines them if there is such a section.
extern char __start_rung_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_rung_managed[] __attribute__((weak, visibility("hidden")));
}

__attribute__((constructor(101))) static void rung_emu_find_managed() {
  if (__start_rung_managed == __stop_rung_managed) return;
  __cudaRegisterManagedRange(__start_rung_managed, __stop_rung_managed);
}
#endif
