// Launches as CUDA 3 had them: the shape and the arguments are set first, one by one.

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "emu/runtime/driver_api/from_runtime.hpp"

namespace {

struct Prepared {
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<char> arguments;
};

std::mutex mutex;
std::map<CUfunction, Prepared>& all_prepared() {
  static auto& all = *new std::map<CUfunction, Prepared>;
  return all;
}

template <class Change>
CUresult prepare(CUfunction function, const Change& change) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  return change(all_prepared()[function]) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return prepare(function, [&](Prepared& launch) {
    if (x <= 0 || y <= 0 || z <= 0) return false;
    launch.block[0] = static_cast<unsigned>(x);
    launch.block[1] = static_cast<unsigned>(y);
    launch.block[2] = static_cast<unsigned>(z);
    return true;
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return prepare(function, [&](Prepared& launch) {
    launch.shared_bytes = bytes;
    return true;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return prepare(function, [&](Prepared& launch) {
    launch.arguments.resize(bytes);
    return true;
  });
}

CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return prepare(function, [&](Prepared& launch) {
    if (offset < 0 || value == nullptr) return false;
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (end > launch.arguments.size()) launch.arguments.resize(end);
    std::memcpy(launch.arguments.data() + offset, value, bytes);
    return true;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return cuParamSetv(function, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return cuParamSetv(function, offset, &value, sizeof(value));
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  Prepared launch;
  const CUresult result = prepare(function, [&](const Prepared& found) {
    launch = found;
    return true;
  });
  if (result != CUDA_SUCCESS) return result;
  std::size_t bytes = launch.arguments.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch.arguments.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes,
                        stream, nullptr, extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return cuLaunchGridAsync(function, width, height, nullptr);
}

CUresult cuLaunch(CUfunction function) { return cuLaunchGrid(function, 1, 1); }

}  // extern "C"
