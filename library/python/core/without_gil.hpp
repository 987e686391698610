#pragma once
// Calls of the library that let other Python threads run meanwhile.

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace rung::python {

/// Releases the GIL for its lifetime. While the interpreter ends, CPython before 3.14 ends daemon
/// threads that ask for the GIL, by unwinding their stack. C++ frames would end the process
/// instead, and their destructors must not run without the GIL. As in CPython 3.14, such a thread
/// waits for the end of the process.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      while (true) pause();
    }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace rung::python
