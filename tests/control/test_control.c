/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lines of live sessions, and the gate with this program as its own hub. */
#include "engine/base/alloc.h"
#include "engine/control/gate.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void
test_round_trip(void) {
  td_line_text text;
  td_line line;
  char every[256];
  for (int i = 0; i < 255; i++)
    every[i] = (char)(i + 1);
  every[255] = '\0';
  td_line_begin(&text, "tape");
  td_line_add(&text, "path", every);
  td_line_add(&text, "nothing", NULL);
  td_line_add(&text, "empty", "");
  td_line_add_number(&text, "level", -7);
  g_assert_cmpuint(strcspn(text.bytes, "\n") + 1, ==, text.n_bytes);
  g_assert_true(td_line_parse(&line, text.bytes, text.n_bytes - 1));
  g_assert_true(td_line_is(&line, "tape"));
  g_assert_cmpuint(line.n_fields, ==, 3);
  g_assert_cmpstr(td_line_find(&line, "path"), ==, every);
  g_assert_cmpstr(td_line_find(&line, "empty"), ==, "");
  g_assert_cmpstr(td_line_find(&line, "level"), ==, "-7");
  g_assert_null(td_line_find(&line, "nothing"));
  td_line_fini(&line);
  td_line_text_fini(&text);
}

static void
test_refused(void) {
  static const char *const lines[] = {"",          " ",          "1",         "Tape",
                                      "tape path", "tape =1",    "tape P=1",  "tape a=%",
                                      "tape a=%4", "tape a=%zz", "tape a=%00"};
  td_line line;
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
    g_assert_false(td_line_parse(&line, lines[i], strlen(lines[i])));
  g_assert_false(td_line_parse(&line, "tape\0path=1", 11));
  g_autofree char *longest = g_strnfill(TD_LINE_BYTES_MAX + 1, 'a');
  g_assert_false(td_line_parse(&line, longest, TD_LINE_BYTES_MAX + 1));
  g_assert_true(td_line_parse(&line, longest, TD_LINE_BYTES_MAX));
  td_line_fini(&line);
}

static void
test_numbers(void) {
  td_line line;
  uint32_t value = 5;
  const char text[] = "stopped a=4294967295 b=4294967296 c=-1 d= e=1x f=99999999999999999999";
  g_assert_true(td_line_parse(&line, text, strlen(text)));
  g_assert_true(td_line_find_u32(&line, "a", &value));
  g_assert_cmpuint(value, ==, UINT32_MAX);
  for (const char *key = "bcdefg"; *key; key++)
    g_assert_false(td_line_find_u32(&line, (char[]){*key, '\0'}, &value));
  g_assert_cmpuint(value, ==, UINT32_MAX);
  td_line_fini(&line);
}

/* What is parsed and written again is parsed the same; a stream in pieces gives the same lines. */
static void
check_stream(const unsigned char *bytes, size_t n_bytes) {
  td_line_reader reader = {0};
  td_line_result result = TD_LINE_NONE;
  for (size_t at = 0; at < n_bytes && result != TD_LINE_BAD;) {
    size_t some = (size_t)g_test_rand_int_range(1, 40), piece = MIN(n_bytes - at, some);
    td_line line, again;
    td_line_reader_add(&reader, bytes + at, piece);
    at += piece;
    while ((result = td_line_reader_take(&reader, &line)) == TD_LINE_READY) {
      td_line_text text;
      td_line_copy(&text, &line);
      g_assert_true(td_line_parse(&again, text.bytes, text.n_bytes - 1));
      g_assert_cmpuint(again.n_fields, ==, line.n_fields);
      for (unsigned i = 0; i < line.n_fields; i++)
        g_assert_cmpstr(again.fields[i].value, ==, line.fields[i].value);
      td_line_text_fini(&text);
      td_line_fini(&again);
      td_line_fini(&line);
    }
  }
  td_line_reader_fini(&reader);
}

