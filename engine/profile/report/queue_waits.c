/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/queue_waits.h"

#include "engine/base/alloc.h"
#include "engine/events/event_type.h"

#include <string.h>

/* Of more passes that are under way at once, the first ones are watched. Else a tape of very many
 * of them would cost the square of their number. Of the others, own_pass and other_pass are not
 * known. */
#define WATCHED_MAX 64u

/* A pass that has tasks in a queue. */
typedef struct stake {
  uint32_t pass, n_tasks;
  uint64_t run_ns; /* for which the queue's thread ran nodes of it, since it has tasks there */
} stake;

typedef struct td_queue_wait {
  uint32_t n_tasks;      /* also those without a node */
  uint32_t server;       /* 1 + the thread that popped last, or that will pop; or 0 */
  bool has_popped;       /* so the server is sure */
  bool is_told;          /* process and device are known */
  uint32_t place;        /* 1 + where it is in the server's queues, or 0 */
  uint32_t filled_place; /* 1 + where it is in `filled`, or 0 */
  uint32_t process;      /* of the thread that told of the queue */
  int32_t device;
  uint64_t since;               /* of the clock: counted up to then */
  uint64_t ns[TD_N_LAY_CAUSES]; /* while it had tasks; own_pass: nodes ran, of whatever pass */
  td_lay lay;                   /* what counts of it */
  td_range_time filled_since;   /* of the clock: it has had tasks */
  stake *stakes;                /* (owned) */
  uint32_t n_stakes, stakes_capacity;
} td_queue_wait;

/* A node that ran. */
typedef struct stretch {
  uint32_t node, pass;
  uint64_t end, ns; /* of the clock */
} stretch;

/* A thread that takes tasks. */
typedef struct td_server {
  uint32_t *queues; /* (owned) with tasks that it will pop, as far as anybody knows */
  uint32_t n_queues, queues_capacity;
  uint32_t process;
  td_lay_cause now;
  td_range_time now_since; /* of the clock: nodes of one pass may follow one another */
  uint64_t turn;           /* counts the stretches of `now` that may lack a core */
  uint32_t pass;           /* that it is at work for, or TD_NONE */
  uint32_t node;           /* of it */
  uint64_t node_since;
  bool has_device, is_asleep, waits;
  int32_t device;
  td_lay_cause waits_for;
  /* (owned) the nodes that it ran while tasks lay: of all since a moment, the longest is the first
   * that ended after it. */
  stretch *stretches;
  uint32_t n_stretches, stretches_capacity;
} td_server;

/* A queue that has tasks of a pass, and what the pass was given for it in this turn of the queue's
 * thread. */
typedef struct lying_in {
  uint32_t queue;
  uint64_t turn;
  double ns;
} lying_in;

/* A pass that is watched. */
typedef struct td_lying_pass {
  uint32_t pass;
  bool is_idle;     /* it has tasks in queues, and no thread is at work for it */
  lying_in *queues; /* (owned) */
  uint32_t n_queues, queues_capacity;
  uint64_t since;
  double ns[TD_N_LAY_CAUSES];
} td_lying_pass;

typedef struct td_lying_task {
  uint64_t push_ns;
  uint64_t ns[TD_N_LAY_CAUSES]; /* of its queue, at the push */
  uint64_t run_ns;              /* of its pass there */
  uint32_t pass, queue;
  uint32_t next_free; /* 1 + the place, or 0 */
} td_lying_task;

static const struct {
  const char *name, *words;
} names[TD_N_LAY_CAUSES] = {
#define X(name, words) {#name, words},
    TD_LAY_CAUSES(X)
#undef X
};

const char *
td_lay_cause_name(td_lay_cause cause) {
  return names[cause].name;
}

const char *
td_lay_cause_words(td_lay_cause cause) {
  return names[cause].words;
}

static td_queue_wait *
queue_of(td_queue_waits *self, uint32_t queue) {
  TD_REACH(self->queues, self->n_queues, queue);
  return &self->queues[queue];
}

