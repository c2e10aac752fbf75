/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a check says of a tape does not depend on whether it is cut into segments. */
#include "engine/profile/check/check.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

static void
note_text(const td_violation *violation, void *data) {
  g_string_append_printf(data, "%" G_GUINT64_FORMAT " %s %s\n", violation->seq, violation->rule,
                         violation->text);
}

static GString *
check_path(const char *path, uint32_t *n_segments) {
  GString *text = g_string_new(NULL);
  td_tape *tape;
  uint64_t n;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_check_run(tape, note_text, text, &n, NULL), ==, TD_OK);
  g_assert_cmpuint(n, >, 100);
  *n_segments = td_tape_n_segments(tape);
  td_tape_close(tape);
  return text;
}

/* Wrong numbers here and there, which do not change what is under way. */
static void
spoil_numbers(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++) {
    td_any_event *event = &script->events[i];
    if (i % 17) continue;
    if (event->event.kind == TD_EVENT_outstanding) event->outstanding.value++;
    if (event->event.kind == TD_EVENT_dependency_dec) event->dependency_dec.left++;
    if (event->event.kind == TD_EVENT_queue_push) event->queue_push.size++;
    if (event->event.kind == TD_EVENT_buffer_park) event->buffer_park.graph_task = 0;
  }
}

static void
test_segments(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 90, .trains = true, .seed = 7};
  g_autofree char *path =
      g_strdup_printf("%s/tapedeck-check-cut-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_tape_script script;
  uint32_t n_segments;
  td_tape_script_make(&script, &plan);
  spoil_numbers(&script);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  GString *before = check_path(path, &n_segments);
  g_assert_cmpuint(n_segments, ==, 0);
  g_assert_cmpint(td_segments_add(path, 1000, NULL), ==, TD_OK);
  GString *after = check_path(path, &n_segments);
  g_assert_cmpuint(n_segments, >, 5);
  g_assert_cmpstr(before->str, ==, after->str);
  g_string_free(before, TRUE);
  g_string_free(after, TRUE);
  td_tape_script_fini(&script);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/check-segments/same-as-whole", test_segments);
  return g_test_run();
}
