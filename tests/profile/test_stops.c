/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stops on a tape: both directions and the count find what a look at all events finds. */
#include "engine/profile/stops/stop_search.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const texts[] = {"begin",  "node:3",   "op:Mul*",  "nan",     "inf",
                                    "error",  "queue:2",  "ready",    "ready:2", "step",
                                    "step:1", "norm:1.5", "idle:1ns", "pass:1",  "nonfinite",
                                    "choice", "module:*", "hook",     "label:*1"};

typedef struct fixture {
  char *path;
  td_tape *tape;
  td_catalog *catalog; /* of the whole tape */
  td_condition conditions[G_N_ELEMENTS(texts)];
  uint32_t n;
} fixture;

static void
set_up(fixture *self, td_tape_plan plan, uint64_t cut_every) {
  td_error error = {0};
  *self = (fixture){
      .path = g_strdup_printf("%s/tapedeck-stops-%d.tape", g_get_tmp_dir(), (int)getpid())};
  assert_ok(td_tape_make(&plan, self->path, &error), &error);
  if (cut_every) assert_ok(td_segments_add(self->path, cut_every, &error), &error);
  assert_ok(td_tape_open(self->path, &self->tape, &error), &error);
  td_segment whole = td_tape_whole(self->tape);
  assert_ok(td_catalog_collect(self->tape, &whole, &self->catalog, &error), &error);
}

/* Some of the conditions, in any order. */
static void
choose_conditions(fixture *self) {
  td_error error = {0};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    if (g_test_rand_int_range(0, 3) == 0)
      assert_ok(td_condition_parse(texts[i], &self->conditions[self->n++], &error), &error);
}

static void
forget_conditions(fixture *self) {
  while (self->n)
    td_condition_fini(&self->conditions[--self->n]);
}

static void
tear_down(fixture *self) {
  forget_conditions(self);
  td_catalog_free(self->catalog);
  td_tape_close(self->tape);
  g_remove(self->path);
  g_free(self->path);
}

/* ---- the plain way: one question for each condition and event ---- */

static bool
node_fits(fixture *self, const td_condition *condition, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_get(self->catalog, node);
  const char *text = condition->kind == TD_CONDITION_OP       ? facts->name
                     : condition->kind == TD_CONDITION_MODULE ? facts->module
                                                              : facts->label;
  if (condition->kind == TD_CONDITION_NODE) return node == condition->number;
  return text && g_pattern_match_simple(condition->argument, text);
}

static bool
fits(fixture *self, const td_condition *condition, const td_any_event *event) {
  bool any = !condition->argument;
  bool is_anomaly = event->event.kind == TD_EVENT_anomaly;
  switch (condition->kind) {
  case TD_CONDITION_BEGIN:
    return event->event.kind == TD_EVENT_graph_task_begin;
  case TD_CONDITION_PASS:
    return event->event.kind == TD_EVENT_graph_task_begin &&
           event->graph_task_begin.graph_task == condition->number;
  case TD_CONDITION_NAN:
    return is_anomaly && event->anomaly.kind == TD_anomaly_kind_nan;
  case TD_CONDITION_INF:
    return is_anomaly && event->anomaly.kind == TD_anomaly_kind_inf;
  case TD_CONDITION_NONFINITE:
    return is_anomaly;
  case TD_CONDITION_ERROR:
    return event->event.kind == TD_EVENT_error;
  case TD_CONDITION_NORM:
    return event->event.kind == TD_EVENT_tensor_stats && event->tensor_stats.l2 > condition->amount;
  case TD_CONDITION_QUEUE:
    return (event->event.kind == TD_EVENT_queue_push &&
            event->queue_push.size == condition->amount + 1) ||
           (event->event.kind == TD_EVENT_queue_wake &&
            event->queue_wake.size == condition->amount + 1);
  case TD_CONDITION_READY:
    return event->event.kind == TD_EVENT_dependency_dec && event->dependency_dec.left == 0 &&
           (any || event->dependency_dec.node == condition->number);
  case TD_CONDITION_CHOICE:
    return event->event.kind == TD_EVENT_queue_pop && event->queue_pop.size > 0;
  case TD_CONDITION_IDLE:
    return event->event.kind == TD_EVENT_queue_pop &&
           (double)event->queue_pop.waited > condition->amount;
  case TD_CONDITION_STEP:
    return event->event.kind == TD_EVENT_step &&
           (any || event->step.iteration == condition->number);
  case TD_CONDITION_HOOK:
    return event->event.kind == TD_EVENT_hook_begin;
  default:
    return event->event.kind == TD_EVENT_node_begin &&
           node_fits(self, condition, event->node_begin.node);
  }
}

static GArray *
all_hits(fixture *self) {
  GArray *hits = g_array_new(FALSE, FALSE, sizeof(td_stop_hit));
  for (uint64_t seq = 0; seq < td_tape_info_get(self->tape)->n_events; seq++) {
    td_any_event event;
    td_stop_hit hit = {seq, 0};
    if (td_tape_get(self->tape, seq, &event, NULL)) continue;
    for (uint32_t i = 0; i < self->n; i++)
      hit.conditions |= (uint64_t)fits(self, &self->conditions[i], &event) << i;
    if (hit.conditions) g_array_append_val(hits, hit);
  }
  return hits;
}

