/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An overlay says of a pass what the reports say of it. */
#include "engine/profile/report/critical_report.h"
#include "engine/profile/report/overlay.h"
#include "engine/profile/report/report.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

typedef struct fixture {
  char *path;
  td_tape *tape;
  td_catalog *catalog;
} fixture;

static void
set_up(fixture *self, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 2, .n_passes = 6, .trains = true, .seed = 3};
  self->path = g_strdup_printf("%s/tapedeck-overlay-%d.tape", g_get_tmp_dir(), (int)getpid());
  g_assert_cmpint(td_tape_make(&plan, self->path, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(self->path, &self->tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(self->tape, &self->catalog, NULL), ==, TD_OK);
  g_assert_cmpuint(self->catalog->n_graph_tasks, >=, 6);
}

static void
tear_down(fixture *self, gconstpointer data) {
  td_catalog_free(self->catalog);
  td_tape_close(self->tape);
  g_unlink(self->path);
  g_free(self->path);
}

static uint32_t
pass_of(const fixture *self, uint32_t i) {
  return self->catalog->graph_task_rows[i].id;
}

static double
sum_of(const td_overlay *overlay) {
  double sum = 0;
  for (uint32_t i = 0; i < overlay->n_values; i++) {
    const td_overlay_value *value = &overlay->values[i];
    g_assert_true(value->heat >= 0 && value->heat <= 1);
    g_assert_true(td_overlay_find(overlay, value->node) == value);
    sum += value->value;
  }
  return sum;
}

static void
test_time(fixture *self, gconstpointer data) {
  for (uint32_t i = 0; i < self->catalog->n_graph_tasks; i++) {
    td_report_wish wish = {.by = TD_REPORT_BY_node, .graph_task = pass_of(self, i)};
    td_report report;
    td_overlay overlay;
    uint64_t total = 0;
    g_assert_cmpint(td_report_make(self->tape, &wish, &report, NULL), ==, TD_OK);
    g_assert_cmpint(td_overlay_make(self->tape, self->catalog, pass_of(self, i), TD_OVERLAY_time,
                                    &overlay, NULL),
                    ==, TD_OK);
    for (uint32_t k = 0; k < report.n_rows; k++)
      total += report.rows[k].total;
    g_assert_cmpuint(overlay.n_values, >, 10);
    g_assert_cmpuint(overlay.n_values, ==, report.n_rows);
    g_assert_cmpfloat_with_epsilon(sum_of(&overlay), (double)total, 0.5);
    td_overlay_fini(&overlay);
    td_report_fini(&report);
  }
}

/* The path of a report goes through all passes that overlap; those of this tape do not. */
static void
test_path(fixture *self, gconstpointer data) {
  for (uint32_t i = 0; i < self->catalog->n_graph_tasks; i++) {
    td_critical_report report;
    td_overlay path, slack;
    uint32_t n_steps = 0;
    g_assert_cmpint(td_critical_report_make(self->tape, pass_of(self, i), &report, NULL), ==,
                    TD_OK);
    g_assert_cmpint(td_overlay_make(self->tape, self->catalog, pass_of(self, i),
                                    TD_OVERLAY_critical, &path, NULL),
                    ==, TD_OK);
    g_assert_cmpint(td_overlay_make(self->tape, self->catalog, pass_of(self, i), TD_OVERLAY_slack,
                                    &slack, NULL),
                    ==, TD_OK);
    g_assert_cmpuint(report.n_passes, ==, 1);
    g_assert_cmpfloat_with_epsilon(sum_of(&path), (double)report.length, 0.5);
    for (uint32_t k = 0; k < path.n_values; k++)
      n_steps += path.values[k].step > 0;
    g_assert_cmpuint(n_steps, ==, report.n_steps);
    g_assert_cmpuint(slack.n_values, ==, report.n_tasks);
    for (uint32_t k = 0; k < report.n_tasks; k++)
      g_assert_cmpfloat(td_overlay_find(&slack, report.slacks[k].node)->value, ==,
                        (double)report.slacks[k].ns);
    td_overlay_fini(&path);
    td_overlay_fini(&slack);
    td_critical_report_fini(&report);
  }
}

/* A part of a cut tape says the same of a pass that lies in it. */
static void
test_segments(fixture *self, gconstpointer data) {
  td_tape *cut;
  uint32_t n_compared = 0;
  g_assert_cmpint(td_segments_add(self->path, 500, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(self->path, &cut, NULL), ==, TD_OK);
  g_assert_cmpuint(td_tape_n_segments(cut), >, 1);
  for (uint32_t i = 0; i < self->catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &self->catalog->graph_task_rows[i];
    td_segment segment = td_tape_segment_at(cut, pass->begin_seq);
    td_catalog *part;
    if (pass->end_seq >= segment.end) continue;
    g_assert_cmpint(td_catalog_collect(cut, &segment, &part, NULL), ==, TD_OK);
    for (int kind = 0; kind < TD_N_OVERLAYS; kind++) {
      td_overlay a, b;
      if (kind == TD_OVERLAY_norm) continue;
      g_assert_cmpint(td_overlay_make(self->tape, self->catalog, pass->id, kind, &a, NULL), ==,
                      TD_OK);
      g_assert_cmpint(td_overlay_make(cut, part, pass->id, kind, &b, NULL), ==, TD_OK);
      g_assert_cmpfloat_with_epsilon(sum_of(&a), sum_of(&b), 0.5);
      n_compared += a.n_values > 0;
      td_overlay_fini(&a);
      td_overlay_fini(&b);
    }
    td_catalog_free(part);
  }
  g_assert_cmpuint(n_compared, >, 4);
  td_tape_close(cut);
}

static void
test_refusals(fixture *self, gconstpointer data) {
  td_overlay overlay;
  td_error error = {0};
  g_assert_cmpint(
      td_overlay_make(self->tape, self->catalog, 4000000, TD_OVERLAY_time, &overlay, &error), ==,
      TD_OUT_OF_RANGE);
  td_error_clear(&error);
  g_assert_cmpint(td_overlay_make(self->tape, self->catalog, pass_of(self, 0), TD_OVERLAY_norm,
                                  &overlay, &error),
                  ==, TD_UNSUPPORTED);
  g_assert_nonnull(strstr(error.message, "--stats"));
  td_error_clear(&error);
  td_overlay_fini(&overlay);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/profile/overlay/time", fixture, NULL, set_up, test_time, tear_down);
  g_test_add("/profile/overlay/path", fixture, NULL, set_up, test_path, tear_down);
  g_test_add("/profile/overlay/segments", fixture, NULL, set_up, test_segments, tear_down);
  g_test_add("/profile/overlay/refusals", fixture, NULL, set_up, test_refusals, tear_down);
  return g_test_run();
}