static td_server *
server_of(td_queue_waits *self, uint32_t thread) {
  uint32_t n = self->n_servers;
  TD_REACH(self->servers, self->n_servers, thread);
  for (; n < self->n_servers; n++)
    self->servers[n] = (td_server){.now = TD_LAY_unknown, .pass = TD_NONE, .node = TD_NONE};
  return &self->servers[thread];
}

static td_lying_pass *
pass_of(const td_queue_waits *self, uint32_t pass) {
  for (uint32_t i = 0; i < self->n_passes; i++)
    if (self->passes[i].pass == pass) return &self->passes[i];
  return NULL;
}

static stake *
stake_of(const td_queue_wait *queue, uint32_t pass) {
  for (uint32_t i = 0; i < queue->n_stakes; i++)
    if (queue->stakes[i].pass == pass) return &queue->stakes[i];
  return NULL;
}

/* ---- what the thread of a queue does ---- */

/* own_pass: it runs nodes, of whatever pass. */
static td_lay_cause
cause_of(const td_queue_waits *self, const td_queue_wait *queue) {
  if (queue->server) return self->servers[queue->server - 1].now;
  return queue->is_told && queue->device >= 0 ? TD_LAY_not_started : TD_LAY_unknown;
}

static void
credit(const td_queue_waits *self, td_queue_wait *queue, uint64_t now, bool counts) {
  uint64_t ns = now - TD_MIN(queue->since, now);
  queue->since = now;
  if (!ns || !queue->n_tasks) return;
  td_lay_cause cause = cause_of(self, queue);
  queue->ns[cause] += ns;
  if (cause == TD_LAY_own_pass) {
    stake *own = stake_of(queue, self->servers[queue->server - 1].pass);
    if (own) own->run_ns += ns;
    if (!own) cause = TD_LAY_other_pass;
  }
  if (counts) queue->lay.ns[cause] += ns;
}

/* Nobody is at work for the pass: its own nodes are not what keeps the threads. */
static td_lay_cause
cause_of_pass(const td_queue_waits *self, const td_queue_wait *queue) {
  td_lay_cause cause = cause_of(self, queue);
  return cause == TD_LAY_own_pass ? TD_LAY_other_pass : cause;
}

static void
credit_pass(td_queue_waits *self, td_lying_pass *pass, uint64_t now) {
  double ns = (double)(now - TD_MIN(pass->since, now)) / (double)TD_MAX(pass->n_queues, 1u);
  pass->since = now;
  for (uint32_t i = 0; i < pass->n_queues && ns > 0; i++) {
    lying_in *in = &pass->queues[i];
    const td_queue_wait *queue = &self->queues[in->queue];
    pass->ns[cause_of_pass(self, queue)] += ns;
    uint64_t turn = queue->server ? self->servers[queue->server - 1].turn : 0;
    in->ns = in->turn == turn ? in->ns + ns : ns;
    in->turn = turn;
  }
}

static void
credit_passes(td_queue_waits *self, uint64_t now) {
  for (uint32_t i = 0; i < self->n_passes; i++)
    if (self->passes[i].is_idle) credit_pass(self, &self->passes[i], now);
}

/* A moment counts or not as the events after it do. */
static void
set_counted(td_queue_waits *self, bool counts) {
  if (counts == self->counted) return;
  for (uint32_t i = 0; i < self->n_filled; i++)
    credit(self, &self->queues[self->filled[i]], self->now, self->counted);
  self->counted = counts;
}

static void
set_filled(td_queue_waits *self, uint32_t number) {
  td_queue_wait *queue = &self->queues[number];
  if ((queue->n_tasks > 0) == (queue->filled_place > 0)) return;
  if (queue->n_tasks) {
    TD_GROW(self->filled, self->n_filled, self->filled_capacity);
    self->filled[self->n_filled++] = number;
    queue->filled_place = self->n_filled;
  } else {
    uint32_t last = self->filled[--self->n_filled];
    self->filled[queue->filled_place - 1] = last;
    self->queues[last].filled_place = queue->filled_place;
    queue->filled_place = 0;
  }
}

