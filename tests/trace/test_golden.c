/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Golden tapes: small tapes in tests/trace/golden, of every schema of events that was ever written.
 * The reader must find the events that FILE.jsonl lists, and `check` nothing but an end that is
 * missing. Then each tape is cut at many lengths, and one bit is flipped in many places. The reader
 * may find less in such a tape; it must say so, and must find nothing else.
 *
 *     test_golden --generate    writes FILE.jsonl for every tape */
#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/profile/check/check.h"
#include "engine/trace/tape.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_PLACES 4000 /* cuts, and flips, for each tape */

static const char *const names[] = {"events-46", "events-56", "events-71", "nan",
                                    "streams",   "nested",    "cut"};

static char *
golden_path(const char *name, const char *suffix) {
  return g_strconcat(g_getenv("SOURCE_ROOT"), "/tests/trace/golden/", name, suffix, NULL);
}

static td_tape *
open_golden(const char *name) {
  g_autofree char *path = golden_path(name, ".tape");
  td_error error = {0};
  td_tape *tape = NULL;
  assert_ok(td_tape_open(path, &tape, &error), &error);
  return tape;
}

/* All events as JSON Lines. */
static char *
events_text(td_tape *tape) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  td_json json;
  td_json_init(&json, file);
  for (uint64_t seq = 0; seq < td_tape_info_get(tape)->n_events; seq++) {
    td_any_event event;
    td_error error = {0};
    assert_ok(td_tape_get(tape, seq, &event, &error), &error);
    td_tape_print_json(tape, seq, &event, &json);
    td_json_newline(&json);
  }
  fclose(file);
  return text;
}

/* Fields are append-only. So a line may have more at its end than was expected of it. */
static bool
begins_with(const char *line, const char *expected) {
  size_t n = strlen(expected) - 1; /* without the brace */
  return !strncmp(line, expected, n) && (line[n] == '}' || line[n] == ',');
}

static void
test_events(const void *name) {
  g_autofree char *path = golden_path(name, ".jsonl"), *expected = NULL;
  g_assert_true(g_file_get_contents(path, &expected, NULL, NULL));
  td_tape *tape = open_golden(name);
  char *text = events_text(tape);
  g_auto(GStrv) wanted = g_strsplit(expected, "\n", -1), found = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(found), ==, g_strv_length(wanted));
  for (size_t i = 0; *wanted[i]; i++)
    if (!begins_with(found[i], wanted[i]))
      g_error("%s:%zu\n  expected %s\n  found    %s", path, i + 1, wanted[i], found[i]);
  free(text);
  td_tape_close(tape);
}

static void
print_violation(const td_violation *violation, void *name) {
  g_test_message("%s: event %d: %s: %s", (const char *)name, (int)violation->seq, violation->rule,
                 violation->text);
}

static void
test_check(const void *name) {
  td_tape *tape = open_golden(name);
  td_error error = {0};
  uint64_t n_violations = 0;
  assert_ok(td_check_run(tape, print_violation, (void *)name, &n_violations, &error), &error);
  bool is_cut = !strcmp(name, "cut"); /* and that is all that is wrong with it */
  g_assert_cmpuint(n_violations, ==, is_cut);
  g_assert_true(td_tape_info_get(tape)->complete == !is_cut);
  td_tape_close(tape);
}

/* A tape's bytes, and the kinds of each thread's events in it. */
typedef struct golden {
  char *bytes, *text; /* (owned) the file, and its events as JSON Lines */
  gsize size;
  uint64_t n_events;
  GArray *kinds[16]; /* (owned) of each thread */
} golden;

static void
golden_init(golden *self, const char *name) {
  *self = (golden){0};
  g_autofree char *path = golden_path(name, ".tape");
  g_assert_true(g_file_get_contents(path, &self->bytes, &self->size, NULL));
  td_tape *tape = open_golden(name);
  for (size_t i = 0; i < G_N_ELEMENTS(self->kinds); i++)
    self->kinds[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  self->text = events_text(tape);
  self->n_events = td_tape_info_get(tape)->n_events;
  for (uint64_t seq = 0; seq < self->n_events; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    uint32_t kind = event->event.kind;
    g_assert_cmpuint(event->event.thread, <, G_N_ELEMENTS(self->kinds));
    g_array_append_val(self->kinds[event->event.thread], kind);
  }
  td_tape_close(tape);
}

static void
golden_fini(golden *self) {
  for (size_t i = 0; i < G_N_ELEMENTS(self->kinds); i++)
    g_array_unref(self->kinds[i]);
  g_free(self->bytes);
  free(self->text);
}

/* Chunks may be lost, so each thread's events must be some of those in the whole tape, in order. */
static void
assert_only_known_events(const golden *whole, td_tape *tape) {
  const td_tape_info *info = td_tape_info_get(tape);
  guint n_seen[G_N_ELEMENTS(whole->kinds)] = {0};
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    td_any_event event;
    td_error error = {0};
    assert_ok(td_tape_get(tape, seq, &event, &error), &error);
    g_assert_cmpuint(event.event.thread, <, G_N_ELEMENTS(n_seen));
    const GArray *kinds = whole->kinds[event.event.thread];
    guint *i = &n_seen[event.event.thread];
    while (*i < kinds->len && g_array_index(kinds, uint32_t, *i) != event.event.kind)
      ++*i;
    g_assert_cmpuint((*i)++, <, kinds->len);
  }
  if (info->n_events < whole->n_events) g_assert_true(info->damage || !info->complete);
}

