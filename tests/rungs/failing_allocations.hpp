#pragma once
// Makes the n-th request for memory or for a thread fail, in all threads of a program.

namespace rung {

/// The n-th request from now on fails, counted from 1, and so do all later ones if `forever`. 0:
/// none does.
void fail_allocation(int n, bool forever = false);

/// Whether a request has failed since fail_allocation().
bool allocation_failed();

}  // namespace rung
