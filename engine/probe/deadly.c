/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/deadly.h"

#include "engine/base/alloc.h"
#include "engine/probe/probe.h"

#include <signal.h>
#include <stdatomic.h>

#define PATIENCE_MS 2000
#define STATUS_OF_SIGNAL 128

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGSYS,
                             SIGABRT, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static _Atomic(td_recorder *) watched;

void
td_probe_die(int number) {
  td_recorder *recorder = atomic_exchange_explicit(&watched, NULL, memory_order_acq_rel);
  if (recorder) td_recorder_finish_dying(recorder, STATUS_OF_SIGNAL + number, PATIENCE_MS);
}

/* The disposition is the default's again (SA_RESETHAND). A fault comes again on return, with the
 * program as it was; everything else has to be raised. */
static void
deadly_cb(int number, siginfo_t *info, void *context) {
  td_probe_die(number);
  bool comes_again = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS ||
                                           number == SIGFPE || number == SIGILL);
  if (!comes_again) raise(number);
}

void
td_deadly_watch(td_recorder *recorder) {
  struct sigaction own = {.sa_sigaction = deadly_cb,
                          .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_RESTART};
  atomic_store_explicit(&watched, recorder, memory_order_release);
  for (size_t i = 0; i < TD_N_ELEMENTS(deadly); i++) {
    struct sigaction before;
    if (sigaction(deadly[i], NULL, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    sigaction(deadly[i], &own, NULL);
  }
}

void
td_deadly_forget(void) {
  atomic_store_explicit(&watched, NULL, memory_order_release);
}
