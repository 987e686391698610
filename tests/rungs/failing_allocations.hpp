#pragma once
// Makes the n-th request for memory or for a thread fail, in all threads of a program.

namespace rung {

/// The n-th request from now on, counted from 1, fails; also all later ones if `forever`. 0: no
/// request fails.
void fail_allocation(int n, bool forever = false);

/// True if a request has failed since fail_allocation().
bool allocation_failed();

}  // namespace rung
