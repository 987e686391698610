#pragma once
// The text of one random kernel and of its host function.

#include <cstdint>
#include <string>

namespace rung {

class KernelText {
 public:
  explicit KernelText(std::uint64_t seed) : state_(seed) {}

  /// A kernel called `name`, the function host_`name`, and the functions that both call.
  std::string kernel(const std::string& name);

 private:
  /// A step, as the kernel has it and as the host does.
  struct Step {
    std::string device, host;
  };

  unsigned below(unsigned limit);
  bool one_in(unsigned n) { return below(n) == 0; }

  // The text of one thread.
  std::string value(int depth);
  std::string condition();
  std::string statement(int depth);
  std::string statements(int depth);
  std::string switch_over(int depth, bool in_function);
  std::string loop(int depth);
  std::string early_end();
  std::string function(const std::string& name);

  // Steps.
  Step local();
  Step departure();
  Step shuffle();
  Step reduction();
  Step ballot();
  Step exchange();
  Step parity();
  Step group();
  Step shrinking_loop();
  Step repeated();
  Step step(int depth);

  std::uint64_t state_;
  std::string name_;
  int functions_ = 0;
  int names_ = 0;
  bool in_function_ = false;
  bool may_return_ = false;  // no exchange follows
  int loops_ = 0;
};

}  // namespace rung
