/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/critical_report.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/profile/model/model_visit.h"
#include "engine/profile/report/report_keys.h"
#include "engine/replay/catalog_collect.h"

#include <string.h>

typedef struct telling {
  uint32_t wished;     /* graph task, or TD_NONE */
  bool reaches_back;   /* what the report tells of began before the segment that names it */
  td_catalog *of_tape; /* (owned) or NULL: it names nodes of segments before */
  td_critical_report *report;
} telling;

/* ---- parts ---- */

static void
wait_fini(td_critical_wait *wait) {
  free(wait->name);
  free(wait->holder);
  free(wait->node);
  free(wait->line);
}

static void
part_fini(td_critical_part *part) {
  wait_fini(&part->lock_wait);
  wait_fini(&part->stream_wait);
  free(part->thread);
  free(part->stream);
  free(part->what);
}

static td_critical_wait
wait_of(const td_catalog *catalog, const td_pass_model *model, const td_critical_step *step) {
  const td_model_wait *wait = &model->waits[step->wait];
  bool is_lock = wait->kind == TD_MODEL_WAIT_lock;
  td_critical_wait told = {
      .n = 1,
      .name = is_lock ? td_report_lock_name(catalog, wait->lock, wait->object)
                      : td_report_stream_name(catalog, wait->stream.device, wait->stream.number),
      .ns = wait->ns,
      .inside = step->wait_ns};
  if (wait->holder != TD_NONE) told.holder = td_report_thread_name(catalog, wait->holder);
  uint32_t task = wait->from == TD_NONE ? TD_NONE : model->pieces[wait->from].task;
  if (task == TD_NONE) return told;
  told.node = td_report_node_name(catalog, model->tasks[task].node);
  told.line = td_report_user_line(catalog, model->tasks[task].node);
  return told;
}

static char *
key_of(const td_catalog *catalog, td_report_by by, const td_model_task *task) {
  const td_life life = {.node = task->node, .thread = task->thread};
  return td_report_life_key(by, catalog, &life, TD_NONE);
}

/* The module of a step, or its function if the tape has no modules. */
static td_critical_part
part_of(const td_catalog *catalog, const td_pass_model *model, const td_critical_step *step) {
  td_report_by by = catalog->has_modules ? TD_REPORT_BY_module : TD_REPORT_BY_op;
  const td_model_task *task = &model->tasks[step->task];
  td_critical_part part = {.ns = step->ns,
                           .n_steps = !step->is_same_task,
                           .link = step->link,
                           .thread = key_of(catalog, TD_REPORT_BY_thread, task),
                           .what = key_of(catalog, by, task),
                           .what_ns = step->ns,
                           .first = task->node,
                           .last = task->node};
  if (step->stream.device >= 0)
    part.stream = td_report_stream_name(catalog, step->stream.device, step->stream.number);
  if (step->wait == TD_NONE) return part;
  bool is_lock = model->waits[step->wait].kind == TD_MODEL_WAIT_lock;
  *(is_lock ? &part.lock_wait : &part.stream_wait) = wait_of(catalog, model, step);
  return part;
}

static void
merge_waits(td_critical_wait *wait, td_critical_wait *next) {
  uint32_t n = wait->n + next->n;
  if (!wait->n || next->ns > wait->ns) {
    td_critical_wait shorter = *wait;
    *wait = *next;
    *next = shorter;
  }
  wait->n = n;
}

/* Adds a part (taken) to the one before it. The longer one gives the name. */
static void
merge(td_critical_part *part, td_critical_part *next) {
  bool is_same = strcmp(part->what, next->what) == 0;
  if (is_same) {
    part->what_ns += next->what_ns;
  } else if (next->what_ns > part->what_ns) {
    char *what = part->what;
    part->what = next->what;
    part->what_ns = next->what_ns;
    next->what = what;
  }
  part->ns += next->ns;
  part->n_steps += next->n_steps;
  part->last = next->last;
  merge_waits(&part->lock_wait, &next->lock_wait);
  merge_waits(&part->stream_wait, &next->stream_wait);
  part_fini(next);
}

/* Kernels of one stream are at one place, whoever launched them. */
static bool
is_one_place(const td_critical_part *part, const td_critical_part *next) {
  if (part->stream || next->stream)
    return part->stream && next->stream && strcmp(part->stream, next->stream) == 0;
  return strcmp(part->thread, next->thread) == 0;
}

static bool
belongs(const td_critical_part *part, const td_critical_part *next) {
  return !next->lock_wait.n && !next->stream_wait.n && is_one_place(part, next) &&
         strcmp(part->what, next->what) == 0;
}

/* Two neighbours at one place whose sum is least, or if there are none, any two. */
static uint32_t
find_least(const td_critical_part *parts, uint32_t n) {
  uint32_t best = TD_NONE;
  for (int any = 0; any < 2 && best == TD_NONE; any++)
    for (uint32_t i = 0; i + 1 < n; i++) {
      if (!any && !is_one_place(&parts[i], &parts[i + 1])) continue;
      uint64_t sum = parts[i].ns + parts[i + 1].ns;
      if (best == TD_NONE || sum < parts[best].ns + parts[best + 1].ns) best = i;
    }
  return best;
}

static void
make_room(td_critical_report *report) {
  uint32_t at = find_least(report->parts, report->n_parts);
  merge(&report->parts[at], &report->parts[at + 1]);
  memmove(&report->parts[at + 1], &report->parts[at + 2],
          (report->n_parts - at - 2) * sizeof *report->parts);
  report->n_parts--;
}

