/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/profile/diff/align_streams.h"
#include "engine/profile/diff/diff.h"
#include "engine/profile/op_name.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Passes of one stream */

/* A pass for each letter, which is its hash. */
static td_diff_tasks
passes_of(const char *letters) {
  td_diff_tasks tasks = {.n = (uint32_t)strlen(letters)};
  tasks.items = g_new0(td_diff_task, tasks.n);
  for (uint32_t i = 0; i < tasks.n; i++)
    tasks.items[i] = (td_diff_task){.graph_task = i, .hash = (uint64_t)letters[i]};
  return tasks;
}

static void
note_pair_cb(uint32_t task_a, uint32_t task_b, void *data) {
  ((uint32_t *)data)[task_a] = task_b;
}

/* For each pass of a, a digit with the place of its partner in b, or "-". The caller frees. */
static char *
pair_passes(const char *a, const char *b) {
  td_diff_tasks tasks_a = passes_of(a), tasks_b = passes_of(b);
  GString *text = g_string_new(NULL);
  uint32_t *partners = g_new(uint32_t, tasks_a.n + 1);
  memset(partners, 0xff, tasks_a.n * sizeof *partners);
  g_assert_cmpint(td_align_streams_pair(&tasks_a, &tasks_b, note_pair_cb, partners), ==, TD_OK);
  for (uint32_t i = 0; i < tasks_a.n; i++)
    g_string_append_c(text, partners[i] == UINT32_MAX ? '-' : (char)('0' + partners[i]));
  g_free(partners);
  g_free(tasks_a.items);
  g_free(tasks_b.items);
  return g_string_free(text, FALSE);
}

static void
test_passes(void) {
  static const struct {
    const char *a, *b, *partners;
  } cases[] = {{"abcd", "bcd", "-012"}, {"bcd", "abcd", "123"},  {"abcd", "abd", "01-2"},
               {"aaa", "aa", "01-"},    {"abcd", "axd", "01-2"}, {"axcd", "ycd", "0-12"},
               {"ab", "ba", "01"},      {"a", "xyz", "0"},       {"", "a", ""}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *partners = pair_passes(cases[i].a, cases[i].b);
    g_assert_cmpstr(partners, ==, cases[i].partners);
  }
}

/* Names */

static void
test_names(void) {
  static const struct {
    const char *a, *b;
    bool same;
  } cases[] = {{"MulBackward0", "MulBackward0", true},
               {"SumBackward0", "SumBackward1", true},
               {"torch::autograd::AccumulateGrad", "AccumulateGrad", true},
               {"torch::autograd::CopyBackwards", "CopyBackward0", true},
               {"torch::autograd::GraphRoot", "GraphRoot", true},
               {"ReshapeAliasBackward0", "ViewBackward0", true},
               {"NormBackward1", "LinalgVectorNormBackward0", true},
               {"ViewBackward0", "UnsafeViewBackward0", false},
               {"MulBackward0", "DivBackward0", false},
               {"MmBackward0", "AddmmBackward0", false},
               {"Conv2", "Conv3", false},
               {"Backward", "", false},
               {"", "", true}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    bool hash = td_op_name_hash(cases[i].a) == td_op_name_hash(cases[i].b);
    g_assert_cmpint(hash, ==, cases[i].same);
  }
}

/* Tapes */

typedef struct reel {
  td_tape *tape;
  td_catalog *catalog;
} reel;

