/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/numerics.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/birth.h"
#include "engine/probe/contributions.h"
#include "engine/probe/operations.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

bool td_numerics_anomalies, td_numerics_statistics, td_numerics_hooks_unseen;

static const char *search = "off"; /* what is looked for */
static bool in_full;               /* statistics, not counts alone */
#define N_REASONS 16
static _Atomic(const char *) told[N_REASONS]; /* why gradients were not read */
static _Thread_local td_numerics_frame *now;  /* (borrowed) the innermost evaluation */

static bool
is_word(const char *text, const char *word) {
  return text && strcmp(text, word) == 0;
}

void
td_numerics_configure(const char *anomaly, const char *stats) {
  bool infinities = is_word(anomaly, "nonfinite");
  td_numerics_anomalies = infinities || is_word(anomaly, "nan");
  td_births_wanted = td_numerics_anomalies ? TD_NUMBERS_NAN | (infinities ? TD_NUMBERS_INF : 0) : 0;
  search = infinities ? "nonfinite" : td_numerics_anomalies ? "nan" : "off";
  in_full = is_word(stats, "full");
  td_numerics_statistics = in_full || is_word(stats, "finite");
}

void
td_numerics_begin(void) {
  TD_EMIT(setting, .name = td_intern("anomaly"), .value = td_intern(search));
  if (td_numerics_anomalies)
    TD_EMIT(setting, .name = td_intern("carried"), .value = td_intern("yes"));
  td_contributions_drop(TD_NONE);
  td_operations_forget_nodes();
  for (int i = 0; i < N_REASONS; i++)
    atomic_store(&told[i], NULL);
}

bool
td_numerics_is_evaluating(void) {
  return now != NULL;
}

/* A birth in the evaluation that the thread is in. */
static td_birth
birth_here(td_birthplace place, uint32_t number) {
  return (td_birth){.place = place,
                    .node = now->node,
                    .graph_task = now->graph_task,
                    .number = number,
                    .from = TD_NONE,
                    .other = TD_NONE};
}

/* Tells of the first gradient that cannot be read for a reason. */
static void
note_unread(const char *why) {
  for (int i = 0; i < N_REASONS; i++) {
    const char *there = NULL;
    if (atomic_load_explicit(&told[i], memory_order_relaxed) == why) return;
    if (!atomic_compare_exchange_strong(&told[i], &there, why) && there != why) continue;
    if (!there)
      TD_EMIT(unread, .node = now->node, .graph_task = now->graph_task,
              .why = td_intern_static(why));
    return;
  }
}

void
td_numerics_check(td_gradient *gradient, uint64_t n_bytes) {
  uint64_t wanted = 0;
  bool is_ours = td_numbers_are_readable(&gradient->numbers);
  bool lies_apart = is_ours && td_numbers_span(&gradient->numbers, &wanted);
  if (!is_ours)
    gradient->unread = TD_UNREAD_NO_MEMORY;
  else if (!lies_apart)
    gradient->unread = TD_UNREAD_OVERLAP;
  else if (wanted > n_bytes)
    gradient->unread = TD_UNREAD_SHORT;
  if (gradient->unread) gradient->numbers = (td_numbers){.type = TD_N_NUMBER_TYPES};
}

static bool
can_be_read(const td_gradient *gradient) {
  if (!gradient->identity) return false;
  if (gradient->unread) note_unread(gradient->unread);
  return !gradient->unread && td_numbers_are_readable(&gradient->numbers);
}

/* 0 for a gradient that nobody can read. */
static uint64_t
n_elements(const td_gradient *gradient) {
  uint64_t n = gradient->unread ? 0 : 1;
  for (int dim = 0; dim < gradient->numbers.n_dims; dim++)
    n *= (uint64_t)gradient->numbers.sizes[dim];
  return n;
}

