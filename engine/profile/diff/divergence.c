/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/divergence.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/chosen.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/why.h"

#include <assert.h>

/* A side at its pop: the visit it made there, and where the other side's visit is on this one. */
typedef struct view {
  const char *letter; /* "A" */
  const td_visits *visits;
  const td_visit *took, *passed_over; /* NULL: there is none */
  td_replay *replay;                  /* (owned) stands before the pop; NULL where it has none */
  td_queue_order order;
  bool other_ready; /* passed_over was in the queue as well */
  bool is_chosen;   /* a user or a schedule chose what it took */
  td_chooser by;
} view;

typedef struct pair_of_views {
  view a, b;
} pair_of_views;

const char *
td_align_cause_name(td_align_cause cause) {
  static const char *const names[] = {
#define X(name) #name,
      TD_ALIGN_CAUSES(X)
#undef X
  };
  return names[cause];
}

/* Looking */

static const td_visit *
visit_at(const td_visits *visits, uint32_t i) {
  return i == TD_NONE ? NULL : &visits->visits[i];
}

static td_status
list_ready(view *view, uint32_t queue, td_divergence_side *side) {
  const td_state *state = td_replay_state(view->replay);
  uint32_t n = td_state_queue(state, queue)->n;
  td_queue_entry *entries = td_try_alloc(n, sizeof *entries);
  side->ready = td_try_alloc(n, sizeof *side->ready);
  if (entries && side->ready) {
    td_state_queue_order(state, view->visits->catalog, queue, entries);
    for (uint32_t i = 0; i < n; i++) {
      if (entries[i].node == TD_NONE) continue;
      side->ready[side->n_ready++] = entries[i].node;
      view->other_ready |= view->passed_over && entries[i].node == view->passed_over->node &&
                           entries[i].graph_task == view->passed_over->graph_task;
    }
  }
  free(entries);
  return entries && side->ready ? TD_OK : TD_OUT_OF_MEMORY;
}

static td_status
open_replay(view *view, const char *path, td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(path, &tape, error);
  if (status != TD_OK) return status;
  const td_segment *window = &view->visits->catalog->segment;
  return td_replay_new(tape, window, NULL, NULL, &view->replay, error);
}

static td_status
look_into(view *view, const char *path, td_divergence_side *side, td_error *error) {
  td_any_event event;
  td_status status = open_replay(view, path, error);
  if (status == TD_OK) status = td_replay_event(view->replay, view->took->at, &event, error);
  if (status == TD_OK)
    view->is_chosen = td_chosen_find(view->replay, view->took->at, &event.queue_pop, &view->by);
  if (status == TD_OK) status = td_why_pop(view->replay, view->took->at, &side->why, error);
  if (status == TD_OK) status = td_replay_seek(view->replay, view->took->at, error);
  if (status != TD_OK || event.queue_pop.queue >= view->visits->catalog->n_queues) return status;
  view->order = view->visits->catalog->queues[event.queue_pop.queue].order;
  return list_ready(view, event.queue_pop.queue, side);
}

static td_status
look(view *view, const char *path, td_divergence_side *side, td_error *error) {
  if (!view->took || !view->took->popped) return TD_OK;
  td_status status = look_into(view, path, side, error);
  if (status) td_error_prefix(error, "%s: ", path);
  return status;
}

/* Judging */

static uint64_t
sequence_nr(const view *view, const td_visit *visit) {
  return td_catalog_node_get(view->visits->catalog, visit->node)->sequence_nr;
}

/* 1 where the node that was taken goes before the other by its sequence number, 0 on a tie. */
static int
precedence(const view *view) {
  assert(view->took && view->passed_over);
  uint64_t took = sequence_nr(view, view->took), other = sequence_nr(view, view->passed_over);
  return (took > other) - (took < other);
}

/* Nodes that are on one side alone, or on another device. */
static td_align_cause
judge_presence(const view *a, const view *b) {
  bool a_is_new = a->took && !b->passed_over, b_is_new = b->took && !a->passed_over;
  if (a_is_new && b_is_new) return TD_ALIGN_CAUSE_other_node;
  if (a_is_new) return TD_ALIGN_CAUSE_only_a;
  if (b_is_new) return TD_ALIGN_CAUSE_only_b;
  if ((a->took && a->took->lane != b->passed_over->lane) ||
      (b->took && b->took->lane != a->passed_over->lane))
    return TD_ALIGN_CAUSE_device;
  return TD_ALIGN_CAUSE_unknown;
}

