/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/diff.h"

#include "engine/base/alloc.h"
#include "engine/profile/diff/align_streams.h"

/* Two passes that are paired, or one without a partner: the place of the other is TD_NONE. */
typedef struct job {
  uint32_t task_a, task_b;
  uint32_t window_a, window_b; /* to be taken in this order */
} job;

typedef struct diffing {
  td_diff_side a, b;
  uint32_t *partners_a, *partners_b; /* (owned) by place of the pass: that on the other tape */
  job *jobs;                         /* (owned) */
  uint32_t n_jobs;
  job first;                /* of those that differ, the one that comes first on A */
  const td_diff_wish *wish; /* (borrowed) */
  td_diff *diff;
} diffing;

/* ---- pairs of passes ---- */

static void
pair_cb(uint32_t task_a, uint32_t task_b, void *data) {
  diffing *self = data;
  self->partners_a[task_a] = task_b;
  self->partners_b[task_b] = task_a;
  self->diff->n_pairs++;
}

static uint32_t *
nobody(uint32_t n) {
  uint32_t *partners = td_try_alloc(n, sizeof *partners);
  for (uint32_t i = 0; partners && i < n; i++)
    partners[i] = TD_NONE;
  return partners;
}

static bool
list_lone_tasks(const td_diff_tasks *tasks, const uint32_t *partners, td_diff_tape *tape) {
  tape->n_tasks = tasks->n;
  tape->lone_tasks = td_try_alloc(tasks->n, sizeof *tape->lone_tasks);
  for (uint32_t i = 0; tape->lone_tasks && i < tasks->n; i++)
    if (partners[i] == TD_NONE) tape->lone_tasks[tape->n_lone_tasks++] = tasks->items[i].graph_task;
  return tape->lone_tasks != NULL;
}

/* What B alone has is looked at after what it has before. */
static void
list_jobs(diffing *self) {
  const td_diff_tasks *a = &self->a.tasks, *b = &self->b.tasks;
  uint32_t window_a = 0;
  for (uint32_t i = 0; i < a->n; i++)
    if (self->partners_a[i] == TD_NONE)
      self->jobs[self->n_jobs++] = (job){
          .task_a = i, .task_b = TD_NONE, .window_a = td_diff_side_window(&self->a, &a->items[i])};
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t partner = self->partners_b[i];
    if (partner != TD_NONE) window_a = td_diff_side_window(&self->a, &a->items[partner]);
    self->jobs[self->n_jobs++] =
        (job){partner, i, window_a, td_diff_side_window(&self->b, &b->items[i])};
  }
}

static int
compare_jobs(const void *a, const void *b) {
  const job *left = a, *right = b;
  if (left->window_a != right->window_a) return left->window_a < right->window_a ? -1 : 1;
  if (left->window_b != right->window_b) return left->window_b < right->window_b ? -1 : 1;
  if (left->task_a != right->task_a) return left->task_a < right->task_a ? -1 : 1;
  return (left->task_b > right->task_b) - (left->task_b < right->task_b);
}

static td_status
pair_passes(diffing *self, td_error *error) {
  const td_diff_tasks *a = &self->a.tasks, *b = &self->b.tasks;
  td_diff *diff = self->diff;
  self->partners_a = nobody(a->n);
  self->partners_b = nobody(b->n);
  self->jobs = td_try_alloc((size_t)a->n + b->n, sizeof *self->jobs);
  bool allocated = self->partners_a && self->partners_b && self->jobs;
  allocated = allocated && td_align_streams_pair(a, b, pair_cb, self) == TD_OK &&
              list_lone_tasks(a, self->partners_a, &diff->a) &&
              list_lone_tasks(b, self->partners_b, &diff->b);
  if (!allocated) return td_error_set(error, TD_OUT_OF_MEMORY, "no memory to pair the passes");
  list_jobs(self);
  qsort(self->jobs, self->n_jobs, sizeof *self->jobs, compare_jobs);
  diff->equal_order = diff->n_pairs == a->n && diff->n_pairs == b->n;
  return TD_OK;
}

static td_status
find_pass(const td_diff_side *side, uint32_t graph_task, uint32_t *place, td_error *error) {
  const td_diff_tasks *tasks = &side->tasks;
  for (*place = 0; *place < tasks->n; ++*place)
    if (tasks->items[*place].graph_task == graph_task) return TD_OK;
  return td_error_set(error, TD_OUT_OF_RANGE, "%s: no node ran in graph task %u",
                      td_tape_path(side->tape), graph_task);
}

static td_status
pair_two(diffing *self, td_error *error) {
  job *job = self->jobs = td_alloc(1, sizeof *job);
  td_status status = find_pass(&self->a, self->wish->task_a, &job->task_a, error);
  if (!status) status = find_pass(&self->b, self->wish->task_b, &job->task_b, error);
  if (status) return status;
  self->n_jobs = self->diff->n_pairs = self->diff->a.n_tasks = self->diff->b.n_tasks = 1;
  self->diff->equal_order = true;
  return TD_OK;
}

/* ---- pairs of nodes ---- */

static void
list_lone_nodes(const td_visits *visits, const td_visit_task *task, const uint32_t *partners,
                td_diff_tape *tape) {
  tape->n_nodes += task->n;
  for (uint32_t i = 0; i < task->n; i++) {
    if (partners && partners[task->first + i] != TD_NONE) continue;
    td_visited_node node = td_visits_node(visits, task->first + i);
    td_top_list_add(&tape->lone_nodes, &node);
  }
}