/* Cut into segments of so many events, if they are not 0. */
static reel
open_reel(const td_tape_script *script, uint64_t least_events) {
  g_autofree char *path =
      g_strdup_printf("%s/tapedeck-align-%d-%p.tape", g_get_tmp_dir(), (int)getpid(), script);
  reel reel = {0};
  g_assert_cmpint(td_tape_script_write(script, path, NULL), ==, TD_OK);
  if (least_events) g_assert_cmpint(td_segments_add(path, least_events, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &reel.tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(reel.tape, &reel.catalog, NULL), ==, TD_OK);
  return reel;
}

static void
close_reel(reel *reel) {
  g_unlink(td_tape_path(reel->tape));
  td_catalog_free(reel->catalog);
  td_tape_close(reel->tape);
}

/* Two scripts, and how they differ. */
typedef struct fixture {
  td_tape_script a, b;
  uint64_t least_events_b; /* of segments of b; 0: it is whole */
  reel reel_a, reel_b;
  td_diff diff;
} fixture;

static void
compare(fixture *self, double tolerance) {
  const td_diff_wish wish = {
      .tolerance = tolerance, .n_nodes = 1000, .n_values = 1000, .n_durations = 1000};
  self->reel_a = open_reel(&self->a, 0);
  self->reel_b = open_reel(&self->b, self->least_events_b);
  g_assert_cmpint(td_diff_make(self->reel_a.tape, self->reel_b.tape, &wish, &self->diff, NULL), ==,
                  TD_OK);
  const td_diff *diff = &self->diff;
  g_assert_cmpuint(diff->n_paired + diff->a.lone_nodes.n_added, ==, diff->a.n_nodes);
  g_assert_cmpuint(diff->n_paired + diff->b.lone_nodes.n_added, ==, diff->b.n_nodes);
  if (diff->diverges) g_assert_true(g_str_has_suffix(diff->divergence.text, "."));
}

static void
align(fixture *self) {
  compare(self, 0);
}

static void
finish(fixture *self) {
  td_diff_fini(&self->diff);
  close_reel(&self->reel_a);
  close_reel(&self->reel_b);
  td_tape_script_fini(&self->a);
  td_tape_script_fini(&self->b);
}

/* If the order is equal, the partner of each node is the one at its place. */
static void
check_all_paired(const td_diff *diff) {
  g_assert_true(diff->equal_order);
  g_assert_false(diff->diverges);
  g_assert_cmpuint(diff->n_paired, ==, diff->a.n_nodes);
  g_assert_cmpuint(diff->n_paired, ==, diff->b.n_nodes);
  g_assert_cmpuint(diff->n_paired, >, 0);
}

static const td_tape_plan plans[] = {
    {.n_nodes = 2, .n_threads = 1, .n_passes = 1, .seed = 1},
    {.n_nodes = 80, .n_threads = 1, .n_passes = 2, .seed = 2, .n_anomalies = 1},
    {.n_nodes = 300, .n_threads = 3, .n_passes = 3, .seed = 3, .n_anomalies = 2},
    {.n_nodes = 300, .n_threads = 3, .n_passes = 4, .trains = true, .seed = 5},
    {.n_nodes = 1000, .n_threads = 4, .n_passes = 1, .seed = 4}};

static void
test_equal_to_itself(const void *data) {
  fixture self = {0};
  td_tape_script_make(&self.a, data);
  td_tape_script_make(&self.b, data);
  align(&self);
  check_all_paired(&self.diff);
  finish(&self);
}

/* What ids and sequence numbers another recording of the same program may have. */
static void
renumber(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++) {
    td_any_event *event = &script->events[i];
    const td_event_type *type = td_event_type_get(event->event.kind);
    for (uint16_t j = 0; j < type->n_fields; j++) {
      uint32_t *id = (uint32_t *)(void *)((char *)event + type->fields[j].offset);
      if (type->fields[j].type == TD_FIELD_NODE && *id != TD_NONE) *id += 37;
    }
    if (event->event.kind == TD_EVENT_node_new && event->node_new.sequence_nr != UINT64_MAX)
      event->node_new.sequence_nr += 1000;
  }
}

static void
test_other_numbers(const void *data) {
  fixture self = {0};
  td_tape_script_make(&self.a, data);
  td_tape_script_make(&self.b, data);
  renumber(&self.b);
  align(&self);
  check_all_paired(&self.diff);
  finish(&self);
}

/* What an imported trace does not know: edges, but for one to each leaf without its output, and
 * perhaps sequence numbers. */
static void
forget(td_tape_script *script, bool with_numbers) {
  bool *is_leaf = g_new0(bool, script->n), *has_edge = g_new0(bool, script->n);
  size_t n = 0;
  for (size_t i = 0; i < script->n; i++) {
    td_any_event event = script->events[i];
    if (event.event.kind == TD_EVENT_input_metadata) continue;
    if (event.event.kind == TD_EVENT_node_new) {
      is_leaf[event.node_new.node] = event.node_new.sequence_nr == UINT64_MAX;
      if (!with_numbers && !is_leaf[event.node_new.node]) event.node_new.sequence_nr = 0;
    }
    if (event.event.kind == TD_EVENT_edge_new) {
      uint32_t to = event.edge_new.to;
      if (!is_leaf[to] || has_edge[to]) continue;
      has_edge[to] = true;
      event.edge_new.output_nr = TD_NONE;
    }
    script->events[n++] = event;
  }
  script->n = n;
  g_free(is_leaf);
  g_free(has_edge);
}

