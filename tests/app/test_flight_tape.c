/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When a flight recorder makes a dump by itself. The tape and the clock are the test's. */
#include "app/session/flight_tape.h"

#include "engine/events/ring.h"
#include "engine/trace/writer.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND G_USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define NS_APART 2000000

typedef struct flight {
  char *path;
  td_writer *writer;
  td_encoder encoder;
  uint64_t n_written;
  td_flight_tape *tape;
  GString *said;
  td_announcer announcer;
} flight;

static void
say_cb(const char *text, void *data) {
  g_string_append_printf(data, "%s\n", text);
}

static void
start_with(flight *self, uint64_t reserve) {
  td_error error = {0};
  *self = (flight){.path = g_build_filename(g_get_tmp_dir(), "tapedeck-flight-XXXXXX", NULL)};
  close(g_mkstemp(self->path));
  assert_ok(td_writer_open_made(self->path, true, TD_RING_BLOCK, 1000, &self->writer, &error),
            &error);
  if (reserve) td_writer_reserve(self->writer, reserve);
  td_encoder_init(&self->encoder);
  self->said = g_string_new(NULL);
  self->announcer = (td_announcer){.say = say_cb, .data = self->said};
  self->tape =
      td_flight_tape_new(g_strdup(self->path), &(td_keep_limit){.steps = 1000}, &self->announcer);
}

static void
start(flight *self) {
  start_with(self, TD_GAP_RESERVE);
}

static void
end(flight *self) {
  td_flight_tape_free(self->tape);
  td_encoder_fini(&self->encoder);
  td_writer_abandon(self->writer);
  g_string_free(self->said, TRUE);
  g_unlink(self->path);
  g_free(self->path);
}

static void
add(flight *self, td_event_kind kind, td_any_event event) {
  event.event.kind = kind;
  event.event.size = td_event_type_get(kind)->size;
  event.event.time = 1 + NS_APART * self->n_written;
  g_assert_true(td_encoder_add(&self->encoder, &event.event));
  td_writer_events(self->writer, &self->encoder, 0, self->n_written++);
  td_encoder_begin(&self->encoder);
}

static void
add_nan(flight *self) {
  add(self, TD_EVENT_anomaly, (td_any_event){.anomaly.kind = TD_anomaly_kind_nan});
}

/* Reads, and returns the names of the dumps that are due. */
static char *
look(flight *self, gint64 now, bool is_last) {
  GString *names = g_string_new(NULL);
  const td_flight_cause *cause;
  td_flight_tape_read(self->tape, now);
  while ((cause = td_flight_tape_dump_due(self->tape, now, is_last)))
    g_string_append_printf(names, "%s ", cause->name);
  return g_strchomp(g_string_free(names, FALSE));
}

static void
assert_due(flight *self, gint64 now, bool is_last, const char *wanted) {
  g_autofree char *names = look(self, now, is_last);
  g_assert_cmpstr(names, ==, wanted);
}

/* The first dump has the news. The tape at the end has what came within the pause. */
static void
test_pause(void) {
  flight self;
  start(&self);
  assert_due(&self, 1 * SECOND, false, "");
  for (gint64 now = 2 * SECOND; now < 9 * MINUTE; now += 30 * SECOND) {
    add_nan(&self);
    assert_due(&self, now, false, now == 2 * SECOND ? "nan" : "");
  }
  add_nan(&self);
  assert_due(&self, 9 * MINUTE, true, "");
  end(&self);
}

/* A recorder that begins to keep later: what was before it is no news. */
static void
test_late(void) {
  flight self;
  start_with(&self, 0);
  add_nan(&self);
  td_writer_reserve(self.writer, TD_GAP_RESERVE);
  assert_due(&self, SECOND, false, "");
  add_nan(&self);
  assert_due(&self, 2 * SECOND, false, "nan");
  end(&self);
}

static void
test_after_the_pause(void) {
  flight self;
  start(&self);
  gint64 now = SECOND;
  for (int i = 0; i < 10; i++, now += 11 * MINUTE) {
    add_nan(&self);
    assert_due(&self, now, i % 2, "nan");
    assert_due(&self, now + 11 * MINUTE - 1, i % 2, "");
  }
  add_nan(&self);
  assert_due(&self, now, false, ""); /* there were enough */
  end(&self);
}

