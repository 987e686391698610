#include "tools/analysis/quantities.hpp"

#include <algorithm>

namespace rung::analysis {
namespace {

using Q = Quantities;
constexpr double Q::* members[] = {&Q::multiply_adds,        &Q::instructions,
                                   &Q::global_load_bytes,    &Q::global_store_bytes,
                                   &Q::shared_load_bytes,    &Q::shared_store_bytes,
                                   &Q::global_load_elements, &Q::global_store_elements,
                                   &Q::shared_load_elements, &Q::shared_store_elements,
                                   &Q::global_sectors,       &Q::bulk_sectors,
                                   &Q::shared_wavefronts,    &Q::l1_cycles,
                                   &Q::matrix_instructions};
static_assert(sizeof members / sizeof *members == sizeof(Q) / sizeof(double), "all of them");

constexpr double sectors_of_line = 4;
constexpr double wavefront_bytes = 128;

double number(std::uint64_t count) { return static_cast<double>(count); }

/// Fully used sectors are counted as parts of full lines; each scattered sector as a separate line.
void add_global(Quantities& q, const Access& access, int element_bytes) {
  const double requests = number(access.count.executions);
  const double sectors = number(access.count.units);
  const double scattered = access.scattered_sectors();
  const int element = access.element_bytes > 0 ? access.element_bytes : element_bytes;
  q.global_sectors += sectors;
  q.l1_cycles += scattered > sectors / 2 ? sectors : std::max(requests, sectors / sectors_of_line);
  (access.is_load ? q.global_load_bytes : q.global_store_bytes) += access.moved_bytes();
  (access.is_load ? q.global_load_elements : q.global_store_elements) +=
      access.moved_bytes() / element;
}

void add_shared(Quantities& q, const Access& access, int element_bytes) {
  const int element = access.element_bytes > 0 ? access.element_bytes : element_bytes;
  (access.is_load ? q.shared_load_bytes : q.shared_store_bytes) += access.moved_bytes();
  (access.is_load ? q.shared_load_elements : q.shared_store_elements) +=
      access.moved_bytes() / element;
}

void add_matrix_units(Quantities& q, const KernelTrace& trace, int element_bytes) {
  q.matrix_instructions = trace.matrix_units.instructions;
  const double of_tcgen05 = number(trace.counters.tcgen05_shared_load_bytes);
  const double bytes = number(trace.counters.wgmma_shared_load_bytes) + of_tcgen05;
  q.shared_load_bytes += bytes;
  q.shared_load_elements += bytes / element_bytes;
  q.shared_wavefronts +=
      number(trace.counters.wgmma_shared_load_wavefronts) + of_tcgen05 / wavefront_bytes;
}

/// Bulk copies bypass L1, and access shared memory in full wavefronts.
void add_bulk_copies(Quantities& q, const vgpu::Counters& c, int element_bytes, int result_bytes) {
  q.global_load_bytes += number(c.bulk_load_bytes);
  q.global_load_elements += number(c.bulk_load_bytes) / element_bytes;
  q.global_store_bytes += number(c.bulk_store_bytes);
  q.global_store_elements += number(c.bulk_store_bytes) / result_bytes;
  q.shared_store_bytes += number(c.bulk_shared_store_bytes);
  q.shared_store_elements += number(c.bulk_shared_store_bytes) / element_bytes;
  q.shared_load_bytes += number(c.bulk_shared_load_bytes);
  q.shared_load_elements += number(c.bulk_shared_load_bytes) / result_bytes;
  q.bulk_sectors += number(c.bulk_load_sectors) + number(c.bulk_store_sectors);
  q.shared_wavefronts +=
      number(c.bulk_shared_store_bytes + c.bulk_shared_load_bytes) / wavefront_bytes;
}

}  // namespace

Quantities& Quantities::operator+=(const Quantities& other) {
  for (double Q::* member : members) this->*member += other.*member;
  return *this;
}

Quantities Quantities::operator*(double factor) const {
  Quantities product = *this;
  for (double Q::* member : members) product.*member *= factor;
  return product;
}

Quantities quantities(const KernelTrace& trace, int element_bytes, int result_bytes) {
  const vgpu::Counters& c = trace.counters;
  Quantities q;
  q.multiply_adds = trace.multiply_adds;
  q.instructions = number(c.instructions);
  for (const Access& access : trace.accesses) {
    if (access.space == Space::global) {
      add_global(q, access, element_bytes);
    } else {
      add_shared(q, access, element_bytes);
    }
    // The store of an asynchronous copy: a vector or an element per lane, without staging in
    // registers.
    if (access.asynchronous) {
      q.shared_store_bytes += access.moved_bytes();
      q.shared_store_elements += access.moved_bytes() / element_bytes;
    }
  }
  q.shared_wavefronts =
      number(c.issued_shared_load_wavefronts) + number(c.issued_shared_store_wavefronts);
  add_matrix_units(q, trace, element_bytes);
  add_bulk_copies(q, c, element_bytes, result_bytes);
  return q;
}

Quantities extrapolate(const Quantities& at_k1, double k1, const Quantities& at_k2, double k2,
                       double k) {
  const double step = (k - k1) / (k2 - k1);
  Quantities result = at_k2 * step;
  result += at_k1 * (1 - step);
  return result;
}

}  // namespace rung::analysis