/* ---- which thread it is ---- */

static void
detach(td_queue_waits *self, td_queue_wait *queue) {
  if (!queue->place) return;
  td_server *server = &self->servers[queue->server - 1];
  uint32_t last = server->queues[--server->n_queues];
  server->queues[queue->place - 1] = last;
  self->queues[last].place = queue->place;
  queue->place = 0;
  if (!server->n_queues) server->n_stretches = 0;
}

static void
attach(td_queue_waits *self, uint32_t number) {
  td_queue_wait *queue = &self->queues[number];
  if (queue->place || !queue->server || !queue->n_tasks) return;
  td_server *server = server_of(self, queue->server - 1);
  TD_GROW(server->queues, server->n_queues, server->queues_capacity);
  server->queues[server->n_queues++] = number;
  queue->place = server->n_queues;
}

static void
serve(td_queue_waits *self, uint32_t number, uint32_t thread) {
  td_queue_wait *queue = &self->queues[number];
  if (queue->server == 1 + thread) return;
  detach(self, queue);
  queue->server = 1 + thread;
  server_of(self, thread);
  attach(self, number);
}

static bool
fits(const td_queue_wait *queue, const td_server *server) {
  return server->has_device && queue->device >= 0 && queue->device == server->device &&
         queue->process == server->process;
}

static void
note_queue(td_queue_waits *self, const td_event_queue_new *event, uint64_t now, bool counts) {
  td_queue_wait *queue = queue_of(self, event->queue);
  credit(self, queue, now, counts);
  queue->is_told = true;
  queue->device = event->device;
  queue->process = server_of(self, event->event.thread)->process;
  if (queue->has_popped) return;
  if (event->owner != TD_NONE) return serve(self, event->queue, event->owner);
  for (uint32_t i = 0; i < self->n_servers; i++)
    if (fits(queue, &self->servers[i])) return serve(self, event->queue, i);
}

static void
note_thread(td_queue_waits *self, const td_event_thread_new *event, uint64_t now, bool counts) {
  td_server *server = server_of(self, event->id);
  server->has_device = true;
  server->device = event->device;
  server->process = event->process;
  for (uint32_t i = 0; i < self->n_queues; i++) {
    td_queue_wait *queue = &self->queues[i];
    if (queue->server || !fits(queue, server)) continue;
    credit(self, queue, now, counts);
    serve(self, i, event->id);
  }
}

/* ---- passes ---- */

static td_lying_pass *
watch(td_queue_waits *self, uint32_t number) {
  td_lying_pass *pass = pass_of(self, number);
  if (pass || self->n_passes == WATCHED_MAX) return pass;
  if (!self->passes) self->passes = TD_NEW_N(td_lying_pass, WATCHED_MAX);
  pass = &self->passes[self->n_passes++];
  *pass = (td_lying_pass){.pass = number};
  return pass;
}

static void
refresh(td_queue_waits *self, const td_lives *lives, uint32_t number, uint64_t now) {
  td_lying_pass *pass = self->pass && number != TD_NONE ? pass_of(self, number) : NULL;
  if (!pass) return;
  if (!pass->is_idle) pass->since = now;
  pass->is_idle = pass->n_queues && !td_lives_pass(lives, number)->n_busy;
}

static void
add_stake(td_queue_waits *self, uint32_t number, uint32_t pass) {
  td_lying_pass *lying = watch(self, pass);
  td_queue_wait *queue = &self->queues[number];
  stake *found = stake_of(queue, pass);
  if (found) found->n_tasks++;
  if (found || !lying) return;
  TD_GROW(queue->stakes, queue->n_stakes, queue->stakes_capacity);
  queue->stakes[queue->n_stakes++] = (stake){.pass = pass, .n_tasks = 1};
  TD_GROW(lying->queues, lying->n_queues, lying->queues_capacity);
  lying->queues[lying->n_queues++] = (lying_in){.queue = number};
}