/* ---- properties ---- */

static void
assert_finds(td_stop_search *search, uint64_t from, bool forwards, const td_stop_hit *wanted) {
  td_error error = {0};
  td_stop_hit hit;
  td_status status = td_stop_search_find(search, from, forwards, NULL, NULL, &hit, &error);
  g_assert_cmpint(status, ==, wanted ? TD_OK : TD_OUT_OF_RANGE);
  td_error_clear(&error);
  if (!wanted) return;
  g_assert_cmpuint(hit.seq, ==, wanted->seq);
  g_assert_cmphex(hit.conditions, ==, wanted->conditions);
}

static const td_stop_hit *
hit_at(GArray *hits, guint i) {
  return i < hits->len ? &g_array_index(hits, td_stop_hit, i) : NULL;
}

/* From behind each hit to the next one, and back. Hits on the way are found from any place. */
static void
check_both_ways(fixture *self, td_stop_search *search, GArray *hits) {
  uint64_t end = td_tape_info_get(self->tape)->n_events;
  for (guint i = 0; i <= hits->len; i++) {
    uint64_t after = i ? hit_at(hits, i - 1)->seq + 1 : 0;
    uint64_t before = i < hits->len ? hit_at(hits, i)->seq : end;
    uint64_t between = after + (uint64_t)g_test_rand_int_range(0, (gint32)(before - after + 1));
    const td_stop_hit *last = i ? hit_at(hits, i - 1) : NULL;
    assert_finds(search, after, true, hit_at(hits, i));
    assert_finds(search, between, true, hit_at(hits, i));
    assert_finds(search, before, false, last);
    assert_finds(search, between, false, last);
  }
}

static void
check_count(fixture *self, td_stop_search *search, GArray *hits) {
  uint64_t counts[TD_STOPS_MAX];
  td_error error = {0};
  assert_ok(td_stop_search_count(search, NULL, NULL, counts, &error), &error);
  for (uint32_t i = 0; i < self->n; i++) {
    uint64_t n = 0;
    for (guint k = 0; k < hits->len; k++)
      n += hit_at(hits, k)->conditions >> i & 1;
    g_assert_cmpuint(counts[i], ==, n);
  }
}

static guint
check_tape(td_tape_plan plan, uint64_t cut_every) {
  fixture self;
  guint n = 0;
  set_up(&self, plan, cut_every);
  if (cut_every) g_assert_cmpuint(td_tape_n_segments(self.tape), >, 2);
  for (int round = 0; round < 6; round++) {
    choose_conditions(&self);
    td_stop_search *search = td_stop_search_new(self.tape, self.conditions, self.n);
    g_autoptr(GArray) hits = all_hits(&self);
    check_both_ways(&self, search, hits);
    check_count(&self, search, hits);
    n += hits->len;
    td_stop_search_free(search);
    forget_conditions(&self);
  }
  tear_down(&self);
  return n;
}

static td_tape_plan
random_plan(void) {
  return (td_tape_plan){.n_nodes = (uint32_t)g_test_rand_int_range(2, 40),
                        .n_threads = (uint32_t)g_test_rand_int_range(1, 4),
                        .n_passes = (uint32_t)g_test_rand_int_range(1, 4),
                        .trains = g_test_rand_bit(),
                        .n_anomalies = (uint32_t)g_test_rand_int_range(0, 4),
                        .overflows = g_test_rand_bit(),
                        .seed = (uint64_t)g_test_rand_int()};
}

static void
test_small(void) {
  guint n = 0;
  for (int round = 0; round < 20; round++)
    n += check_tape(random_plan(), 0);
  g_assert_cmpuint(n, >, 100);
}

static void
test_cut(void) {
  guint n = 0;
  for (int round = 0; round < 4; round++) {
    td_tape_plan plan = random_plan();
    plan.n_nodes += 40;
    plan.n_passes = 16;
    plan.trains = true;
    n += check_tape(plan, 300);
  }
  g_assert_cmpuint(n, >, 100);
}

static bool
give_up(void *data) {
  ++*(int *)data;
  return false;
}

/* Whoever loses patience is asked once, and gets no hit. */
static void
test_patience(void) {
  fixture self;
  int asked = 0;
  td_error error = {0};
  td_stop_hit hit;
  set_up(&self, (td_tape_plan){.n_nodes = 400, .n_threads = 1, .n_passes = 4, .seed = 1}, 0);
  assert_ok(td_condition_parse("op:Nothing", &self.conditions[self.n++], &error), &error);
  td_stop_search *search = td_stop_search_new(self.tape, self.conditions, self.n);
  g_assert_cmpint(td_stop_search_find(search, 0, true, give_up, &asked, &hit, &error), ==,
                  TD_INVALID);
  g_assert_cmpint(asked, ==, 1);
  td_error_clear(&error);
  td_stop_search_free(search);
  tear_down(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/profile/stops/small", test_small);
  g_test_add_func("/profile/stops/cut", test_cut);
  g_test_add_func("/profile/stops/patience", test_patience);
  return g_test_run();
}
