/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of events: what the compiler cannot check of it. */
#include "engine/events/event_type.h"

#include <glib.h>
#include <string.h>

static bool
has_field(const td_event_type *type, const char *name, size_t length) {
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (strncmp(type->fields[i].name, name, length) == 0 && !type->fields[i].name[length])
      return true;
  return length == strlen("thread") && strncmp(name, "thread", length) == 0;
}

/* What stands in braces is a field of the event, or its thread. */
static void
test_sentences(void) {
  guint n = 0;
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    for (const char *at = type ? strchr(type->sentence, '{') : NULL; at; at = strchr(at, '{')) {
      size_t length = strcspn(++at, "}");
      if (!has_field(type, at, length)) g_test_message("%s: {%.*s", type->name, (int)length, at);
      g_assert_true(has_field(type, at, length));
      n++;
    }
  }
  g_assert_cmpuint(n, >, 100);
}

static void
assert_family(td_event_kind kind, td_event_family family) {
  if (td_event_type_get(kind)->family != family)
    g_test_message("%s", td_event_type_get(kind)->name);
  g_assert_cmpint(td_event_type_get(kind)->family, ==, family);
}

/* The list of problems and the filter for trouble hold the same kinds. */
static void
test_trouble(void) {
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    if (!type) continue;
    bool is_problem = type->list.list == TD_LIST_problems;
    g_assert_cmpint(type->family == TD_FAMILY_trouble, ==, is_problem);
  }
  assert_family(TD_EVENT_version_conflict, TD_FAMILY_trouble);
  assert_family(TD_EVENT_warning, TD_FAMILY_trouble);
  assert_family(TD_EVENT_stream_conflict, TD_FAMILY_trouble);
}

/* Numbers that lie outside the range that their family once was. */
static void
test_families(void) {
  for (uint32_t kind = TD_EVENT_kernel_begin; kind <= TD_EVENT_synchronize_end; kind++)
    assert_family((td_event_kind)kind, TD_FAMILY_devices);
  for (uint32_t kind = TD_EVENT_node_new; kind <= TD_EVENT_node_sequence_nr; kind++)
    assert_family((td_event_kind)kind, TD_FAMILY_graph);
  assert_family(TD_EVENT_final_callback_end, TD_FAMILY_passes);
  assert_family(TD_EVENT_release, TD_FAMILY_nodes);
  assert_family(TD_EVENT_pool_pop, TD_FAMILY_reentry);
}

/* A lock's object is an id of what the lock guards. */
static void
test_names(void) {
  td_event_lock_wait node = {.event = {.kind = TD_EVENT_lock_wait},
                             .lock = TD_lock_kind_node,
                             .object = 3},
                     queue = node;
  queue.lock = TD_lock_kind_queue;
  g_assert_true(td_event_names(&node.event, TD_ID_NODE, 3));
  g_assert_false(td_event_names(&node.event, TD_ID_NODE, 4));
  g_assert_false(td_event_names(&node.event, TD_ID_QUEUE, 3));
  g_assert_true(td_event_names(&queue.event, TD_ID_QUEUE, 3));
  g_assert_false(td_event_names(&queue.event, TD_ID_NODE, 3));
}

/* Numbers are on tapes: this list may grow, and never change. */
static void
test_numbers_stay(void) {
  g_assert_cmpint(TD_EVENT_string, ==, 1);
  g_assert_cmpint(TD_EVENT_node_new, ==, 10);
  g_assert_cmpint(TD_EVENT_queue_pop, ==, 32);
  g_assert_cmpint(TD_EVENT_step, ==, 111);
  g_assert_cmpint(TD_EVENT_LIMIT, >, TD_EVENT_step);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/events/event-type/sentences", test_sentences);
  g_test_add_func("/events/event-type/trouble", test_trouble);
  g_test_add_func("/events/event-type/families", test_families);
  g_test_add_func("/events/event-type/names", test_names);
  g_test_add_func("/events/event-type/numbers-stay", test_numbers_stay);
  return g_test_run();
}