static void
drop_stake(td_queue_waits *self, uint32_t number, uint32_t pass) {
  td_queue_wait *queue = &self->queues[number];
  td_lying_pass *lying = pass_of(self, pass);
  stake *found = stake_of(queue, pass);
  uint32_t at = 0;
  if (!found || --found->n_tasks) return;
  *found = queue->stakes[--queue->n_stakes];
  while (lying->queues[at].queue != number)
    at++;
  lying->queues[at] = lying->queues[--lying->n_queues];
}

/* An error may leave tasks in queues. */
static void
end_pass(td_queue_waits *self, td_lying_pass *pass) {
  if (self->pass) self->pass(pass->pass, pass->ns, self->data);
  for (uint32_t i = 0; i < pass->n_queues; i++) {
    td_queue_wait *queue = &self->queues[pass->queues[i].queue];
    stake *found = stake_of(queue, pass->pass);
    *found = queue->stakes[--queue->n_stakes];
  }
  free(pass->queues);
  *pass = self->passes[--self->n_passes];
}

static void
note_end(td_queue_waits *self, td_lives *lives, uint32_t graph_task) {
  uint32_t number = td_lives_find_pass(lives, graph_task);
  td_lying_pass *pass = number == TD_NONE ? NULL : pass_of(self, number);
  if (pass && td_lives_pass(lives, number)->has_ended) end_pass(self, pass);
}

/* ---- tasks ---- */

static uint32_t
new_task(td_queue_waits *self) {
  uint32_t place = self->first_free;
  if (place) {
    self->first_free = self->tasks[place - 1].next_free;
    return place;
  }
  TD_GROW(self->tasks, self->n_tasks, self->tasks_capacity);
  return ++self->n_tasks;
}

static uint64_t
key_of(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

static void
push(td_queue_waits *self, td_lives *lives, const td_event_queue_push *event, uint64_t now) {
  uint32_t pass = td_lives_find_pass(lives, event->graph_task);
  if (event->node == TD_NONE || pass == TD_NONE || td_lives_pass(lives, pass)->has_ended) return;
  uint64_t *place = td_number_map_put(&self->task_of, key_of(event->graph_task, event->node));
  if (*place) return;
  *place = new_task(self);
  add_stake(self, event->queue, pass);
  const td_queue_wait *queue = &self->queues[event->queue];
  const stake *own = stake_of(queue, pass);
  td_lying_task *task = &self->tasks[*place - 1];
  *task = (td_lying_task){
      .push_ns = now, .run_ns = own ? own->run_ns : 0, .pass = pass, .queue = event->queue};
  memcpy(task->ns, queue->ns, sizeof task->ns);
  refresh(self, lives, pass, now);
}

/* A node that began before the task came kept it from then on. */
static void
find_behind(const td_server *server, uint64_t push_ns, td_task_lay *lay) {
  uint32_t low = 0, high = server->n_stretches;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (server->stretches[middle].end > push_ns)
      high = middle;
    else
      low = middle + 1;
  }
  lay->behind = lay->behind_pass = TD_NONE;
  for (uint32_t i = low; i < TD_MIN(low + 2, server->n_stretches); i++) {
    const stretch *stretch = &server->stretches[i];
    uint64_t ns = TD_MIN(stretch->ns, stretch->end - push_ns);
    if (ns <= lay->behind_ns) continue;
    lay->behind = stretch->node;
    lay->behind_pass = stretch->pass;
    lay->behind_ns = ns;
  }
}