static td_numerics_seen
look(const td_gradient *gradient) {
  td_numerics_seen seen = {.identity = gradient->identity,
                           .data = gradient->numbers.data,
                           .n = n_elements(gradient),
                           .type = gradient->numbers.type,
                           .version = gradient->version};
  if (can_be_read(gradient)) seen.found = td_numbers_look(&gradient->numbers);
  return seen;
}

/* What is seen of an output. One that shares an input's memory, all of it and unwritten, has in it
 * what that had: a view need not be read again. */
static td_numerics_seen
look_beside(const td_numerics_list *inputs, const td_gradient *gradient) {
  for (uint32_t i = 0; i < inputs->n; i++) {
    td_numerics_seen seen = inputs->at[i];
    if (!seen.data || seen.data != gradient->numbers.data || seen.version != gradient->version ||
        seen.n != n_elements(gradient))
      continue;
    seen.identity = gradient->identity;
    seen.contribution = NULL;
    return seen;
  }
  return look(gradient);
}

unsigned
td_numerics_look(const td_gradient *gradient) {
  return gradient->unread ? 0 : td_numbers_look(&gradient->numbers);
}

static bool
is_as_seen(const td_numerics_seen *seen, const td_gradient *gradient) {
  return seen->identity == gradient->identity && seen->version == gradient->version;
}

static void
measure(td_stats_place place, uint32_t number, const td_gradient *gradient) {
  td_number_stats stats;
  if (!can_be_read(gradient)) return;
  if (in_full)
    td_numbers_measure(&gradient->numbers, &stats);
  else
    td_numbers_count(&gradient->numbers, &stats);
  TD_EMIT(tensor_stats, .node = now->node, .graph_task = now->graph_task, .place = place,
          .number = number, .n_elements = stats.n_elements, .n_nan = stats.n_nan,
          .n_inf = stats.n_inf, .min = stats.min, .max = stats.max, .mean = stats.mean,
          .l2 = stats.l2);
}

static void
measure_all(td_stats_place place, uint32_t n, const td_gradient *gradients) {
  for (uint32_t i = 0; td_numerics_statistics && i < n; i++)
    measure(place, i, &gradients[i]);
}

static void
list_init(td_numerics_list *list, uint32_t n) {
  list->n = n;
  list->at = n <= TD_NUMERICS_FEW ? list->few : TD_NEW_N(td_numerics_seen, n);
  memset(list->at, 0, n * sizeof *list->at);
}

static void
list_fini(td_numerics_list *list) {
  if (list->at != list->few) free(list->at);
  list->at = list->few;
  list->n = 0;
}

static unsigned
found_in(const td_numerics_list *list) {
  unsigned found = 0;
  for (uint32_t i = 0; i < list->n; i++)
    found |= list->at[i].found;
  return found;
}

/* The latest contribution to an input but `but`, with one of these in it where `with` is not 0. */
static const td_contribution *
find_latest(const td_contribution *all, uint32_t input_nr, unsigned with,
            const td_contribution *but) {
  const td_contribution *latest = NULL;
  for (; all; all = all->next)
    if (all->input_nr == input_nr && all != but && (!with || all->seen.found & with)) latest = all;
  return latest;
}

/* Who met whom: two with opposite infinities, else the last two. */
static void
blame(const td_contribution *all, uint32_t input_nr, td_birth *birth) {
  const td_contribution *plus = find_latest(all, input_nr, TD_NUMBERS_PLUS_INF, NULL);
  const td_contribution *minus = find_latest(all, input_nr, TD_NUMBERS_MINUS_INF, plus);
  const td_contribution *from = plus && minus ? minus : find_latest(all, input_nr, 0, NULL);
  const td_contribution *other = plus && minus ? plus : find_latest(all, input_nr, 0, from);
  for (const td_contribution *at = from; at; at = at->next)
    if (at == other) { /* the later one completed it */
      other = from;
      from = at;
    }
  birth->from = from->from;
  birth->from_output_nr = from->output_nr;
  birth->other = other->from;
  birth->other_output_nr = other->output_nr;
}