static td_status
list_lone_pass(td_diff_side *side, uint32_t place, td_diff_tape *tape, td_error *error) {
  const td_diff_task *task = &side->tasks.items[place];
  td_status status = td_diff_side_load(side, task, error);
  if (status) return status;
  td_visit_task visits = td_visits_task(&side->visits, task->graph_task);
  list_lone_nodes(&side->visits, &visits, NULL, tape);
  return TD_OK;
}

static td_status
align(diffing *self, const job *job, td_align *align, td_error *error) {
  const td_diff_task *a = &self->a.tasks.items[job->task_a], *b = &self->b.tasks.items[job->task_b];
  td_status status = td_diff_side_load(&self->a, a, error);
  if (!status) status = td_diff_side_load(&self->b, b, error);
  if (status) return status;
  status = td_align_passes(&self->a, a->graph_task, &self->b, b->graph_task, align);
  return status ? td_error_set(error, status, "no memory to align the tapes") : TD_OK;
}

static void
add_up(td_diff *diff, const td_align *align) {
  diff->n_equal_pairs += align->equal;
  diff->n_paired += align->n_paired;
  diff->n_moved += align->n_moved;
  diff->n_reshaped += align->n_reshaped;
  list_lone_nodes(align->a, &align->task_a, align->partners_a, &diff->a);
  list_lone_nodes(align->b, &align->task_b, align->partners_b, &diff->b);
  td_comparison_add(&diff->comparison, align);
}

static td_status
compare_passes(diffing *self, const job *job, td_error *error) {
  td_align found;
  td_status status = align(self, job, &found, error);
  if (status) return status;
  add_up(self->diff, &found);
  if (self->wish->aligned && !self->wish->aligned(&found, self->wish->data))
    return td_error_set(error, TD_INVALID, "cancelled");
  if (found.equal) return TD_OK;
  if (!self->diff->diverges || job->task_a < self->first.task_a) self->first = *job;
  self->diff->diverges = true;
  self->diff->equal_order = false;
  return TD_OK;
}

static td_status
take_jobs(diffing *self, td_error *error) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < self->n_jobs && !status; i++) {
    const job *job = &self->jobs[i];
    if (job->task_b == TD_NONE)
      status = list_lone_pass(&self->a, job->task_a, &self->diff->a, error);
    else if (job->task_a == TD_NONE)
      status = list_lone_pass(&self->b, job->task_b, &self->diff->b, error);
    else
      status = compare_passes(self, job, error);
  }
  return status;
}

static td_status
explain(diffing *self, td_error *error) {
  td_align found;
  if (!self->diff->diverges) return TD_OK;
  td_status status = align(self, &self->first, &found, error);
  return status ? status
                : td_divergence_explain(&found, td_tape_path(self->a.tape),
                                        td_tape_path(self->b.tape), &self->diff->divergence, error);
}

/* ---- all of it ---- */

static int
compare_nodes(const void *a, const void *b) {
  return td_visited_compare(a, b);
}

static td_diff_tape
begin_tape(const td_diff_side *side, uint32_t n_nodes) {
  return (td_diff_tape){.engine = side->visits.catalog->engine,
                        .version = side->visits.catalog->version,
                        .source = side->visits.catalog->source,
                        .lone_nodes = {sizeof(td_visited_node), n_nodes, compare_nodes}};
}

static td_status
open_sides(diffing *self, td_tape *a, td_tape *b, const td_diff_wish *wish, td_error *error) {
  td_status status = td_diff_side_open(&self->a, a, error);
  if (!status) status = td_diff_side_open(&self->b, b, error);
  if (status) return status;
  self->diff->a = begin_tape(&self->a, wish->n_nodes);
  self->diff->b = begin_tape(&self->b, wish->n_nodes);
  td_comparison_begin(&self->diff->comparison, wish->tolerance, wish->n_values, wish->n_durations);
  bool hashed = !wish->one_pair && td_align_streams_need_hashes(&self->a.tasks, &self->b.tasks);
  if (hashed) status = td_diff_side_hash(&self->a, error);
  if (hashed && !status) status = td_diff_side_hash(&self->b, error);
  return status;
}

static void
finish(td_diff *diff) {
  td_top_list_sort(&diff->a.lone_nodes);
  td_top_list_sort(&diff->b.lone_nodes);
  td_comparison_end(&diff->comparison);
}

td_status
td_diff_make(td_tape *a, td_tape *b, const td_diff_wish *wish, td_diff *diff, td_error *error) {
  *diff = (td_diff){0};
  diffing self = {.wish = wish, .diff = diff};
  td_status status = open_sides(&self, a, b, wish, error);
  if (!status) status = wish->one_pair ? pair_two(&self, error) : pair_passes(&self, error);
  if (!status) status = take_jobs(&self, error);
  if (!status) status = explain(&self, error);
  td_diff_side_fini(&self.a);
  td_diff_side_fini(&self.b);
  free(self.partners_a);
  free(self.partners_b);
  free(self.jobs);
  if (status)
    td_diff_fini(diff);
  else
    finish(diff);
  return status;
}

static void
tape_fini(td_diff_tape *tape) {
  free(tape->lone_tasks);
  td_top_list_fini(&tape->lone_nodes);
}

void
td_diff_fini(td_diff *diff) {
  tape_fini(&diff->a);
  tape_fini(&diff->b);
  td_divergence_fini(&diff->divergence);
  td_comparison_fini(&diff->comparison);
  *diff = (td_diff){0};
}
