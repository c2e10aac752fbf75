/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool td_clock_has_counter;

/* Leaf 0x80000007, EDX bit 8: the counter runs at one rate in all power states (Intel SDM 18.17.1).
 */
static bool
counter_is_invariant(void) {
#if defined(__x86_64__)
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
#else
  return false;
#endif
}

/* When the program or module is loaded: before there are threads that read the clock. */
__attribute__((constructor)) static void
choose_clock(void) {
  td_clock_has_counter = counter_is_invariant();
}