static void
add_part(td_critical_report *report, td_critical_part part) {
  td_critical_part *last = report->n_parts ? &report->parts[report->n_parts - 1] : NULL;
  if (last && belongs(last, &part)) return merge(last, &part);
  if (report->n_parts == TD_CRITICAL_PARTS_MAX) make_room(report);
  report->parts[report->n_parts++] = part;
}

/* ---- the pass ---- */

static const td_model_pass *
longest_of(const td_pass_model *model) {
  const td_model_pass *longest = &model->passes[0];
  for (uint32_t i = 1; i < model->n_passes; i++)
    if (model->passes[i].end_ns - model->passes[i].begin_ns > longest->end_ns - longest->begin_ns)
      longest = &model->passes[i];
  return longest;
}

static bool
has_pass(const td_pass_model *model, uint32_t graph_task) {
  for (uint32_t i = 0; i < model->n_passes; i++)
    if (model->passes[i].graph_task == graph_task) return true;
  return false;
}

static void
add_slacks(td_critical_report *report, const td_pass_model *model, const td_critical *critical,
           const td_catalog *catalog) {
  report->slacks = TD_NEW_N(td_critical_slack, TD_MAX(model->n_tasks, 1u));
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    const td_model_task *task = &model->tasks[i];
    report->slacks[i] = (td_critical_slack){task->node, critical->slack_ns[i],
                                            key_of(catalog, TD_REPORT_BY_node, task)};
    report->work += task->total_ns - TD_MIN(task->total_ns, task->waited_ns);
  }
  report->n_tasks = model->n_tasks;
}

static uint32_t
count_workers(const td_pass_model *model) {
  td_number_map threads = {0};
  for (uint32_t i = 0; i < model->n_tasks; i++)
    td_number_map_put(&threads, model->tasks[i].thread);
  uint32_t n = threads.n;
  td_number_map_fini(&threads);
  return n;
}

/* Passes that overlap may go on through several segments. */
static bool
reaches_back(const td_pass_model *model, const td_catalog *catalog) {
  const td_catalog_graph_task *first =
      td_catalog_graph_task_find(catalog, model->passes[0].graph_task);
  return !first || first->begin_seq < catalog->segment.first;
}

/* Whether the passes of the model are to be told of, instead of those that the report has. */
static bool
is_wished(const telling *self, const td_pass_model *model, bool is_first, uint64_t wall) {
  const td_critical_report *report = self->report;
  if (self->wished != TD_NONE) return has_pass(model, self->wished);
  return !report->n_passes || report->is_first || (!is_first && wall > report->wall);
}

static td_status
tell(const td_pass_model *model, const td_catalog *of_segment, void *data) {
  telling *self = data;
  const td_catalog *catalog = self->of_tape ? self->of_tape : of_segment;
  td_critical_report *report = self->report;
  td_critical critical;
  const td_model_pass *pass = longest_of(model);
  uint64_t wall = pass->end_ns - pass->begin_ns;
  bool first = td_model_warms_up(model, catalog);
  if (!is_wished(self, model, first, wall)) return TD_OK;
  bool left_out_first = self->wished == TD_NONE && (report->is_first || report->left_out_first);
  td_status status = td_critical_make(model, &critical);
  if (status) return status;
  self->reaches_back = reaches_back(model, catalog);
  td_critical_report_fini(report);
  *report = (td_critical_report){.graph_task = pass->graph_task,
                                 .n_passes = model->n_passes,
                                 .is_first = first,
                                 .left_out_first = left_out_first,
                                 .wall = wall,
                                 .lead = pass->lead_ns,
                                 .tail = pass->tail_ns,
                                 .length = critical.length_ns,
                                 .n_steps = critical.n_nodes};
  for (uint32_t i = 0; i < critical.n_steps; i++) {
    const td_critical_step *step = &critical.steps[i];
    add_part(report, part_of(catalog, model, step));
  }
  add_slacks(report, model, &critical, catalog);
  report->n_workers = count_workers(model);
  td_critical_fini(&critical);
  return TD_OK;
}

/* Goes through the tape a second time, if nodes of several segments are to be named. */
static td_status
find_and_tell(telling *self, td_tape *tape, td_error *error) {
  uint32_t n_left_out;
  td_status status = td_model_visit(tape, tell, self, &n_left_out, error);
  if (status || !self->reaches_back) return status;
  status = td_catalog_collect_whole(tape, &self->of_tape, error);
  td_critical_report_fini(self->report);
  if (!status) status = td_model_visit(tape, tell, self, &n_left_out, error);
  td_catalog_free(self->of_tape);
  return status;
}

td_status
td_critical_report_make(td_tape *tape, uint32_t graph_task, td_critical_report *report,
                        td_error *error) {
  telling self = {.wished = graph_task, .report = report};
  *report = (td_critical_report){0};
  td_status status = find_and_tell(&self, tape, error);
  if (status || report->n_passes) return status;
  if (graph_task == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "no backward pass of this tape ended well");
  return td_error_set(error, TD_OUT_OF_RANGE, "there is no outermost pass %u that ended well",
                      graph_task);
}

void
td_critical_report_fini(td_critical_report *report) {
  for (uint32_t i = 0; i < report->n_parts; i++)
    part_fini(&report->parts[i]);
  for (uint32_t i = 0; i < report->n_tasks; i++)
    free(report->slacks[i].name);
  free(report->slacks);
  *report = (td_critical_report){0};
}