static void
test_absent(const void *data) {
  for (int i = 0; i < 4; i++) {
    fixture self = {0};
    td_tape_script_make(&self.a, data);
    td_tape_script_make(&self.b, data);
    forget(i & 1 ? &self.a : &self.b, i & 2);
    align(&self);
    check_all_paired(&self.diff);
    g_assert_cmpuint(self.diff.n_reshaped, ==, 0);
    finish(&self);
  }
}

/* Two pops of one queue with nothing between that could have changed it, or 0. */
static size_t
find_choice(const td_tape_script *script, size_t from, size_t *next) {
  for (size_t i = from; i < script->n; i++) {
    const td_any_event *pop = &script->events[i];
    if (pop->event.kind != TD_EVENT_queue_pop || pop->queue_pop.size == 0) continue;
    for (*next = i + 1; *next < script->n; (*next)++) {
      const td_any_event *later = &script->events[*next];
      if (later->event.kind != TD_EVENT_queue_pop && later->event.kind != TD_EVENT_queue_push)
        continue;
      if (later->queue_pop.queue == pop->queue_pop.queue) break;
    }
    if (*next < script->n && script->events[*next].event.kind == TD_EVENT_queue_pop &&
        script->events[*next].queue_pop.node != TD_NONE)
      return i;
  }
  return 0;
}

static void
swap_pops(td_tape_script *script, size_t first, size_t second) {
  uint32_t node = script->events[first].queue_pop.node;
  script->events[first].queue_pop.node = script->events[second].queue_pop.node;
  script->events[second].queue_pop.node = node;
}

/* One swapped pop, wherever it is, is found and named. */
static void
test_swapped_pop(const void *data) {
  uint32_t n_found = 0;
  for (size_t from = 0, next; n_found < 8; n_found++) {
    fixture self = {0};
    td_tape_script_make(&self.a, data);
    td_tape_script_make(&self.b, data);
    size_t at = find_choice(&self.b, from, &next);
    if (at == 0) {
      td_tape_script_fini(&self.a);
      td_tape_script_fini(&self.b);
      break;
    }
    from = next + self.b.n / 9;
    swap_pops(&self.b, at, next);
    align(&self);
    const td_divergence *divergence = &self.diff.divergence;
    g_assert_false(self.diff.equal_order);
    g_assert_true(self.diff.diverges);
    g_assert_cmpuint(self.diff.n_paired, ==, self.diff.a.n_nodes);
    g_assert_cmpuint(self.diff.n_moved, ==, 1);
    uint32_t a = divergence->a.node.node, b = divergence->b.node.node;
    g_assert_cmpuint(a, ==, self.a.events[at].queue_pop.node);
    g_assert_cmpuint(b, ==, self.a.events[next].queue_pop.node);
    g_assert_cmpuint(divergence->a.ready[0], ==, a);
    g_assert_cmpuint(divergence->a.n_ready, ==, self.a.events[at].queue_pop.size + 1);
    g_assert_nonnull(divergence->b.why);
    bool tied = td_catalog_node_get(self.reel_a.catalog, a)->sequence_nr ==
                td_catalog_node_get(self.reel_a.catalog, b)->sequence_nr;
    g_assert_cmpstr(td_align_cause_name(divergence->cause), ==, tied ? "tie" : "out_of_turn");
    if (!tied) g_assert_nonnull(strstr(self.diff.divergence.text, "B popped out of turn"));
    finish(&self);
  }
  g_assert_cmpuint(n_found, >, 0);
}

/* Removes an inner node that has one successor from the whole of a script: what it was given goes
 * on to its successor. */
static void
remove_node(td_tape_script *script, uint32_t node) {
  size_t n = 0;
  uint32_t successor = TD_NONE;
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == TD_EVENT_edge_new &&
        script->events[i].edge_new.from == node)
      successor = script->events[i].edge_new.to;
  for (size_t i = 0; i < script->n; i++) {
    td_any_event *event = &script->events[i];
    if (event->event.kind == TD_EVENT_edge_new && event->edge_new.to == node)
      event->edge_new.to = successor;
    const td_event_type *type = td_event_type_get(event->event.kind);
    const td_field *first = NULL;
    for (uint16_t j = 0; j < type->n_fields && !first; j++)
      if (type->fields[j].type == TD_FIELD_NODE) first = &type->fields[j];
    if (first && td_event_field_get(&event->event, first) == node) continue;
    script->events[n++] = *event;
  }
  script->n = n;
}