static void
share_out(const td_queue_wait *queue, const td_lying_task *task, td_task_lay *lay) {
  uint64_t *ns = lay->lay.ns, sum = 0;
  const stake *own = stake_of(queue, task->pass);
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    ns[i] = queue->ns[i] - TD_MIN(task->ns[i], queue->ns[i]);
  uint64_t ran = ns[TD_LAY_own_pass];
  ns[TD_LAY_own_pass] = own ? own->run_ns - TD_MIN(task->run_ns, own->run_ns) : 0;
  ns[TD_LAY_own_pass] = TD_MIN(ns[TD_LAY_own_pass], ran);
  ns[TD_LAY_other_pass] = own ? ran - ns[TD_LAY_own_pass] : 0;
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    if (i != TD_LAY_no_core) sum += ns[i];
  ns[TD_LAY_no_core] = TD_MIN(ns[TD_LAY_no_core], lay->ns - TD_MIN(sum, lay->ns));
  sum += ns[TD_LAY_no_core];
  ns[TD_LAY_unknown] += lay->ns - TD_MIN(sum, lay->ns);
}

static void
tell(const td_queue_waits *self, const td_lying_task *task, const td_event_queue_pop *event,
     uint64_t now) {
  const td_queue_wait *queue = &self->queues[task->queue];
  td_task_lay lay = {.node = event->node,
                     .graph_task = event->graph_task,
                     .queue = task->queue,
                     .thread = event->event.thread,
                     .pass = task->pass,
                     .popped_ns = event->event.time,
                     .ns = now - task->push_ns,
                     .late_ns = TD_MIN(event->waited, now - task->push_ns)};
  share_out(queue, task, &lay);
  find_behind(&self->servers[event->event.thread], task->push_ns, &lay);
  self->task(&lay, self->data);
}

static void
pop(td_queue_waits *self, const td_lives *lives, const td_event_queue_pop *event, uint64_t now) {
  uint64_t *place =
      event->node == TD_NONE
          ? NULL
          : td_number_map_find(&self->task_of, key_of(event->graph_task, event->node));
  if (!place || !*place) return;
  td_lying_task *task = &self->tasks[*place - 1];
  if (self->task && task->queue == event->queue) tell(self, task, event, now);
  drop_stake(self, task->queue, task->pass);
  refresh(self, lives, task->pass, now);
  task->next_free = self->first_free;
  self->first_free = (uint32_t)*place;
  *place = 0;
}

/* Tasks that an error left behind are of no interest, once no pass is under way. */
static void
tidy(td_queue_waits *self) {
  if (self->task_of.n > 64 && self->task_of.n > 4 * self->n_tasks)
    td_number_map_forget_zeros(&self->task_of);
}

static void
resize(td_queue_waits *self, td_lives *lives, const td_any_event *any, uint64_t now, bool counts) {
  const td_event_type *type = td_event_type_get(any->event.kind);
  uint32_t number = td_event_u32(&any->event, type->sample.queue);
  if (number == TD_NONE) return;
  td_queue_wait *queue = queue_of(self, number);
  credit(self, queue, now, counts);
  if (any->event.kind == TD_EVENT_queue_push) push(self, lives, &any->queue_push, now);
  if (any->event.kind == TD_EVENT_queue_pop) pop(self, lives, &any->queue_pop, now);
  if (!queue->n_tasks) queue->filled_since = self->time;
  queue->n_tasks = td_event_u32(&any->event, type->sample.size);
  set_filled(self, number);
  if (!queue->n_tasks) detach(self, queue);
  attach(self, number);
  if (any->event.kind != TD_EVENT_queue_pop) return;
  queue->has_popped = true;
  serve(self, number, any->event.thread);
  tidy(self);
}

/* ---- no core ---- */

static void
begin_turn(const td_queue_waits *self, td_server *server) {
  server->now_since = self->time;
  server->turn++;
}

static void
move(uint64_t *from, uint64_t *to, uint64_t ns) {
  uint64_t moved = TD_MIN(*from, ns);
  *from -= moved;
  *to += moved;
}

