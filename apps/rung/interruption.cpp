#include "interruption.hpp"

namespace rung {
namespace {

volatile std::sig_atomic_t noted_signal = 0;

void note(int signal) { noted_signal = signal; }

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = note;
    // The next one has its default effect.
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(signals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

int Interruption::noted() { return noted_signal; }

void Interruption::end_by_noted() {
  if (noted_signal == 0) return;
  std::signal(noted_signal, SIG_DFL);
  std::raise(noted_signal);
}

}  // namespace rung
