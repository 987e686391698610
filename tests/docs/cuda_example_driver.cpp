// Connects the library to the virtual GPU that the CUDA runtime of `rung emu` uses.

#include "library/cuda/driver.hpp"

extern "C" const rung::cuda::DriverApi* rung_emu_driver();

namespace {

const rung::cuda::Driver driver{.api = rung_emu_driver(), .takes_cubin = false};
const bool is_used = [] {
  rung::cuda::use_driver(&driver);
  return true;
}();

}  // namespace