static void
note_unseen_hook(uint32_t input_nr, unsigned before, unsigned found) {
  td_birth birth = birth_here(TD_birthplace_hook, input_nr);
  td_birth_note(before, found, &birth);
}

static td_birth
birth_on_the_way(td_birthplace place, uint32_t input_nr, uint32_t from, uint32_t output_nr) {
  td_birth birth = birth_here(place, input_nr);
  birth.from = from;
  birth.from_output_nr = output_nr;
  return birth;
}

/* What one contribution alone cannot have become without somebody changing it: a post hook, or the
 * engine, which makes the node's output fit. */
static void
note_change(const td_contribution *contribution, uint32_t input_nr, const td_gradient *gradient,
            unsigned found) {
  bool fits = contribution->seen.n == n_elements(gradient);
  bool is_cast = contribution->seen.type != gradient->numbers.type;
  bool is_engines = !contribution->hooked && (is_cast || !fits);
  if (td_numerics_hooks_unseen && fits && !is_cast)
    return note_unseen_hook(input_nr, contribution->seen.found, found);
  td_birth birth = birth_here(contribution->hooked ? TD_birthplace_hook : TD_birthplace_node,
                              contribution->output_nr);
  birth.node = contribution->from;
  if (is_engines)
    birth = birth_on_the_way(fits ? TD_birthplace_cast : TD_birthplace_reduced, input_nr,
                             contribution->from, contribution->output_nr);
  td_birth_note(contribution->seen.found, found, &birth);
}

/* Opposite infinities make a NaN; a sum without them makes none. */
static void
note_sum(const td_contribution *all, uint32_t input_nr, unsigned before, unsigned found) {
  bool can_make_nan = (before & TD_NUMBERS_INF) == TD_NUMBERS_INF;
  if (td_numerics_hooks_unseen && found & TD_NUMBERS_NAN && !can_make_nan)
    return note_unseen_hook(input_nr, before, found);
  td_birth birth = birth_here(TD_birthplace_sum, input_nr);
  blame(all, input_nr, &birth);
  td_birth_note(before, found, &birth);
}

static void
note_arrival(const td_contribution *all, uint32_t input_nr, bool is_root,
             const td_gradient *gradient) {
  const td_contribution *only = NULL;
  unsigned before = 0, n = 0;
  for (const td_contribution *at = all; at; at = at->next)
    if (at->input_nr == input_nr) {
      only = at;
      before |= at->seen.found;
      n++;
    }
  td_numerics_seen *seen = &now->inputs.at[input_nr];
  *seen = n == 1 && is_as_seen(&only->seen, gradient) ? only->seen : look(gradient);
  if (n > 0 && is_root) return; /* what the caller gave is in the sum, and unseen */
  if (n == 1) {
    note_change(only, input_nr, gradient, seen->found);
  } else if (n > 1) {
    note_sum(all, input_nr, before, seen->found);
  } else if (is_root) {
    td_birth birth = birth_here(TD_birthplace_input, input_nr);
    td_birth_note(0, seen->found, &birth);
  }
}

static void
tell_carried(const td_contribution *at) {
  if (at->seen.found)
    TD_EMIT(carried, .node = at->node, .graph_task = at->graph_task, .from = at->from,
            .nan = (at->seen.found & TD_NUMBERS_NAN) != 0,
            .inf = (at->seen.found & TD_NUMBERS_INF) != 0);
}

