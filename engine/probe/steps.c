/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Steps]
 * Problem: `--steps 100:103` needs to know where a training step ends. PyTorch's engine knows
 * passes only, and an optimizer is an object like any other.
 *
 * Who says it. A *marker* says that a step is over. The markers are: the program
 * (`tapedeck.step()`), an optimizer whose step() has returned, the profiler's step(). If the
 * program says it once, only the program counts from then on. A program may have no optimizer when
 * its first pass begins. Then the end of each pass that no node called is a marker. That is over
 * when an optimizer steps. A marker without a pass since the last step says nothing new: an
 * optimizer and the profiler both speak at the end of a step.
 *
 * Several optimizers. One of them leads: the one that stepped last in the first round, that is,
 * before any of them stepped a second time. So the step of a GAN ends with the second of its two
 * optimizers, and has the passes of both. Nobody can know the second one in advance, so step 0 ends
 * with the first one. If another optimizer steps twice while the leader is silent, it leads.
 *
 * Whole passes. The decision about a pass falls at its begin, and passes inside it follow it. So
 * the engine is watched until the last recorded pass is over, although the next step has begun.
 * What the probe does then is in recording.c, Note [Pauses]. */
#include "engine/probe/steps.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/emit.h"

#include <pthread.h>
#include <stdlib.h>

bool td_steps_wanted = true;

#define NO_MARKER UINT32_MAX
#define MARKERS_MAX 64u

typedef struct counts {
  uint32_t n_steps;      /* that are over: the number of the step under way */
  uint32_t n_passes;     /* begun in the step under way */
  uint32_t n_all_passes; /* begun ever */
  uint32_t n_recording;  /* recorded passes under way */
  bool is_wanted;        /* the step under way, when it began */
  bool nan_came;
  bool counts_passes; /* TD_MARKER_PASS is a marker */
  bool program_leads;
  bool is_first_round;
  uint32_t leader;      /* or NO_MARKER */
  uint64_t seen, since; /* optimizers ever, and since the leader spoke: a bit for each */
} counts;

typedef struct left_out {
  bool pending;
  uint32_t first, n_steps, n_passes;
} left_out;

static struct {
  pthread_mutex_t mutex; /* guards all below */
  td_steps_options options;
  counts now;
  left_out left;
  uint32_t generation;
} steps = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .options = {.to = UINT32_MAX, .every = 1},
    .now = {.leader = NO_MARKER, .is_first_round = true},
};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&steps.mutex, TD_FORK_STEPS);
}

/* A step begins. */
static void
decide_locked(void) {
  const td_steps_options *chosen = &steps.options;
  uint32_t step = steps.now.n_steps;
  steps.now.is_wanted = step >= chosen->from && step < chosen->to &&
                        (step - chosen->from) % chosen->every == 0 && !steps.now.nan_came;
  __atomic_store_n(&td_steps_wanted, steps.now.is_wanted, __ATOMIC_RELAXED);
}

void
td_steps_configure(const td_steps_options *options) {
  pthread_mutex_lock(&steps.mutex);
  steps.options = *options;
  steps.options.words = options->words ? td_dup_string(options->words) : NULL;
  decide_locked();
  pthread_mutex_unlock(&steps.mutex);
}

void
td_steps_forget(void) {
  steps.now = (counts){.leader = NO_MARKER, .is_first_round = true};
  steps.left = (left_out){0};
  steps.generation++;
  decide_locked();
}

bool
td_steps_are_chosen(void) {
  return steps.options.words != NULL;
}

bool
td_steps_wants_watching(void) {
  pthread_mutex_lock(&steps.mutex);
  bool wants = td_steps_wants_this() || steps.now.n_recording > 0;
  pthread_mutex_unlock(&steps.mutex);
  return wants;
}

static left_out *
leave_out_locked(void) {
  if (!steps.left.pending) steps.left = (left_out){.pending = true, .first = steps.now.n_steps};
  return &steps.left;
}

