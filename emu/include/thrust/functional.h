#pragma once
// Thrust's functional.h, with the base classes that CCCL 3 has removed and older programs have.

#include_next <thrust/functional.h>
#include <thrust/version.h>

#if THRUST_MAJOR_VERSION >= 3
THRUST_NAMESPACE_BEGIN

template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};

template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

/// The opposite of a predicate of one argument (not1) or two (not2).
template <class Predicate>
struct rung_emu_negated {
  Predicate predicate;
  template <class... Arguments>
  _CCCL_HOST_DEVICE bool operator()(const Arguments&... arguments) const {
    return !predicate(arguments...);
  }
};
template <class Predicate>
using unary_negate = rung_emu_negated<Predicate>;
template <class Predicate>
using binary_negate = rung_emu_negated<Predicate>;
template <class Predicate>
_CCCL_HOST_DEVICE unary_negate<Predicate> not1(const Predicate& predicate) {
  return {predicate};
}
template <class Predicate>
_CCCL_HOST_DEVICE binary_negate<Predicate> not2(const Predicate& predicate) {
  return {predicate};
}

THRUST_NAMESPACE_END
#endif