void
td_numerics_enter(td_numerics_frame *frame, uint32_t graph_task, uint32_t node, bool is_root,
                  uint32_t n_inputs, const td_gradient *inputs) {
  frame->outer = now;
  frame->graph_task = graph_task;
  frame->node = node;
  frame->stored = (td_numerics_seen){0};
  frame->has_birth = false;
  list_init(&frame->inputs, n_inputs);
  list_init(&frame->outputs, 0);
  now = frame;
  td_contribution *all = td_numerics_anomalies ? td_contributions_take(graph_task, node) : NULL;
  for (uint32_t i = 0; td_numerics_anomalies && i < n_inputs; i++)
    note_arrival(all, i, is_root, &inputs[i]);
  for (const td_contribution *at = all; at; at = at->next)
    tell_carried(at);
  td_contributions_free(all);
  if (is_root) measure_all(TD_stats_place_input, n_inputs, inputs);
}

void
td_numerics_leave(td_numerics_frame *frame) {
  now = frame->outer;
  list_fini(&frame->inputs);
  list_fini(&frame->outputs);
}

/* What hooks made of gradients that were seen before. */
static void
note_hooked(td_numerics_list *list, uint32_t name, uint32_t n, const td_gradient *gradients) {
  for (uint32_t i = 0; i < TD_MIN(n, list->n); i++) {
    td_numerics_seen *seen = &list->at[i];
    if (is_as_seen(seen, &gradients[i])) continue;
    td_numerics_seen changed = look(&gradients[i]);
    td_birth birth = birth_here(TD_birthplace_hook, i);
    birth.hook = name;
    td_birth_note(seen->found, changed.found, &birth);
    changed.contribution = seen->contribution;
    *seen = changed;
    if (seen->contribution) seen->contribution->seen = changed;
  }
}

void
td_numerics_hook_end(bool is_post, uint32_t name, uint32_t n, const td_gradient *gradients) {
  if (now && td_numerics_anomalies)
    note_hooked(is_post ? &now->outputs : &now->inputs, name, n, gradients);
}

void
td_numerics_apply_begin(bool is_leaf, uint32_t n_inputs, const td_gradient *inputs) {
  if (!now) return;
  if (td_numerics_anomalies) note_hooked(&now->inputs, 0, n_inputs, inputs);
  if (is_leaf) measure_all(TD_stats_place_leaf, n_inputs, inputs);
}

uint32_t
td_numerics_node_with_found(void) {
  return now && found_in(&now->inputs) ? now->node : TD_NONE;
}

/* The infinities that a finite output becomes where the engine casts it to the dtype of the input
 * that it is for. What is summed first is not known before. */
static unsigned
made_by_cast(const td_numerics_seen *seen, const td_gradient *output,
             const td_gradient_edge *edge) {
  td_number_stats stats;
  bool may_overflow = edge->type != seen->type && edge->n == seen->n && !seen->found &&
                      td_numbers_overflow(INFINITY, edge->type) && can_be_read(output);
  if (!may_overflow) return 0;
  td_numbers_measure(&output->numbers, &stats);
  if (!td_numbers_overflow(stats.absmax, edge->type)) return 0;
  return (td_numbers_overflow(stats.max, edge->type) ? TD_NUMBERS_PLUS_INF : 0) |
         (td_numbers_overflow(-stats.min, edge->type) ? TD_NUMBERS_MINUS_INF : 0);
}

static unsigned
note_cast(uint32_t i, const td_numerics_seen *seen, const td_gradient *output,
          const td_gradient_edge *edge) {
  unsigned made = made_by_cast(seen, output, edge);
  td_birth birth = birth_on_the_way(TD_birthplace_cast, edge->input_nr, now->node, i);
  birth.node = edge->node;
  if (made) td_birth_note(0, made, &birth);
  return made;
}

