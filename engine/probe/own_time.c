/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/own_time.h"

#include "engine/base/clock.h"
#include "engine/base/forks.h"
#include "engine/events/cuts.h"
#include "engine/events/emit.h"

#include <stdatomic.h>

#define TOLD_NS 10000    /* less is no event */
#define FREE_NS 50000000 /* of the budget */
#define CHECK_NS 1000000 /* a thread looks at the budget when it has worked for so long */
#define SHARE 20         /* of the processor time: one part in so many */
#define SAMPLE 64        /* short calls for one that is timed */
#define SHORT_NS 20000   /* more is the system's: the thread had no processor, or no GIL */
#define LONG_NS 200000   /* more at once is hardly work: the thread waited for a processor */
#define N_WORKS (TD_recorder_work_collectives + 1)
#define MAY_STOP                                                                                   \
  (1u << TD_recorder_work_cuts | 1u << TD_recorder_work_modules | 1u << TD_recorder_work_leaves |  \
   1u << TD_recorder_work_collectives)

uint32_t td_own_stopped;

static struct {
  uint64_t ticks, ns;              /* of the same moment; set by the first td_own_start */
  _Atomic double ticks_per_ns;     /* relaxed: about, before a recording begins */
  _Atomic uint64_t since;          /* ns of processor time */
  _Atomic uint64_t spent[N_WORKS]; /* ticks; relaxed: sums of their own */
} own = {.ticks_per_ns = 1};

static _Thread_local uint64_t told;      /* ticks of work that was timed */
static _Thread_local uint64_t unchecked; /* of that, since the budget was looked at */
static _Thread_local uint32_t n_calls;   /* short ones */

/* The child of a fork has computed nothing yet. */
__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_reset(td_own_start);
}

static void
measure_clock(void) {
  uint64_t ns = td_clock_monotonic_ns() - own.ns, ticks = td_clock_now() - own.ticks;
  if (ns > CHECK_NS) own.ticks_per_ns = (double)ticks / (double)ns;
}

static uint64_t
ticks_of(uint64_t ns) {
  return (uint64_t)((double)ns * own.ticks_per_ns);
}

static uint64_t
ns_of(uint64_t ticks) {
  return (uint64_t)((double)ticks / own.ticks_per_ns);
}

static uint64_t
processor_ns(void) {
  return td_clock_timespec_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void
td_own_start(void) {
  if (!own.ns) {
    own.ticks = td_clock_now();
    own.ns = td_clock_monotonic_ns();
  }
  atomic_store(&own.since, processor_ns());
  for (int i = 0; i < N_WORKS; i++)
    atomic_store(&own.spent[i], 0);
  __atomic_store_n(&td_own_stopped, 0, __ATOMIC_RELAXED);
}

static void
tell_stopped(td_recorder_work work) {
  uint64_t took = atomic_load_explicit(&own.spent[work], memory_order_relaxed);
  if (td_recording()) TD_EMIT(recorder_stopped, .work = work, .took = took);
}

void
td_own_tell(void) {
  measure_clock();
  TD_EMIT(setting, .name = td_intern("recorder"), .value = td_intern("timed"));
  for (int i = 0; i < N_WORKS; i++)
    if (!td_own_wants((td_recorder_work)i)) tell_stopped((td_recorder_work)i);
}

void
td_own_stop(td_recorder_work work) {
  uint32_t before = __atomic_fetch_or(&td_own_stopped, 1u << work, __ATOMIC_RELAXED);
  if (before >> work & 1) return;
  if (work == TD_recorder_work_cuts) td_cuts_give_up();
  tell_stopped(work);
}

static void
check_budget(void) {
  uint64_t sum = 0, most = 0;
  int costliest = 0;
  measure_clock();
  for (int i = 0; i < N_WORKS; i++) {
    if (!(MAY_STOP >> i & 1) || !td_own_wants((td_recorder_work)i)) continue;
    uint64_t ticks = atomic_load_explicit(&own.spent[i], memory_order_relaxed);
    if (ticks > most) costliest = i;
    most = ticks > most ? ticks : most;
    sum += ticks;
  }
  uint64_t ns = ns_of(sum);
  if (ns > FREE_NS && ns * SHARE > processor_ns() - atomic_load(&own.since))
    td_own_stop((td_recorder_work)costliest);
}

static void
count(td_recorder_work work, uint64_t ticks) {
  atomic_fetch_add_explicit(&own.spent[work], ticks, memory_order_relaxed);
  unchecked += ticks;
  if (unchecked < ticks_of(CHECK_NS)) return;
  unchecked = 0;
  check_budget();
}

td_own_time
td_own_begin(void) {
  return (td_own_time){td_clock_now(), told};
}

void
td_own_end(td_own_time since, td_recorder_work work) {
  uint64_t all = td_clock_now() - since.begin, inside = told - since.inside;
  uint64_t took = all > inside ? all - inside : 0;
  told += took;
  if (MAY_STOP >> work & 1) count(work, took < ticks_of(LONG_NS) ? took : ticks_of(LONG_NS));
  if (td_recording() && took >= ticks_of(TOLD_NS))
    TD_EMIT(recorder_took, .work = work, .took = took);
}

td_own_time
td_own_sample(void) {
  return ++n_calls % SAMPLE ? (td_own_time){0} : td_own_begin();
}

void
td_own_sampled(td_own_time since, td_recorder_work work, uint64_t around_ns) {
  if (!since.begin) return;
  uint64_t all = td_clock_now() - since.begin, inside = told - since.inside;
  uint64_t took = all > inside ? all - inside : 0;
  if (took >= ticks_of(SHORT_NS)) took = 0;
  count(work, (took + ticks_of(around_ns)) * SAMPLE);
}
