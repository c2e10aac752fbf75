/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/critical.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/number_map.h"

/* What a piece waited for: the longest way to it. */
typedef struct reach {
  uint64_t early_ns, late_ns; /* the longest way to its begin, and from its begin to the end */
  uint32_t before;            /* the piece on that way, or TD_NONE */
  td_critical_link link;
  uint32_t wait; /* on that way */
  uint32_t next_on_thread;
  bool leads; /* to the end, which is work of a thread */
} reach;

/* A piece can begin so long after the path began. The first of equal ways counts. */
static void
lead_to(reach *to, uint32_t from, uint64_t ns, td_critical_link link, uint32_t wait) {
  if (to->before != TD_NONE && ns <= to->early_ns) return;
  to->early_ns = ns;
  to->before = from;
  to->link = link;
  to->wait = wait;
}

static bool
is_of_thread(const td_pass_model *model, uint32_t piece) {
  return td_model_is_of_thread(&model->pieces[piece]);
}

static const td_model_task *
task_of(const td_pass_model *model, uint32_t piece) {
  return &model->tasks[model->pieces[piece].task];
}

static void
find_threads(const td_pass_model *model, reach *reaches) {
  td_number_map last = {0}; /* by thread: 1 + its last piece */
  for (uint32_t i = 0; i < model->n_pieces; i++) {
    bool leads = is_of_thread(model, i);
    reaches[i] =
        (reach){.before = TD_NONE, .wait = TD_NONE, .next_on_thread = TD_NONE, .leads = leads};
    if (!leads) continue;
    uint64_t *before = td_number_map_put(&last, task_of(model, i)->thread);
    if (*before) reaches[*before - 1].next_on_thread = i;
    *before = i + UINT64_C(1);
  }
  td_number_map_fini(&last);
}

/* ---- ways from a piece ---- */

/* Deliveries of a task lie in the order of its pieces: those of one piece. Kernels have none. */
static void
find_deliveries(const td_pass_model *model, uint32_t piece, uint32_t *first, uint32_t *end) {
  *first = *end = 0;
  if (!is_of_thread(model, piece)) return;
  const td_model_task *task = task_of(model, piece);
  TD_BISECT(*first, task->first, task->first + task->n, model->deliveries[*first].piece < piece);
  *end = *first;
  while (*end < task->first + task->n && model->deliveries[*end].piece == piece)
    (*end)++;
}

/* Where a gradient of a piece leads to: the first piece of a later task, or TD_NONE. */
static uint32_t
target_of(const td_pass_model *model, uint32_t piece, const td_model_delivery *one) {
  uint32_t to = model->tasks[one->to].piece;
  return to > piece ? to : TD_NONE;
}

static uint64_t
offset_of(const td_model_piece *piece, const td_model_delivery *one) {
  return one->offset_ns - TD_MIN(one->offset_ns, piece->offset_ns);
}

/* The wait that is a piece itself, or TD_NONE. */
static uint32_t
wait_of(const td_pass_model *model, const td_model_piece *piece) {
  bool is_wait = piece->n_waits == 1 && model->waits[piece->first_wait].from == TD_NONE;
  return is_wait ? piece->first_wait : TD_NONE;
}

/* ---- all ways ---- */

static td_critical_link
link_of(const td_model_wait *wait) {
  static const td_critical_link links[] = {[TD_MODEL_WAIT_lock] = TD_CRITICAL_lock,
                                           [TD_MODEL_WAIT_launch] = TD_CRITICAL_launch,
                                           [TD_MODEL_WAIT_stream] = TD_CRITICAL_stream};
  return links[wait->kind];
}

static void
come_from_waits(const td_pass_model *model, reach *reaches, uint32_t i) {
  const td_model_piece *piece = &model->pieces[i];
  for (uint32_t k = piece->first_wait; k < piece->first_wait + piece->n_waits; k++) {
    const td_model_wait *wait = &model->waits[k];
    if (wait->from < i)
      lead_to(&reaches[i], wait->from, reaches[wait->from].early_ns + wait->offset_ns,
              link_of(wait), td_model_is_of_thread(piece) ? k : TD_NONE);
  }
}

/* Pieces lie in the order of their begins, so all ways to a piece are known when its turn comes. */
static void
go_forward(const td_pass_model *model, reach *reaches) {
  for (uint32_t i = 0; i < model->n_pieces; i++) {
    const td_model_piece *piece = &model->pieces[i];
    uint32_t first, end;
    find_deliveries(model, i, &first, &end);
    come_from_waits(model, reaches, i);
    uint64_t begin = reaches[i].early_ns;
    for (uint32_t k = first; k < end; k++) {
      const td_model_delivery *one = &model->deliveries[k];
      uint32_t to = target_of(model, i, one);
      if (to != TD_NONE)
        lead_to(&reaches[to], i, begin + offset_of(piece, one), TD_CRITICAL_gradient, TD_NONE);
    }
    uint32_t next = reaches[i].next_on_thread;
    if (next == TD_NONE) continue;
    uint32_t wait = wait_of(model, &model->pieces[next]);
    lead_to(&reaches[next], i, begin + piece->length_ns,
            wait == TD_NONE ? TD_CRITICAL_thread : link_of(&model->waits[wait]), wait);
  }
}