static void
test_causes_apart(void) {
  flight self;
  start(&self);
  add_nan(&self);
  assert_due(&self, SECOND, false, "nan");
  add_nan(&self);
  add(&self, TD_EVENT_error, (td_any_event){0});
  assert_due(&self, 2 * SECOND, false, "error");
  end(&self);
}

/* A dump waits two seconds for the end of the pass, unless nothing more will come. */
static void
test_in_a_pass(void) {
  for (int i = 0; i < 3; i++) {
    flight self;
    start(&self);
    add(&self, TD_EVENT_graph_task_begin, (td_any_event){.graph_task_begin.graph_task = 1});
    add_nan(&self);
    assert_due(&self, 5 * SECOND, false, "");
    if (i == 0) add(&self, TD_EVENT_graph_task_end, (td_any_event){.graph_task_end.graph_task = 1});
    assert_due(&self, (i == 1 ? 8 : 6) * SECOND, i == 2, "nan");
    end(&self);
  }
}

/* The dump is a tape, and takes no name that is taken. */
static void
test_dump(void) {
  flight self;
  start(&self);
  td_error error = {0};
  g_autofree char *name = g_strconcat(self.path, ".nan", NULL);
  add_nan(&self);
  assert_due(&self, SECOND, false, "nan");
  assert_ok(td_flight_tape_dump(self.tape, name, &error), &error);
  g_assert_true(g_file_test(name, G_FILE_TEST_EXISTS));
  g_assert_cmpint(td_flight_tape_dump(self.tape, name, &error), ==, TD_IO);
  td_error_clear(&error);
  g_unlink(name);
  end(&self);
}

/* Records 3,000 nodes that live, and cuts for a minute. The gap comes first, or after some steps.
 * The user hears once that the tape grows, and why. */
static void
assert_told(uint64_t reserve, bool is_late, td_keep_limit limit, const char *reason) {
  flight self;
  start_with(&self, is_late ? 0 : reserve);
  for (uint32_t i = 0; is_late && i < 3; i++)
    add(&self, TD_EVENT_step, (td_any_event){0});
  if (is_late) td_writer_reserve(self.writer, reserve);
  td_flight_tape_set_limit(self.tape, &limit);
  for (uint32_t i = 0; i < 3000; i++) {
    td_any_event node = {.node_new = {.node = i, .sequence_nr = g_random_int()}};
    add(&self, TD_EVENT_node_new, node);
    if (i % 300 == 0) add(&self, TD_EVENT_step, (td_any_event){0});
  }
  for (gint64 now = SECOND; now < MINUTE; now += SECOND) {
    td_flight_tape_read(self.tape, now);
    td_flight_tape_cut(self.tape, now);
  }
  g_assert_true(g_pattern_match_simple(reason, self.said->str));
  g_assert_null(strchr(strchr(self.said->str, '\n') + 1, '\n'));
  end(&self);
}

#define NO_ROOM "*grows beyond --keep for now: what lives takes * bytes, which is too much\n"
#define LITTLE_ROOM "*grows beyond --keep for now: what lives takes * bytes\n"

static void
test_no_room(void) {
  assert_told(2000, false, (td_keep_limit){.steps = 1}, NO_ROOM);
}

static void
test_no_room_late(void) {
  assert_told(2000, true, (td_keep_limit){.steps = 1}, NO_ROOM);
}

static void
test_little_room(void) {
  assert_told(TD_GAP_RESERVE, false, (td_keep_limit){.bytes = 4000}, LITTLE_ROOM);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/flight_tape/pause", test_pause);
  g_test_add_func("/flight_tape/late", test_late);
  g_test_add_func("/flight_tape/after_the_pause", test_after_the_pause);
  g_test_add_func("/flight_tape/causes_apart", test_causes_apart);
  g_test_add_func("/flight_tape/in_a_pass", test_in_a_pass);
  g_test_add_func("/flight_tape/dump", test_dump);
  g_test_add_func("/flight_tape/no_room", test_no_room);
  g_test_add_func("/flight_tape/no_room_late", test_no_room_late);
  g_test_add_func("/flight_tape/little_room", test_little_room);
  return g_test_run();
}