/* An inner node that only one other leads to, so that the rest of the graph stays what it was. */
static uint32_t
find_removable(const td_tape_script *script, uint32_t n_nodes) {
  uint32_t *n_in = g_new0(uint32_t, n_nodes), *n_out = g_new0(uint32_t, n_nodes), found = TD_NONE;
  for (size_t i = 0; i < script->n; i++) {
    const td_any_event *event = &script->events[i];
    if (event->event.kind != TD_EVENT_edge_new) continue;
    n_out[event->edge_new.from]++;
    n_in[event->edge_new.to]++;
  }
  for (uint32_t node = n_nodes / 2; node < n_nodes && found == TD_NONE; node++)
    if (n_in[node] == 1 && n_out[node] == 1) found = node;
  g_free(n_in);
  g_free(n_out);
  return found;
}

static void
test_removed_node(void) {
  fixture self = {0};
  td_tape_plan plan = {.n_nodes = 120, .n_threads = 1, .n_passes = 1, .seed = 12};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  uint32_t removed = find_removable(&self.a, plan.n_nodes);
  g_assert_cmpuint(removed, !=, TD_NONE);
  remove_node(&self.b, removed);
  align(&self);
  g_assert_cmpuint(self.diff.a.lone_nodes.n_added, ==, 1);
  g_assert_cmpuint(self.diff.b.lone_nodes.n_added, ==, 0);
  g_assert_cmpuint(((td_visited_node *)self.diff.a.lone_nodes.items)->node, ==, removed);
  g_assert_cmpuint(self.diff.divergence.a.node.node, ==, removed);
  g_assert_cmpstr(td_align_cause_name(self.diff.divergence.cause), ==, "only_a");
  g_assert_nonnull(strstr(self.diff.divergence.text, "is only in A"));
  finish(&self);
}

/* Another batch: every shape differs, and the nodes are the same. */
static void
test_other_shapes(void) {
  fixture self = {0};
  td_tape_plan plan = {.n_nodes = 120, .n_threads = 1, .n_passes = 1, .seed = 12};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  for (size_t i = 0; i < self.b.n; i++)
    if (self.b.events[i].event.kind == TD_EVENT_input_metadata)
      self.b.events[i].input_metadata.shape = td_intern("[16, 64]");
  align(&self);
  check_all_paired(&self.diff);
  g_assert_cmpuint(self.diff.n_reshaped, ==, self.diff.a.n_nodes);
  finish(&self);
}

static void
test_more_passes(void) {
  fixture self = {0};
  td_tape_plan one = {.n_nodes = 60, .n_threads = 1, .n_passes = 1, .seed = 5},
               two = {.n_nodes = 60, .n_threads = 1, .n_passes = 2, .seed = 5};
  td_tape_script_make(&self.a, &one);
  td_tape_script_make(&self.b, &two);
  align(&self);
  g_assert_false(self.diff.equal_order);
  g_assert_false(self.diff.diverges);
  g_assert_cmpuint(self.diff.n_pairs, ==, 1);
  g_assert_cmpuint(self.diff.b.n_lone_tasks, ==, 1);
  g_assert_cmpuint(self.diff.b.lone_nodes.n_added, ==, self.diff.a.n_nodes);
  finish(&self);
}

static void
tell_stats(td_tape_script *script, double mean, uint64_t n_nan) {
  td_any_event event = {.tensor_stats = {.event = {.kind = TD_EVENT_tensor_stats,
                                                   .size = sizeof(td_event_tensor_stats)},
                                         .node = 50,
                                         .n_elements = 4,
                                         .n_nan = n_nan,
                                         .min = -3,
                                         .max = 3,
                                         .mean = mean,
                                         .l2 = 4}};
  TD_GROW(script->events, script->n, script->capacity);
  script->events[script->n++] = event;
}

static const char *
field_that_differs(double mean, uint64_t n_nan, double tolerance) {
  fixture self = {0};
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 1, .n_passes = 1, .seed = 6};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  tell_stats(&self.a, 0.5, 0);
  tell_stats(&self.b, mean, n_nan);
  compare(&self, tolerance);
  const td_top_list *values = &self.diff.comparison.values.list;
  g_assert_cmpuint(self.diff.comparison.values.n_compared, ==, 1);
  const char *field = values->n ? ((td_compared_value *)values->items)->field : "none";
  g_assert_cmpuint(values->n, <=, 1);
  g_assert_true(self.diff.equal_order);
  finish(&self);
  return field;
}

