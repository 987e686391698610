#pragma once
// __managed__ variables: tells the runtime library where this program has them, before its code
// registers any variable.

#ifndef __CUDA_ARCH__
extern "C" {
// All objects of rung-nvcc call it: where a toolkit's libcudart is linked, the linker says its name.
void rung_emu_is_missing__link_by_rung_nvcc_or_with_its_toolkit_folder(const void* begin,
                                                                       const void* end);
// The linker defines them if there is such a section.
extern char __start_rung_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_rung_managed[] __attribute__((weak, visibility("hidden")));
}

__attribute__((constructor(101))) static void rung_emu_find_managed() {
  if (__start_rung_managed == __stop_rung_managed) return;
  rung_emu_is_missing__link_by_rung_nvcc_or_with_its_toolkit_folder(__start_rung_managed,
                                                                    __stop_rung_managed);
}
#endif