static void
note_output(uint32_t i, bool is_graph_root, bool has_post_hooks, unsigned before,
            const td_gradient *output, const td_gradient_edge *edge) {
  td_numerics_seen *seen = &now->outputs.at[i];
  *seen = look_beside(&now->inputs, output);
  td_birth birth = birth_here(TD_birthplace_node, i);
  if (is_graph_root) {
    birth.place = TD_birthplace_input;
    birth.node = edge->node;
    birth.number = edge->input_nr;
  }
  if (td_numbers_born(before, seen->found)) before |= td_operations_found(now->node);
  now->has_birth |= td_birth_note(before, seen->found, &birth) && !is_graph_root;
  if (edge->node == TD_NONE || !output->identity) return;
  seen->contribution = td_contribution_add(&(td_contribution){.graph_task = now->graph_task,
                                                              .node = edge->node,
                                                              .input_nr = edge->input_nr,
                                                              .from = now->node,
                                                              .output_nr = i,
                                                              .hooked = has_post_hooks,
                                                              .seen = *seen});
  if (!has_post_hooks) seen->contribution->seen.found |= note_cast(i, seen, output, edge);
}

bool
td_numerics_apply_end(bool is_graph_root, bool has_post_hooks, uint32_t n_outputs,
                      const td_gradient *outputs, const td_gradient_edge *edges) {
  if (!now) return false;
  list_fini(&now->outputs);
  if (td_numerics_anomalies) {
    unsigned before = found_in(&now->inputs);
    list_init(&now->outputs, n_outputs);
    for (uint32_t i = 0; i < n_outputs; i++)
      note_output(i, is_graph_root, has_post_hooks, before, &outputs[i], &edges[i]);
  }
  measure_all(TD_stats_place_output, n_outputs, outputs);
  return now->has_birth;
}

void
td_numerics_saved(uint32_t node, uint32_t graph_task, uint32_t number, const td_gradient *saved) {
  td_number_stats stats;
  uint64_t n_zero, n_twins;
  if (!saved->identity || saved->unread || !td_numbers_are_readable(&saved->numbers)) return;
  td_numbers_measure(&saved->numbers, &stats);
  td_numbers_survey(&saved->numbers, &n_zero, &n_twins);
  TD_EMIT(saved_numbers, .node = node, .graph_task = graph_task, .number = number,
          .n_elements = stats.n_elements, .n_nan = stats.n_nan, .n_inf = stats.n_inf,
          .n_zero = n_zero, .n_twins = n_twins, .min = stats.min, .max = stats.max);
}

void
td_numerics_added(uint32_t output_nr, unsigned before, const td_gradient *sum,
                  const td_gradient_edge *edge) {
  if (!now || !td_numerics_anomalies) return;
  td_numerics_seen seen = look(sum);
  td_birth birth = birth_here(TD_birthplace_node, output_nr);
  before |= found_in(&now->inputs);
  if (td_numbers_born(before, seen.found)) before |= td_operations_found(now->node);
  td_birth_note(before, seen.found, &birth);
  td_contribution_add(&(td_contribution){.graph_task = now->graph_task,
                                         .node = edge->node,
                                         .input_nr = edge->input_nr,
                                         .from = now->node,
                                         .output_nr = output_nr,
                                         .seen = seen});
}

/* Where a gradient is added to a finite one, only an infinity in it, or one too many, can make
 * anything: what .grad held is not read where that is not asked. */
void
td_numerics_store_begin(const td_gradient *stored) {
  if (!now || !td_numerics_anomalies) return;
  bool matters = td_births_wanted & TD_NUMBERS_INF || found_in(&now->inputs) & TD_NUMBERS_INF;
  now->stored = (td_numerics_seen){.identity = stored->identity, .version = stored->version};
  if (matters) now->stored = look(stored);
}

void
td_numerics_store_end(const td_gradient *stored) {
  if (!now || !now->stored.identity) return; /* nothing was added to */
  unsigned before = found_in(&now->inputs) | now->stored.found;
  if (!(td_births_wanted & TD_NUMBERS_INF) && !(before & TD_NUMBERS_INF)) return;
  td_birth birth = birth_here(TD_birthplace_accumulate, 0);
  td_birth_note(before, look(stored).found, &birth);
}

void
td_numerics_end_task(uint32_t graph_task) {
  if (td_numerics_anomalies) td_contributions_drop(graph_task);
}