static void
test_values(void) {
  g_assert_cmpstr(field_that_differs(0.5, 0, 0), ==, "none");
  g_assert_cmpstr(field_that_differs(0.5000001, 0, 0), ==, "mean");
  g_assert_cmpstr(field_that_differs(0.5000001, 0, 1e-6), ==, "none");
  g_assert_cmpstr(field_that_differs(0.6, 0, 1e-6), ==, "mean");
  g_assert_cmpstr(field_that_differs(0.5, 1, 1e-6), ==, "n_nan");
}

/* A value that comes long after its pass belongs to it all the same, also if many segments lie
 * between them. */
static void
test_late_value(void) {
  fixture self = {.least_events_b = 1500};
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 1, .n_passes = 40, .seed = 6};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  tell_stats(&self.a, 0.5, 0);
  tell_stats(&self.b, 0.6, 0);
  align(&self);
  g_assert_cmpuint(td_tape_n_segments(self.reel_b.tape), >=, 4);
  check_all_paired(&self.diff);
  const td_compared_value *value = self.diff.comparison.values.list.items;
  g_assert_cmpuint(self.diff.comparison.values.n_compared, ==, 1);
  g_assert_cmpuint(value->b.graph_task, ==, 0);
  g_assert_cmpuint(value->event_b, >, value->b.at + 3 * self.least_events_b);
  g_assert_cmpstr(value->field, ==, "mean");
  finish(&self);
}

static void
test_anomalies(void) {
  fixture self = {0};
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 1, .n_passes = 1, .seed = 6, .n_anomalies = 20};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  uint32_t n = 0;
  for (size_t i = 0; i < self.b.n; i++)
    if (self.b.events[i].event.kind == TD_EVENT_anomaly && n++ == 3)
      self.b.events[i].anomaly.kind = TD_anomaly_kind_inf;
  g_assert_cmpuint(n, >, 4);
  align(&self);
  const td_top_list *values = &self.diff.comparison.values.list;
  const td_compared_value *items = values->items;
  g_assert_cmpuint(values->n, ==, 2); /* a NaN only in A, an infinity only in B */
  g_assert_cmpuint(items[0].event_b, ==, UINT64_MAX);
  g_assert_cmpuint(items[1].event_a, ==, UINT64_MAX);
  g_assert_cmpuint(items[0].a.at, ==, items[1].a.at);
  finish(&self);
}

/* Durations are the tape's own, and those that differ most come first. */
static void
test_durations(void) {
  fixture self = {0};
  td_tape_plan plan = {.n_nodes = 200, .n_threads = 2, .n_passes = 1, .seed = 8};
  td_tape_script_make(&self.a, &plan);
  td_tape_script_make(&self.b, &plan);
  align(&self);
  const td_top_list *durations = &self.diff.comparison.durations;
  const td_compared_duration *items = durations->items;
  g_assert_cmpuint(durations->n, ==, self.diff.n_paired);
  uint64_t sum = 0, last = UINT64_MAX;
  for (size_t i = 0; i < durations->n; i++) {
    uint64_t a = items[i].a_ns, b = items[i].b_ns;
    g_assert_cmpuint(MAX(a, b) - MIN(a, b), <=, last);
    last = MAX(a, b) - MIN(a, b);
    sum += a;
  }
  g_assert_cmpuint(sum, ==, self.diff.comparison.a_ns);
  finish(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/profile/align/passes", test_passes);
  g_test_add_func("/profile/align/names", test_names);
  for (size_t i = 0; i < G_N_ELEMENTS(plans); i++) {
    g_autofree char *itself = g_strdup_printf("/profile/align/equal-to-itself/%zu", i);
    g_autofree char *numbers = g_strdup_printf("/profile/align/other-numbers/%zu", i);
    g_autofree char *swapped = g_strdup_printf("/profile/align/swapped-pop/%zu", i);
    g_test_add_data_func(itself, &plans[i], test_equal_to_itself);
    g_test_add_data_func(numbers, &plans[i], test_other_numbers);
    g_autofree char *absent = g_strdup_printf("/profile/align/absent/%zu", i);
    g_test_add_data_func(absent, &plans[i], test_absent);
    if (plans[i].n_nodes > 2) g_test_add_data_func(swapped, &plans[i], test_swapped_pop);
  }
  g_test_add_func("/profile/align/removed-node", test_removed_node);
  g_test_add_func("/profile/align/other-shapes", test_other_shapes);
  g_test_add_func("/profile/align/more-passes", test_more_passes);
  g_test_add_func("/profile/align/values", test_values);
  g_test_add_func("/profile/align/late-value", test_late_value);
  g_test_add_func("/profile/align/anomalies", test_anomalies);
  g_test_add_func("/profile/align/durations", test_durations);
  return g_test_run();
}
