/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/profile/check/check.h"
#include "engine/profile/findings/findings.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/profile/check_bends.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* "rule kind" for each violation, kind being that of the event named. */
typedef struct findings {
  td_tape *tape;
  GPtrArray *words;
} findings;

static void
note(const td_violation *violation, void *data) {
  findings *findings = data;
  td_any_event event;
  g_assert_cmpint(td_tape_get(findings->tape, violation->seq, &event, NULL), ==, TD_OK);
  g_assert_cmpuint(strlen(violation->text), >, 10);
  const char *kind = td_event_type_get(event.event.kind)->name;
  g_ptr_array_add(findings->words, g_strdup_printf("%s %s", violation->rule, kind));
}

static void
note_unjudged(const char *rule, const char *reason, void *data) {
  g_assert_true(g_str_has_suffix(reason, " is reconstructed") ||
                g_str_has_suffix(reason, " is absent"));
  g_ptr_array_add(data, g_strdup(rule));
}

static char *
tape_path(void) {
  return g_strdup_printf("%s/tapedeck-check-%d.tape", g_get_tmp_dir(), (int)getpid());
}

/* Is the rule among what `findings` tells? */
static bool
is_found(const td_tape_script *script, const char *rule) {
  g_autofree char *path = tape_path();
  td_tape *tape;
  td_findings found;
  bool is_told = false;
  g_assert_cmpint(td_tape_script_write(script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_findings_make(tape, &found, NULL), ==, TD_OK);
  for (uint32_t i = 0; i < found.n; i++)
    is_told |= found.items[i].kind == TD_FINDING_rule_broken && strstr(found.items[i].advice, rule);
  td_findings_fini(&found);
  td_tape_close(tape);
  g_unlink(path);
  return is_told;
}

static GPtrArray *
check_script_noting(const td_tape_script *script, GPtrArray *unjudged) {
  g_autofree char *path = tape_path();
  findings findings = {.words = g_ptr_array_new_with_free_func(g_free)};
  uint64_t n;
  g_assert_cmpint(td_tape_script_write(script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &findings.tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_check_run(findings.tape, note, &findings, &n, NULL), ==, TD_OK);
  g_assert_cmpuint(n, ==, findings.words->len);
  td_check_find_unjudged(td_tape_info_get(findings.tape), note_unjudged, unjudged);
  td_tape_close(findings.tape);
  g_unlink(path);
  return findings.words;
}

/* Of a tape on which every rule can be judged. */
static GPtrArray *
check_script(const td_tape_script *script) {
  g_autoptr(GPtrArray) unjudged = g_ptr_array_new_with_free_func(g_free);
  GPtrArray *words = check_script_noting(script, unjudged);
  g_assert_cmpuint(unjudged->len, ==, 0);
  return words;
}

static void
test_good(const void *data) {
  td_tape_script script;
  td_tape_script_make(&script, data);
  g_autoptr(GPtrArray) words = check_script(&script);
  if (words->len) g_test_message("%s", (char *)words->pdata[0]);
  g_assert_cmpuint(words->len, ==, 0);
  g_assert_false(is_found(&script, " rule "));
  td_tape_script_fini(&script);
}

static void
test_accepted(const void *data) {
  const td_accepted_bend *expected = data;
  td_tape_plan plan = {.n_nodes = 120, .n_threads = expected->n_threads, .n_passes = 2, .seed = 21};
  td_tape_script script;
  td_tape_script_make(&script, &plan);
  expected->bend(&script);
  g_autoptr(GPtrArray) unjudged = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) words = check_script_noting(&script, unjudged);
  for (guint i = 0; i < words->len; i++)
    g_test_message("found: %s", (char *)words->pdata[i]);
  g_assert_cmpuint(words->len, ==, 0);
  if (expected->unjudged)
    g_assert_true(
        g_ptr_array_find_with_equal_func(unjudged, expected->unjudged, g_str_equal, NULL));
  else
    g_assert_cmpuint(unjudged->len, ==, 0);
  td_tape_script_fini(&script);
}

static void
test_bent(const void *data) {
  const td_broken_bend *bend = data;
  td_tape_plan plan = {.n_nodes = 120, .n_threads = bend->n_threads, .n_passes = 1, .seed = 21};
  td_tape_script script;
  td_tape_script_make(&script, &plan);
  bend->bend(&script);
  g_autoptr(GPtrArray) words = check_script(&script);
  bool found = g_ptr_array_find_with_equal_func(words, bend->expected, g_str_equal, NULL);
  for (guint i = 0; !found && i < words->len; i++)
    g_test_message("found: %s", (char *)words->pdata[i]);
  g_assert_true(found);
  g_autofree char *rule = g_strndup(bend->expected, strcspn(bend->expected, " "));
  bool has_holes = strcmp(rule, "complete") == 0;
  g_assert_true(is_found(&script, rule) == !has_holes);
  td_tape_script_fini(&script);
}

/* A failed pass is over, and another thread still pushes its tasks: when they move behind those of
 * other passes is not on the tape. */
static void
test_ended(void) {
  td_tape_plan plan = {.n_nodes = 120, .n_threads = 1, .n_passes = 1, .seed = 21};
  td_tape_script script;
  td_tape_script_make(&script, &plan);
  td_script_swap_pops(&script);
  size_t end = td_script_find(&script, TD_EVENT_graph_task_end, 0);
  script.events[end].graph_task_end.status = TD_task_status_error;
  td_script_insert_copy(&script, td_script_find(&script, TD_EVENT_queue_push, 0), end);
  td_script_drop(&script, end + 1);
  g_autoptr(GPtrArray) words = check_script(&script);
  g_assert_cmpuint(words->len, >, 0); /* its node runs in another's place */
  g_assert_false(g_ptr_array_find_with_equal_func(words, "pop-order queue_pop", g_str_equal, NULL));
  td_tape_script_fini(&script);
}

int
main(int argc, char **argv) {
  static const td_tape_plan plans[] = {
      {.n_nodes = 2, .n_threads = 1, .n_passes = 1, .seed = 1},
      {.n_nodes = 500, .n_threads = 1, .n_passes = 3, .seed = 2, .n_anomalies = 5},
      {.n_nodes = 500, .n_threads = 5, .n_passes = 3, .seed = 3},
      {.n_nodes = 60, .n_threads = 2, .n_passes = 200, .trains = true, .seed = 4},
  };
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; i < TD_N_ELEMENTS(plans); i++) {
    g_autofree char *name = g_strdup_printf("/check/good/%zu", i);
    g_test_add_data_func(name, &plans[i], test_good);
  }
  for (size_t i = 0; i < td_n_accepted_bends; i++) {
    g_autofree char *name = g_strdup_printf("/check/accepted/%s", td_accepted_bends[i].name);
    g_test_add_data_func(name, &td_accepted_bends[i], test_accepted);
  }
  for (size_t i = 0; i < td_n_broken_bends; i++) {
    g_autofree char *name = g_strdup_printf("/check/bent/%s", td_broken_bends[i].name);
    g_test_add_data_func(name, &td_broken_bends[i], test_bent);
  }
  g_test_add_func("/check/ended", test_ended);
  return g_test_run();
}