static void
ignore_violation(const td_violation *violation, void *unused) {
}

/* Opens damaged bytes. Returns whether the reader took them for a whole tape: then every event must
 * be as it was. (A few bits of a zstd frame mean nothing.) */
static bool
try_bytes(const golden *whole, const char *path, const char *bytes, gsize size) {
  g_assert_true(
      g_file_set_contents_full(path, bytes, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  td_tape *tape = NULL;
  td_error error = {0};
  bool is_whole = false;
  if (td_tape_open(path, &tape, &error) == TD_OK) {
    assert_only_known_events(whole, tape);
    uint64_t n_violations = 0;
    td_check_run(tape, ignore_violation, NULL, &n_violations, &error);
    const td_tape_info *info = td_tape_info_get(tape);
    is_whole = info->complete && !info->damage;
    if (is_whole) {
      char *text = events_text(tape);
      g_assert_cmpstr(text, ==, whole->text);
      free(text);
    }
    td_tape_close(tape);
  } else {
    g_assert_cmpuint(strlen(td_error_text(&error)), >, 0);
  }
  td_error_clear(&error);
  return is_whole;
}

static void
test_cut(const void *name) {
  golden whole;
  golden_init(&whole, name);
  g_autofree char *path = g_strdup_printf("%s/golden-%d.tape", g_get_tmp_dir(), (int)getpid());
  gsize step = whole.size / MAX_PLACES + 1;
  for (gsize size = 0; size < whole.size; size += step)
    g_assert_false(try_bytes(&whole, path, whole.bytes, size));
  g_unlink(path);
  golden_fini(&whole);
}

/* Where the index begins. Without an index the reader finds the chunks by a scan, and loses none.
 */
static gsize
index_at(const golden *whole) {
  uint64_t at;
  const char *trailer = whole->bytes + whole->size - 16;
  memcpy(&at, trailer, sizeof at);
  return memcmp(trailer + 8, "TAPE-END", 8) ? whole->size : GUINT64_FROM_LE(at);
}

static void
test_flipped(const void *name) {
  golden whole;
  golden_init(&whole, name);
  g_autofree char *path = g_strdup_printf("%s/golden-%d.tape", g_get_tmp_dir(), (int)getpid());
  gsize step = whole.size / MAX_PLACES + 1;
  gsize index = index_at(&whole);
  guint64 n_unnoticed = 0;
  for (gsize at = 0; at < whole.size; at += step) {
    whole.bytes[at] ^= (char)(1 << at % 8);
    n_unnoticed += try_bytes(&whole, path, whole.bytes, whole.size) && at < index;
    whole.bytes[at] ^= (char)(1 << at % 8);
  }
  g_assert_cmpuint(n_unnoticed, <, index / 100);
  g_unlink(path);
  golden_fini(&whole);
}

static int
generate(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = golden_path(names[i], ".jsonl");
    td_tape *tape = open_golden(names[i]);
    char *text = events_text(tape);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    free(text);
    td_tape_close(tape);
  }
  return 0;
}

int
main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--generate")) return generate();
  g_test_init(&argc, &argv, NULL);
  const struct {
    const char *path;
    void (*test)(const void *);
  } tests[] = {
      {"events", test_events}, {"check", test_check}, {"cut", test_cut}, {"flipped", test_flipped}};
  for (size_t i = 0; i < G_N_ELEMENTS(names) * G_N_ELEMENTS(tests); i++) {
    const char *name = names[i / G_N_ELEMENTS(tests)];
    g_autofree char *path =
        g_strdup_printf("/trace/golden/%s/%s", name, tests[i % G_N_ELEMENTS(tests)].path);
    g_test_add_data_func(path, name, tests[i % G_N_ELEMENTS(tests)].test);
  }
  return g_test_run();
}
