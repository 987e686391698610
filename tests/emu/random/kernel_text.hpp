#pragma once
// The text of one random kernel and of its host function.

#include <cstdint>
#include <string>

namespace rung {

/// The kinds of steps that a kernel may have.
enum class Steps {
  mixed,  // all that are declared below, except puns
  puns,   // puns, exchanges, and the text of one thread
};

class KernelText {
 public:
  explicit KernelText(std::uint64_t seed, Steps steps = Steps::mixed)
      : state_(seed), steps_(steps) {}

  /// A kernel called `name`, the function host_`name`, and the functions that both call.
  std::string kernel(const std::string& name);

 private:
  /// The text of a step in the kernel and in the host function.
  struct Step {
    std::string device, host;
  };

  static std::string for_each_thread(const std::string& text);

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

  std::string punned(const char* type, unsigned bytes);
  std::string pun_statement();

  // Steps.
  Step local();
  Step pun();
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
  Steps steps_;
  std::string name_;
  int functions_ = 0;
  int names_ = 0;
  bool in_function_ = false;
  bool may_return_ = false;  // no exchange follows
  int loops_ = 0;
};

}  // namespace rung
