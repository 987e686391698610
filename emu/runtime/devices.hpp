#pragma once
// Several devices (--devices). All are of one model and share the memory of one context, as if each
// had access to the memory of all its peers; each has its own modules, and with them its own
// __device__ and __constant__ variables.

namespace rung::emu {

inline constexpr int max_devices = 16;

/// From RUNG_EMU_DEVICES; 1 by default.
int device_count();
inline bool is_device(int device) { return device >= 0 && device < device_count(); }

/// The current device of the calling thread.
int current_device();

/// Forgets which devices may access which: the device is reset.
void forget_peers();

}  // namespace rung::emu