/* What it took was chosen, although the other node was ready. */
static bool
is_choice(const view *view) {
  return view->is_chosen && view->other_ready;
}

static td_align_cause
judge(const view *a, const view *b) {
  td_align_cause cause = judge_presence(a, b);
  if (cause != TD_ALIGN_CAUSE_unknown || !a->replay || !b->replay) return cause;
  if (is_choice(a) || is_choice(b)) return TD_ALIGN_CAUSE_choice;
  if (!a->other_ready || !b->other_ready) return TD_ALIGN_CAUSE_readiness;
  if (a->order != b->order) return TD_ALIGN_CAUSE_queue_order;
  int in_a = precedence(a), in_b = precedence(b);
  if (in_a == 0 && in_b == 0) return TD_ALIGN_CAUSE_tie;
  return in_a >= 0 && in_b >= 0 ? TD_ALIGN_CAUSE_sequence : TD_ALIGN_CAUSE_out_of_turn;
}

/* Telling */

static char *
name_of(const view *view, const td_visit *visit) {
  assert(visit);
  return td_why_name_node(view->visits->catalog, visit->node);
}

static char *
lane_of(const view *view, const td_visit *visit) {
  assert(visit);
  return td_line_dup(td_catalog_device_name(view->visits->catalog, visit->lane), TD_NAME_SHOWN);
}

static char *
tell_only(const view *view) {
  char *node = name_of(view, view->took);
  char *text =
      td_said(NULL, TD_SAY_only_in, td_with_text("node", node), td_with_text("side", view->letter));
  free(node);
  return text;
}

static char *
tell_devices(const view *view, const struct view *other) {
  char *node = name_of(view, view->took), *device = lane_of(view, view->took),
       *other_device = lane_of(other, other->passed_over);
  char *text = td_said(NULL, TD_SAY_devices_differ, td_with_text("node", node),
                       td_with_text("device", device), td_with_text("side", view->letter),
                       td_with_text("other_device", other_device),
                       td_with_text("other_side", other->letter));
  free(node);
  free(device);
  free(other_device);
  return text;
}

static char *
tell_unready(const view *view) {
  assert(view->took && view->passed_over);
  char *wait = td_why_wait(view->replay, view->passed_over->node, view->passed_over->graph_task);
  char *node = name_of(view, view->passed_over), *popped = name_of(view, view->took);
  char *text = td_said(NULL, TD_SAY_was_not_ready, td_with_text("side", view->letter),
                       td_with_text("node", node), td_with_text("popped", popped),
                       td_with_text("wait", wait));
  free(wait);
  free(node);
  free(popped);
  return text;
}

static char *
tell_readiness(const view *a, const view *b) {
  char *text = a->other_ready ? NULL : tell_unready(a);
  return b->other_ready ? text : td_list_add(text, TD_SAY_both_not_ready, tell_unready(b));
}

static char *
tell_orders(const view *a, const view *b) {
  return td_said(NULL, TD_SAY_orders_differ,
                 td_with_text("order", td_enum_word(TD_FIELD_ENUM_queue_order, a->order)),
                 td_with_text("other_order", td_enum_word(TD_FIELD_ENUM_queue_order, b->order)));
}

static char *
tell_numbers(const view *view) {
  char *node = name_of(view, view->took), *other = name_of(view, view->passed_over);
  char *text = td_said(
      NULL, TD_SAY_side_numbers, td_with_text("side", view->letter), td_with_text("node", node),
      td_with_number("number", sequence_nr(view, view->took)), td_with_text("other", other),
      td_with_number("other_number", sequence_nr(view, view->passed_over)));
  free(node);
  free(other);
  return text;
}

static char *
tell_sequence(const view *a, const view *b) {
  char *numbers = td_list_add(tell_numbers(a), TD_SAY_list_next, tell_numbers(b));
  char *text = td_said(NULL, TD_SAY_numbers_differ, td_with_text("numbers", numbers));
  free(numbers);
  return text;
}

static char *
tell_out_of_turn(const view *view) {
  char *node = name_of(view, view->passed_over);
  char *text = td_said(NULL, TD_SAY_side_out_of_turn, td_with_text("node", node),
                       td_with_text("side", view->letter));
  free(node);
  return text;
}

