/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/interrupt.h"

#include <signal.h>
#include <stdatomic.h>

static _Atomic(td_link *) watching; /* (borrowed) */
static struct sigaction before;     /* set before `watching` is */

static void
interrupt_cb(int number, siginfo_t *info, void *context) {
  td_link *link = atomic_load_explicit(&watching, memory_order_acquire);
  if (link) td_link_wake(link);
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
  else
    before.sa_handler(number);
}

/* A program that ignores SIGINT, or dies of it, needs no help. */
void
td_interrupt_watch(td_link *link) {
  if (sigaction(SIGINT, NULL, &before) != 0) return;
  bool has_handler = (before.sa_flags & SA_SIGINFO) ||
                     (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  if (!has_handler) return;
  struct sigaction ours = {.sa_sigaction = interrupt_cb,
                           .sa_mask = before.sa_mask,
                           .sa_flags = before.sa_flags | SA_SIGINFO};
  atomic_store_explicit(&watching, link, memory_order_release);
  sigaction(SIGINT, &ours, NULL);
}

void
td_interrupt_unwatch(void) {
  struct sigaction now;
  if (!atomic_exchange_explicit(&watching, NULL, memory_order_acq_rel)) return;
  if (sigaction(SIGINT, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
      now.sa_sigaction == interrupt_cb)
    sigaction(SIGINT, &before, NULL);
}
