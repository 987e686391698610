#include "interruption.hpp"

#include <csignal>

namespace rung {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t noted_signal = 0;

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  for (const int signal : signals) {
    set_action(signal, [](int number) { noted_signal = number; });
  }
}

Interruption::~Interruption() {
  for (const int signal : signals) set_action(signal, SIG_DFL);
}

int Interruption::noted() { return noted_signal; }

void Interruption::end_by_noted() {
  if (noted_signal == 0) return;
  set_action(noted_signal, SIG_DFL);
  std::raise(noted_signal);
}

}  // namespace rung