static char *
tell_choice(const view *view) {
  char *node = name_of(view, view->took);
  bool is_schedule = view->by == TD_chooser_schedule;
  char *text = td_said(NULL, is_schedule ? TD_SAY_side_schedule_chose : TD_SAY_side_user_chose,
                       td_with_text("side", view->letter), td_with_text("node", node));
  free(node);
  return text;
}

static char *
tell_choices(const view *a, const view *b) {
  char *text = is_choice(a) ? tell_choice(a) : NULL;
  return is_choice(b) ? td_list_add(text, TD_SAY_list_next, tell_choice(b)) : text;
}

/* The cause, without a full stop. */
static char *
tell_cause(td_align_cause cause, const view *a, const view *b) {
  switch (cause) {
  case TD_ALIGN_CAUSE_only_a:
    return tell_only(a);
  case TD_ALIGN_CAUSE_only_b:
    return tell_only(b);
  case TD_ALIGN_CAUSE_other_node:
    return td_list_add(tell_only(a), TD_SAY_list_next, tell_only(b));
  case TD_ALIGN_CAUSE_device:
    return a->took && a->took->lane != b->passed_over->lane ? tell_devices(a, b)
                                                            : tell_devices(b, a);
  case TD_ALIGN_CAUSE_queue_order:
    return tell_orders(a, b);
  case TD_ALIGN_CAUSE_sequence:
    return tell_sequence(a, b);
  case TD_ALIGN_CAUSE_tie:
    return td_dup_string(td_sentence_text(TD_SAY_heaps_differ));
  case TD_ALIGN_CAUSE_out_of_turn:
    return tell_out_of_turn(precedence(a) < 0 ? a : b);
  case TD_ALIGN_CAUSE_choice:
    return tell_choices(a, b);
  default:
    return td_dup_string(td_sentence_text(TD_SAY_rest_unknown));
  }
}

/* td_why_wait ends its sentence. */
static char *
tell(td_align_cause cause, const view *a, const view *b) {
  if (cause == TD_ALIGN_CAUSE_readiness) return tell_readiness(a, b);
  char *clause = tell_cause(cause, a, b);
  char *text = td_said(NULL, TD_SAY_stop, td_with_text("clause", clause));
  free(clause);
  return text;
}

static td_divergence_side
describe_side(const td_visits *visits, const td_visit_task *task, uint32_t visit) {
  td_divergence_side side = {.graph_task = task->graph_task, .has_node = visit != TD_NONE};
  if (side.has_node) side.node = td_visits_node(visits, visit);
  return side;
}

static td_divergence
describe(const td_align *align) {
  const td_align_divergence *at = &align->divergence;
  const td_catalog *catalog = at->a == TD_NONE ? align->b->catalog : align->a->catalog;
  return (td_divergence){
      .position = at->position,
      .device = td_dup_string(td_catalog_device_name(catalog, at->lane)),
      .device_label = td_dup_string(td_catalog_device_label(catalog, at->lane)),
      .a = describe_side(align->a, &align->task_a, at->a),
      .b = describe_side(align->b, &align->task_b, at->b),
  };
}

td_status
td_divergence_explain(const td_align *align, const char *path_a, const char *path_b,
                      td_divergence *divergence, td_error *error) {
  const td_align_divergence *at = &align->divergence;
  pair_of_views views = {{.letter = "A", .visits = align->a, .took = visit_at(align->a, at->a)},
                         {.letter = "B", .visits = align->b, .took = visit_at(align->b, at->b)}};
  if (at->b != TD_NONE) views.a.passed_over = visit_at(align->a, align->partners_b[at->b]);
  if (at->a != TD_NONE) views.b.passed_over = visit_at(align->b, align->partners_a[at->a]);
  *divergence = describe(align);
  td_status status = look(&views.a, path_a, &divergence->a, error);
  if (status == TD_OK) status = look(&views.b, path_b, &divergence->b, error);
  if (status == TD_OK) {
    divergence->cause = judge(&views.a, &views.b);
    divergence->text = tell(divergence->cause, &views.a, &views.b);
  }
  td_replay_close(views.a.replay);
  td_replay_close(views.b.replay);
  if (status != TD_OK) td_divergence_fini(divergence);
  return status;
}

void
td_divergence_fini(td_divergence *divergence) {
  free(divergence->a.ready);
  free(divergence->a.why);
  free(divergence->b.ready);
  free(divergence->b.why);
  free(divergence->device);
  free(divergence->device_label);
  free(divergence->text);
  *divergence = (td_divergence){0};
}