/* The thread of a queue had no core; until now its time was that of another cause. */
static void
move_of_queue(const td_queue_waits *self, td_queue_wait *queue, uint64_t waited, bool counts) {
  td_lay_cause cause = cause_of(self, queue), counted = cause;
  stake *own =
      cause == TD_LAY_own_pass ? stake_of(queue, self->servers[queue->server - 1].pass) : NULL;
  if (cause == TD_LAY_own_pass && !own) counted = TD_LAY_other_pass;
  if (own) own->run_ns -= TD_MIN(own->run_ns, waited);
  move(&queue->ns[cause], &queue->ns[TD_LAY_no_core], waited);
  if (counts) move(&queue->lay.ns[counted], &queue->lay.ns[TD_LAY_no_core], waited);
}

/* What a pass was given for the queue in this turn, it was given as one of the thread's: so much of
 * it goes as of the turn. */
static void
move_of_passes(const td_queue_waits *self, uint32_t number, double share) {
  const td_queue_wait *queue = &self->queues[number];
  uint64_t turn = self->servers[queue->server - 1].turn;
  td_lay_cause cause = cause_of_pass(self, queue);
  for (uint32_t i = 0; i < self->n_passes; i++) {
    td_lying_pass *pass = &self->passes[i];
    for (uint32_t k = 0; k < pass->n_queues; k++) {
      if (pass->queues[k].queue != number || pass->queues[k].turn != turn) continue;
      double ns = pass->queues[k].ns * share;
      pass->ns[cause] -= ns;
      pass->ns[TD_LAY_no_core] += ns;
    }
  }
}

/* No task lay there before the last push to an empty queue, so no cause goes back further. How much
 * is taken does not depend on a range: Note [Taken in a range] in range.h. */
static void
note_no_core(td_queue_waits *self, td_server *server, uint64_t waited, bool counts) {
  for (uint32_t i = 0; i < server->n_queues && waited; i++) {
    td_queue_wait *queue = &self->queues[server->queues[i]];
    bool was_filled = queue->filled_since.all <= server->now_since.all;
    td_range_time turn =
        td_range_time_since(was_filled ? &server->now_since : &queue->filled_since, &self->time);
    td_range_time taken = td_range_time_share(&turn, waited);
    move_of_queue(self, queue, taken.inside, counts);
    if (turn.all) move_of_passes(self, server->queues[i], (double)taken.all / (double)turn.all);
  }
  begin_turn(self, server);
}

/* ---- threads ---- */

static void
note_wait(td_server *server, const td_any_event *any) {
  server->is_asleep = any->event.kind == TD_EVENT_thread_state &&
                      any->thread_state.state == TD_thread_activity_idle;
  if (any->event.kind == TD_EVENT_lock_wait) {
    server->waits = true;
    server->waits_for = any->lock_wait.lock == TD_lock_kind_gil ? TD_LAY_gil : TD_LAY_lock;
  }
  if (any->event.kind == TD_EVENT_lock_acquired) server->waits = false;
}

static td_lay_cause
cause_of_thread(const td_server *server) {
  if (server->waits) return server->waits_for;
  if (server->is_asleep) return TD_LAY_waking;
  return server->pass == TD_NONE ? TD_LAY_engine : TD_LAY_own_pass;
}

/* Shorter nodes before a longer one are the longest of no time. */
static void
end_stretch(td_server *server, uint64_t now) {
  uint64_t ns = now - TD_MIN(server->node_since, now);
  if (!server->n_queues || !ns) return;
  while (server->n_stretches && server->stretches[server->n_stretches - 1].ns <= ns)
    server->n_stretches--;
  TD_GROW(server->stretches, server->n_stretches, server->stretches_capacity);
  server->stretches[server->n_stretches++] = (stretch){server->node, server->pass, now, ns};
}