static void
test_fuzz(void) {
  static const char seed[] =
      "hello pid=12 program=a%20b torch=/x/libtorch.so\n"
      "stopped thread=0 kind=node_begin node=7 name=MulBackward0 reason=first\n"
      "break add=op%3AMulBackward0\nrecord live=1 break=nan break=node%3A3\n";
  static const char alphabet[] = "abz_=% \n%0AF\0\xff";
  for (int round = 0; round < 20000; round++) {
    unsigned char bytes[sizeof seed];
    memcpy(bytes, seed, sizeof seed);
    for (int changes = g_test_rand_int_range(0, 12); changes > 0; changes--) {
      char change = alphabet[g_test_rand_int_range(0, sizeof alphabet - 1)];
      bytes[g_test_rand_int_range(0, sizeof seed)] = (unsigned char)change;
    }
    check_stream(bytes, (size_t)g_test_rand_int_range(1, sizeof seed));
  }
}

static void
test_conditions(void) {
  static const char *const good[] = {"begin",  "nan",     "nonfinite",  "error",   "node:0",
                                     "op:A",   "inf",     "pass:3",     "label:w", "module:a.*",
                                     "norm:1", "norm:.5", "norm:2.5e3", "queue:4", "idle:1.5ms",
                                     "ready",  "ready:7", "step",       "step:0",  "hook",
                                     "hook:f", "choice"};
  static const char *const bad[] = {
      "",         "node",    "node:",   "node:x", "node:4294967295", "op:",      "NaN",
      "nan:1",    "norm:",   "norm:-1", "norm:x", "norm:nan",        "norm:0x1", "idle:3",
      "idle:3 h", "ready:x", "step:",   "hook:",  "queue:1z",        "choice:1"};
  td_condition condition;
  for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
    g_assert_cmpint(td_condition_parse(good[i], &condition, NULL), ==, TD_OK);
    td_condition_fini(&condition);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
    g_assert_cmpint(td_condition_parse(bad[i], &condition, NULL), ==, TD_INVALID);
}

static bool
holds(const char *text, td_condition_moment moment) {
  td_condition condition;
  g_assert_cmpint(td_condition_parse(text, &condition, NULL), ==, TD_OK);
  bool result = td_condition_holds(&condition, &moment);
  td_condition_fini(&condition);
  return result;
}

static void
test_patterns(void) {
  static const struct {
    const char *pattern, *text;
    bool fits;
  } cases[] = {{"op:Mul", "Mul", true},     {"op:Mul", "Mul0", false},
               {"op:Mul*", "Mul", true},    {"op:*0", "MulBackward0", true},
               {"op:*a*b", "xaxaxb", true}, {"op:*a*b", "xaxbx", false},
               {"op:M?l", "Mul", true},     {"op:M?l", "Ml", false},
               {"op:**", "anything", true}, {"op:*", "", true},
               {"op:?", "é", true},         {"op:??", "é", false},
               {"op:梯?", "梯度", true},    {"op:*??", "é", false},
               {"op:*?度", "x梯度", true},  {"op:*é?", "aéé😀", true},
               {"op:a?z", "a\xffz", true},  {"op:*\xa2?", "\xe6\xa2\xaf", false}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    td_condition_moment moment = {.event = TD_EVENT_node_begin, .name = cases[i].text};
    g_assert_cmpint(holds(cases[i].pattern, moment), ==, cases[i].fits);
  }
  g_assert_false(holds("op:*", (td_condition_moment){.event = TD_EVENT_node_begin}));
  g_assert_false(holds("op:*", (td_condition_moment){.event = TD_EVENT_node_end, .name = "A"}));
}

/* A queue that stays long is one hit: when it gets so long. */
static void
test_amounts(void) {
  td_condition_moment moment = {.event = TD_EVENT_queue_push, .amount = 5, .before = 4};
  g_assert_true(holds("queue:4", moment));
  g_assert_false(holds("queue:5", moment));
  g_assert_false(holds("queue:3", moment));
  g_assert_true(
      holds("idle:2us", (td_condition_moment){.event = TD_EVENT_queue_pop, .amount = 2001}));
  g_assert_false(
      holds("idle:2us", (td_condition_moment){.event = TD_EVENT_queue_pop, .amount = 2000}));
}