/* The longest way from a piece of a thread by its gradients, or by its thread alone. */
static uint64_t
way_on(const td_pass_model *model, const reach *reaches, uint32_t i) {
  const td_model_piece *piece = &model->pieces[i];
  uint32_t first, end, next = reaches[i].next_on_thread;
  find_deliveries(model, i, &first, &end);
  uint64_t longest = piece->length_ns + (next == TD_NONE ? 0 : reaches[next].late_ns);
  for (uint32_t k = first; k < end; k++) {
    const td_model_delivery *one = &model->deliveries[k];
    uint32_t to = target_of(model, i, one);
    if (to != TD_NONE) longest = TD_MAX(longest, offset_of(piece, one) + reaches[to].late_ns);
  }
  return longest;
}

/* What leads from a piece to those that waited for it is entered when their turn comes. */
static void
go_back(const td_pass_model *model, reach *reaches) {
  for (uint32_t i = model->n_pieces; i-- > 0;) {
    const td_model_piece *piece = &model->pieces[i];
    reach *own = &reaches[i];
    if (td_model_is_of_thread(piece))
      own->late_ns = TD_MAX(own->late_ns, way_on(model, reaches, i));
    for (uint32_t k = piece->first_wait; own->leads && k < piece->first_wait + piece->n_waits;
         k++) {
      const td_model_wait *wait = &model->waits[k];
      if (wait->from >= i) continue;
      reach *from = &reaches[wait->from];
      from->leads = true;
      from->late_ns = TD_MAX(from->late_ns, wait->offset_ns + own->late_ns);
    }
  }
}

static uint32_t
find_last(const td_pass_model *model, const reach *reaches, uint64_t *length) {
  uint32_t last = TD_NONE;
  for (uint32_t i = 0; i < model->n_pieces; i++) {
    uint64_t end = reaches[i].early_ns + model->pieces[i].length_ns;
    if (!is_of_thread(model, i) || (last != TD_NONE && end <= *length)) continue;
    *length = end;
    last = i;
  }
  return last;
}

/* ---- the steps ---- */

/* A task that goes on takes no new step, unless it waited. Nor do its kernels that follow one
 * another, and no time passes in a join. */
static bool
goes_on(const td_pass_model *model, const reach *reaches, uint32_t piece) {
  const reach *reach = &reaches[piece];
  if (reach->before == TD_NONE) return false;
  const td_model_piece *now = &model->pieces[piece], *before = &model->pieces[reach->before];
  if (now->task == TD_NONE) return true;
  return now->task == before->task && now->stream.device == before->stream.device &&
         now->stream.number == before->stream.number &&
         (reach->link == TD_CRITICAL_thread || !td_model_is_of_thread(now));
}

/* From the end to the begin: the pieces of a step come one after another. */
static void
list_steps(const td_pass_model *model, const reach *reaches, uint32_t last, td_critical *critical) {
  for (uint32_t i = last; i != TD_NONE; i = reaches[i].before)
    critical->n_steps += !goes_on(model, reaches, i);
  critical->steps = TD_NEW_N(td_critical_step, TD_MAX(critical->n_steps, 1u));
  uint64_t end = critical->length_ns, ns = 0;
  uint32_t at = critical->n_steps;
  for (uint32_t i = last; i != TD_NONE; i = reaches[i].before) {
    const reach *reach = &reaches[i];
    ns += end - reach->early_ns;
    end = reach->early_ns;
    if (goes_on(model, reaches, i)) continue;
    bool is_wait = wait_of(model, &model->pieces[i]) != TD_NONE;
    critical->steps[--at] =
        (td_critical_step){.task = model->pieces[i].task,
                           .stream = model->pieces[i].stream,
                           .link = reach->before == TD_NONE ? TD_CRITICAL_begin : reach->link,
                           .wait = reach->wait,
                           .ns = ns,
                           .wait_ns = is_wait ? model->pieces[i].length_ns : 0};
    ns = 0;
  }
}

/* A task has as little slack as its piece or kernel that has least. */
static void
find_slacks(const td_pass_model *model, const reach *reaches, td_critical *critical) {
  for (uint32_t i = 0; i < model->n_tasks; i++)
    critical->slack_ns[i] = critical->length_ns;
  for (uint32_t i = 0; i < model->n_pieces; i++) {
    if (!reaches[i].leads || model->pieces[i].task == TD_NONE) continue;
    uint64_t *slack = &critical->slack_ns[model->pieces[i].task];
    uint64_t through = reaches[i].early_ns + reaches[i].late_ns;
    *slack = TD_MIN(*slack, critical->length_ns - TD_MIN(critical->length_ns, through));
  }
}

static void
count_nodes(td_critical *critical) {
  for (uint32_t i = 0; i < critical->n_steps; i++) {
    td_critical_step *step = &critical->steps[i];
    step->is_same_task = i > 0 && step->task == step[-1].task;
    critical->n_nodes += !step->is_same_task;
  }
}

td_status
td_critical_make(const td_pass_model *model, td_critical *critical) {
  *critical = (td_critical){.slack_ns = td_try_alloc(model->n_tasks, sizeof *critical->slack_ns)};
  reach *reaches = td_try_alloc(model->n_pieces, sizeof *reaches);
  if (!reaches || !critical->slack_ns) {
    free(reaches);
    td_critical_fini(critical);
    return TD_OUT_OF_MEMORY;
  }
  find_threads(model, reaches);
  go_forward(model, reaches);
  go_back(model, reaches);
  list_steps(model, reaches, find_last(model, reaches, &critical->length_ns), critical);
  count_nodes(critical);
  find_slacks(model, reaches, critical);
  free(reaches);
  return TD_OK;
}

void
td_critical_fini(td_critical *critical) {
  free(critical->steps);
  free(critical->slack_ns);
  *critical = (td_critical){0};
}