static void
note_work(td_queue_waits *self, const td_lives *lives, uint32_t thread, uint64_t now) {
  td_server *server = &self->servers[thread];
  uint32_t pass = td_lives_busy_pass(lives, thread), before = server->pass;
  uint32_t node = pass == TD_NONE ? TD_NONE : td_lives_node(lives, thread);
  if (pass == before && node == server->node) return;
  if (before != TD_NONE && self->task) end_stretch(server, now);
  server->pass = pass;
  server->node = node;
  server->node_since = now;
  if (pass == before) return;
  refresh(self, lives, before, now);
  refresh(self, lives, pass, now);
}

void
td_queue_waits_serve(td_queue_waits *self, uint32_t queue, uint32_t thread) {
  queue_of(self, queue);
  serve(self, queue, thread);
}

/* Most events leave the thread at what it did: time counts at the next one that does not. */
static bool
goes_on(const td_queue_waits *self, const td_lives *lives, const td_event *event, bool counts) {
  const td_server *server = &self->servers[event->thread];
  if (counts != self->counted || server->is_asleep || server->now == TD_LAY_unknown) return false;
  if (td_event_type_get(event->kind)->lane == TD_LANE_queue) return false;
  switch (event->kind) {
  case TD_EVENT_queue_new:
  case TD_EVENT_thread_new:
  case TD_EVENT_graph_task_end:
  case TD_EVENT_thread_state:
  case TD_EVENT_lock_wait:
  case TD_EVENT_lock_acquired:
  case TD_EVENT_core_wait:
    return false;
  default:
    break;
  }
  uint32_t pass = td_lives_busy_pass(lives, event->thread);
  return pass == server->pass &&
         (pass == TD_NONE || td_lives_node(lives, event->thread) == server->node);
}

void
td_queue_waits_take(td_queue_waits *self, td_lives *lives, const td_any_event *any,
                    const td_range_time *time, bool counts) {
  td_event_kind kind = any->event.kind;
  if (kind == TD_EVENT_kernel_begin || kind == TD_EVENT_kernel_end) return;
  uint32_t thread = any->event.thread;
  uint64_t now = time->inside;
  td_server *server = server_of(self, thread);
  self->time = *time;
  if (goes_on(self, lives, &any->event, counts)) {
    self->now = now;
    return;
  }
  set_counted(self, counts);
  credit_passes(self, now);
  for (uint32_t i = 0; i < server->n_queues; i++)
    credit(self, &self->queues[server->queues[i]], now, counts);
  note_work(self, lives, thread, now);
  if (td_event_type_get(kind)->lane == TD_LANE_queue) resize(self, lives, any, now, counts);
  if (kind == TD_EVENT_queue_new) note_queue(self, &any->queue_new, now, counts);
  if (kind == TD_EVENT_thread_new) note_thread(self, &any->thread_new, now, counts);
  if (kind == TD_EVENT_graph_task_end) note_end(self, lives, any->graph_task_end.graph_task);
  server = &self->servers[thread];
  if (kind == TD_EVENT_core_wait)
    note_no_core(self, server, any->core_wait.waited, counts);
  else
    note_wait(server, any);
  td_lay_cause cause = cause_of_thread(server);
  if (cause != server->now) begin_turn(self, server);
  server->now = cause;
  self->now = now;
}

td_lay
td_queue_waits_get(const td_queue_waits *self, uint32_t queue) {
  return queue < self->n_queues ? self->queues[queue].lay : (td_lay){{0}};
}

void
td_queue_waits_end(td_queue_waits *self) {
  while (self->n_passes)
    end_pass(self, &self->passes[self->n_passes - 1]);
}

void
td_queue_waits_fini(td_queue_waits *self) {
  for (uint32_t i = 0; i < self->n_queues; i++)
    free(self->queues[i].stakes);
  for (uint32_t i = 0; i < self->n_servers; i++) {
    free(self->servers[i].queues);
    free(self->servers[i].stretches);
  }
  for (uint32_t i = 0; i < self->n_passes; i++)
    free(self->passes[i].queues);
  free(self->queues);
  free(self->filled);
  free(self->servers);
  free(self->passes);
  free(self->tasks);
  td_number_map_fini(&self->task_of);
}