/* What only a tape knows, no program is asked for. */
static void
test_live(void) {
  td_condition condition;
  td_error error = {0};
  g_assert_cmpint(td_condition_parse_live("norm:1", &condition, &error), ==, TD_INVALID);
  td_error_clear(&error);
  g_assert_cmpint(td_condition_parse_live("inf", &condition, &error), ==, TD_OK);
  td_condition_fini(&condition);
  g_assert_cmpint(td_condition_parse_live("choice", &condition, &error), ==, TD_OK);
  td_condition_moment pop = {.event = TD_EVENT_queue_pop};
  g_assert_false(td_condition_holds(&condition, &pop));
  pop.has_others = true;
  g_assert_true(td_condition_holds(&condition, &pop));
  td_condition_fini(&condition);
}

/* ---- the gate ---- */

typedef struct session {
  char *folder, *path;
  int listening, hub; /* the hub's end */
  const char *answer;
  td_link *link;
  td_line_reader reader;
  _Atomic int n_flushes;
} session;

static void *
accept_main(void *data) {
  session *self = data;
  char hello[256];
  self->hub = accept(self->listening, NULL, NULL);
  g_assert_cmpint(recv(self->hub, hello, sizeof hello, 0), >, 0);
  ssize_t n = (ssize_t)strlen(self->answer);
  g_assert_cmpint(send(self->hub, self->answer, (size_t)n, 0), ==, n);
  return NULL;
}

static void
flush_cb(void *data) {
  ((session *)data)->n_flushes++;
}

static void
session_open_as(session *self, const char *answer) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  td_line_text hello;
  td_line reply;
  pthread_t hub;
  *self = (session){.folder = g_dir_make_tmp("tapedeck-XXXXXX", NULL), .answer = answer};
  self->path = g_build_filename(self->folder, "session", NULL);
  g_strlcpy(address.sun_path, self->path, sizeof address.sun_path);
  self->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(self->listening, (void *)&address, sizeof address), ==, 0);
  g_assert_cmpint(listen(self->listening, 1), ==, 0);
  pthread_create(&hub, NULL, accept_main, self);
  td_line_begin(&hello, "hello");
  g_assert_cmpint(td_link_open(self->path, &hello, &reply, &self->link, NULL), ==, TD_OK);
  pthread_join(hub, NULL);
  g_assert_cmpint(td_gate_open(self->link, &reply, flush_cb, self, NULL), ==, TD_OK);
  td_line_text_fini(&hello);
  td_line_fini(&reply);
}

static void
session_open(session *self) {
  session_open_as(self, "record live=1\n");
}

static void
session_close(session *self) {
  td_gate_close();
  td_link_close(self->link);
  if (self->hub >= 0) close(self->hub);
  close(self->listening);
  g_unlink(self->path);
  g_rmdir(self->folder);
  g_free(self->path);
  g_free(self->folder);
  td_line_reader_fini(&self->reader);
}

static void
say(session *self, const char *line) {
  g_assert_cmpint(send(self->hub, line, strlen(line), 0), ==, (int)strlen(line));
}

/* Reads what the target says until a line of that word, and returns it (to be finished). */
static td_line
hear(session *self, const char *word) {
  td_line line;
  for (;;) {
    while (td_line_reader_take(&self->reader, &line) == TD_LINE_READY) {
      if (td_line_is(&line, word)) return line;
      td_line_fini(&line);
    }
    char bytes[512];
    ssize_t n = recv(self->hub, bytes, sizeof bytes, 0);
    g_assert_cmpint(n, >, 0);
    td_line_reader_add(&self->reader, bytes, (size_t)n);
  }
}

static void
hear_stop(session *self, const char *reason) {
  td_line line = hear(self, "stopped");
  g_assert_cmpstr(td_line_find(&line, "reason"), ==, reason);
  td_line_fini(&line);
}

typedef struct walker {
  pthread_t thread;
  int n_polls;
  _Atomic int n_passed;
} walker;

static void *
walk_main(void *data) {
  walker *self = data;
  for (int i = 0; i < self->n_polls; i++) {
    TD_GATE_POLL(TD_EVENT_node_begin, (uint32_t)i, 0, i % 2 ? "Odd" : "Even");
    self->n_passed++;
  }
  return NULL;
}

static void
walk(walker *self, int n_polls) {
  *self = (walker){.n_polls = n_polls};
  pthread_create(&self->thread, NULL, walk_main, self);
}