td_pass_ticket
td_steps_pass_begin(void) {
  pthread_mutex_lock(&steps.mutex);
  td_pass_ticket ticket = {steps.generation, td_steps_wants_this(), steps.now.n_all_passes == 0};
  steps.now.n_passes++;
  steps.now.n_all_passes++;
  if (ticket.recorded)
    steps.now.n_recording++;
  else
    leave_out_locked()->n_passes++;
  pthread_mutex_unlock(&steps.mutex);
  return ticket;
}

bool
td_steps_pass_end(td_pass_ticket ticket) {
  pthread_mutex_lock(&steps.mutex);
  bool is_own = ticket.generation == steps.generation;
  if (is_own && ticket.recorded) steps.now.n_recording--;
  bool marks = is_own && steps.now.counts_passes;
  pthread_mutex_unlock(&steps.mutex);
  return marks && td_steps_mark(TD_MARKER_PASS);
}

/* Passes are steps only for those who choose steps: the program itself counts none. */
static void
end_step_locked(uint32_t marker) {
  bool is_told = marker != TD_MARKER_PASS || steps.options.words;
  if (!steps.now.is_wanted)
    leave_out_locked()->n_steps++;
  else if (is_told)
    TD_EMIT(step, .iteration = steps.now.n_steps);
  steps.now.n_steps++;
  steps.now.n_passes = 0;
  decide_locked();
}

/* Whether this optimizer's, or the profiler's, step is the program's. */
static bool
leads_locked(uint32_t marker) {
  counts *now = &steps.now;
  uint64_t bit = UINT64_C(1) << TD_MIN(marker, MARKERS_MAX - 1);
  bool is_new = !(now->seen & bit), leads = now->leader == NO_MARKER || marker == now->leader;
  now->seen |= bit;
  if (is_new && !leads && now->is_first_round) {
    now->leader = marker;
    return false;
  }
  if (!is_new) now->is_first_round = false;
  leads = leads || (now->since & bit);
  now->since |= bit;
  if (!leads) return false;
  now->leader = marker;
  now->since = 0;
  return true;
}

/* The first word of the program may come right after the optimizer's. */
static bool
is_over_locked(uint32_t marker) {
  counts *now = &steps.now;
  bool is_same = now->n_passes == 0 && now->n_steps > 0;
  if (marker == TD_MARKER_PROGRAM) {
    bool was_leading = now->program_leads;
    now->program_leads = true;
    return was_leading || !is_same;
  }
  if (now->program_leads || now->n_passes == 0) return false;
  if (marker == TD_MARKER_PASS) return now->counts_passes;
  now->counts_passes = false;
  return leads_locked(marker);
}

bool
td_steps_mark(uint32_t marker) {
  pthread_mutex_lock(&steps.mutex);
  bool is_over = is_over_locked(marker);
  if (is_over) end_step_locked(marker);
  pthread_mutex_unlock(&steps.mutex);
  return is_over;
}

void
td_steps_count_passes(void) {
  pthread_mutex_lock(&steps.mutex);
  steps.now.counts_passes = steps.now.seen == 0;
  pthread_mutex_unlock(&steps.mutex);
}

void
td_steps_note_nan(void) {
  pthread_mutex_lock(&steps.mutex);
  steps.now.nan_came = steps.now.nan_came || steps.options.until_nan;
  pthread_mutex_unlock(&steps.mutex);
}

void
td_steps_tell_left_out(void) {
  pthread_mutex_lock(&steps.mutex);
  left_out left = steps.left;
  steps.left = (left_out){0};
  bool is_within = !steps.now.is_wanted && steps.now.n_passes > 0;
  pthread_mutex_unlock(&steps.mutex);
  if (!left.pending) return;
  TD_EMIT(left_out, .first = left.first, .steps = left.n_steps + is_within, .passes = left.n_passes,
          .chosen = td_intern(steps.options.words));
}

void
td_steps_counts(uint32_t *n_steps, uint32_t *n_passes, bool *nan_came) {
  pthread_mutex_lock(&steps.mutex);
  *n_steps = steps.now.n_steps;
  *n_passes = steps.now.n_all_passes;
  *nan_came = steps.now.nan_came;
  pthread_mutex_unlock(&steps.mutex);
}