static void
test_steps(void) {
  session hub;
  walker walker;
  session_open(&hub);
  walk(&walker, 100);
  hear_stop(&hub, "first");
  for (int i = 1; i <= 20; i++) {
    say(&hub, "step\n");
    hear_stop(&hub, "step");
    g_assert_cmpint(walker.n_passed, ==, i);
    g_assert_cmpint(hub.n_flushes, ==, i + 1);
  }
  say(&hub, "break add=node:50\ncontinue\n");
  td_line line = hear(&hub, "stopped");
  g_assert_cmpstr(td_line_find(&line, "node"), ==, "50");
  g_assert_cmpstr(td_line_find(&line, "condition"), ==, "node:50");
  td_line_fini(&line);
  say(&hub, "break clear=1\ncontinue\n");
  pthread_join(walker.thread, NULL);
  g_assert_cmpint(walker.n_passed, ==, 100);
  session_close(&hub);
}

/* Nobody looked when the program began. A window that comes later stops it. */
static void
test_away(void) {
  session hub;
  walker walker;
  session_open_as(&hub, "record live=1 away=1\n");
  td_line line = hear(&hub, "gate");
  g_assert_false(td_line_flag(&line, "paused"));
  td_line_fini(&line);
  walk(&walker, 100);
  pthread_join(walker.thread, NULL);
  say(&hub, "pause\n");
  line = hear(&hub, "gate");
  g_assert_true(td_line_flag(&line, "paused"));
  td_line_fini(&line);
  walk(&walker, 100);
  hear_stop(&hub, "pause");
  say(&hub, "step\n");
  hear_stop(&hub, "step");
  g_assert_cmpint(walker.n_passed, ==, 1);
  say(&hub, "detach\n");
  pthread_join(walker.thread, NULL);
  session_close(&hub);
}

static void
test_trouble(void) {
  session hub;
  session_open(&hub);
  say(&hub, "break add=nan\ncontinue\n");
  for (int i = 0; i < 2; i++) {
    td_line line = hear(&hub, "gate");
    td_line_fini(&line);
  }
  while (!td_gate_is_armed())
    g_thread_yield();
  td_gate_note(TD_TROUBLE_INF, 3);
  TD_GATE_POLL(TD_EVENT_anomaly, 4, 0, NULL); /* would never come back */
  td_gate_note(TD_TROUBLE_NAN, 3);
  say(&hub, "detach\n");
  TD_GATE_POLL(TD_EVENT_node_end, 4, 0, NULL);
  session_close(&hub);
}

/* Whatever lets go lets everyone go. */
static void
check_release(void (*release)(session *hub)) {
  session hub;
  walker walkers[4];
  session_open(&hub);
  for (size_t i = 0; i < G_N_ELEMENTS(walkers); i++)
    walk(&walkers[i], 50);
  for (size_t i = 0; i < G_N_ELEMENTS(walkers); i++) {
    td_line line = hear(&hub, "stopped");
    td_line_fini(&line);
  }
  release(&hub);
  for (size_t i = 0; i < G_N_ELEMENTS(walkers); i++)
    pthread_join(walkers[i].thread, NULL);
  session_close(&hub);
}

static void
detach(session *hub) {
  say(hub, "hold thread=0\ndetach\n");
}

static void
hang_up(session *hub) {
  close(hub->hub);
  hub->hub = -1;
}

static void
talk_nonsense(session *hub) {
  say(hub, "\x01 nonsense\n");
}

static void
close_gate(session *hub) {
  td_gate_close();
}

static void
test_release(void) {
  void (*const ways[])(session *) = {detach, hang_up, talk_nonsense, close_gate};
  for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
    check_release(ways[i]);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/control/line/round-trip", test_round_trip);
  g_test_add_func("/control/line/refused", test_refused);
  g_test_add_func("/control/line/numbers", test_numbers);
  g_test_add_func("/control/line/fuzz", test_fuzz);
  g_test_add_func("/control/conditions", test_conditions);
  g_test_add_func("/control/conditions/patterns", test_patterns);
  g_test_add_func("/control/conditions/amounts", test_amounts);
  g_test_add_func("/control/conditions/live", test_live);
  g_test_add_func("/control/gate/steps", test_steps);
  g_test_add_func("/control/gate/away", test_away);
  g_test_add_func("/control/gate/trouble", test_trouble);
  g_test_add_func("/control/gate/release", test_release);
  return g_test_run();
}
