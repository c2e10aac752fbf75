/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/flight_dump.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/trace/maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS UINT64_C(86400000000000) /* where a dump does not tell the timeout */
#define CLOCKS_NS UINT64_C(60000000000)

/* The fields of a row, in the order of read_flight.py. */
enum {
  GROUP,
  SIZE,
  RANK,
  NUMBER,
  ENDED,
  NS,
  TIMEOUT_MS,
  OPERATION,
  DTYPE,
  ELEMENTS,
  TENSORS,
  STACK,
  N_FIELDS
};

typedef struct operation {
  uint32_t dump, group, rank, number;
  uint32_t operation, dtype, stack; /* in the texts */
  uint32_t tensors;
  uint64_t ns, timeout_ns, elements;
  bool has_ended;
} operation;

/* What all dumps of a group have: from `first` to `last`. `ended` is the latest operation that
 * ended on a rank. */
typedef struct group {
  uint32_t name, size, first, last, ended;
} group;

/* The operations of a group in one dump. */
typedef struct part {
  uint32_t group, first, last;
} part;

struct td_flight_dump {
  uint32_t *ranks; /* (owned) of the dumps */
  uint32_t n_dumps, dumps_capacity;
  operation *operations; /* (owned) */
  uint32_t n_operations, operations_capacity;
  group *groups; /* (owned) */
  uint32_t n_groups, groups_capacity;
  part *parts; /* (owned) */
  uint32_t n_parts, parts_capacity;
  td_number_map group_of, part_of; /* 1 + number: by name and size, by dump and group */
  td_text_table texts;
};

td_flight_dump *
td_flight_dump_new(void) {
  return td_alloc(1, sizeof(td_flight_dump));
}

void
td_flight_dump_free(td_flight_dump *self) {
  if (!self) return;
  free(self->ranks);
  free(self->operations);
  free(self->groups);
  free(self->parts);
  td_number_map_fini(&self->group_of);
  td_number_map_fini(&self->part_of);
  td_text_table_fini(&self->texts);
  free(self);
}

/* ---- rows ---- */

static bool
read_number(const char *text, uint64_t most, uint64_t *number) {
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && !errno && *number <= most;
}

/* Splits a row at its tabs. Returns how many fields there are, at most `most`. */
static size_t
split(char *row, char **fields, size_t most) {
  size_t n = 0;
  for (char *at = row; at && n < most; n++) {
    fields[n] = at;
    at = strchr(at, '\t');
    if (at) *at++ = '\0';
  }
  return n;
}

static uint32_t
put_text(td_flight_dump *self, const char *text) {
  return td_text_table_put(&self->texts, text, strlen(text));
}

static bool
take_dump(td_flight_dump *self, const char *rank) {
  uint64_t number;
  if (!read_number(rank, INT32_MAX, &number)) return false;
  TD_GROW(self->ranks, self->n_dumps, self->dumps_capacity);
  self->ranks[self->n_dumps++] = (uint32_t)number;
  return true;
}

static uint32_t
find_group(td_flight_dump *self, uint32_t name, uint32_t size) {
  uint64_t *number = td_number_map_put(&self->group_of, (uint64_t)name << 32 | size);
  if (*number) return (uint32_t)*number - 1;
  TD_GROW(self->groups, self->n_groups, self->groups_capacity);
  self->groups[self->n_groups] = (group){.name = name, .size = size, .last = UINT32_MAX};
  *number = ++self->n_groups;
  return self->n_groups - 1;
}

static void
note_part(td_flight_dump *self, const operation *one) {
  uint64_t *number = td_number_map_put(&self->part_of, (uint64_t)one->dump << 32 | one->group);
  if (*number) {
    part *known = &self->parts[*number - 1];
    known->last = TD_MAX(known->last, one->number);
    return;
  }
  TD_GROW(self->parts, self->n_parts, self->parts_capacity);
  self->parts[self->n_parts] = (part){one->group, one->number, one->number};
  *number = ++self->n_parts;
}

static bool
take_operation(td_flight_dump *self, char **fields) {
  static const struct {
    int field;
    uint64_t most;
  } counts[] = {{SIZE, UINT32_MAX - 1},   {RANK, UINT32_MAX - 1},
                {NUMBER, UINT32_MAX - 1}, {ENDED, 1},
                {NS, INT64_MAX},          {TIMEOUT_MS, INT64_MAX / 1000000},
                {ELEMENTS, INT64_MAX},    {TENSORS, UINT32_MAX}};
  uint64_t values[N_FIELDS] = {0};
  for (size_t i = 0; i < TD_N_ELEMENTS(counts); i++)
    if (!read_number(fields[counts[i].field], counts[i].most, &values[counts[i].field]))
      return false;
  for (char *at = fields[STACK]; (at = strchr(at, '\v'));)
    *at = '\n';
  operation one = {.dump = self->n_dumps - 1,
                   .group = find_group(self, put_text(self, fields[GROUP]), (uint32_t)values[SIZE]),
                   .rank = (uint32_t)values[RANK],
                   .number = (uint32_t)values[NUMBER],
                   .operation = put_text(self, fields[OPERATION]),
                   .dtype = put_text(self, fields[DTYPE]),
                   .stack = put_text(self, fields[STACK]),
                   .tensors = (uint32_t)values[TENSORS],
                   .ns = values[NS],
                   .timeout_ns = values[TIMEOUT_MS] * 1000000,
                   .elements = values[ELEMENTS],
                   .has_ended = values[ENDED] != 0};
  note_part(self, &one);
  TD_GROW(self->operations, self->n_operations, self->operations_capacity);
  self->operations[self->n_operations++] = one;
  return true;
}

bool
td_flight_dump_take(td_flight_dump *self, char *row) {
  char *fields[1 + N_FIELDS];
  size_t n = split(row, fields, 1 + N_FIELDS);
  if (n == 2 && strcmp(fields[0], "dump") == 0) return take_dump(self, fields[1]);
  return self->n_dumps && n == 1 + N_FIELDS && strcmp(fields[0], "operation") == 0 &&
         take_operation(self, fields + 1);
}

/* ---- the tape ---- */

static void
find_common(td_flight_dump *self) {
  for (uint32_t i = 0; i < self->n_parts; i++) {
    group *of = &self->groups[self->parts[i].group];
    of->first = TD_MAX(of->first, self->parts[i].first);
    of->last = TD_MIN(of->last, self->parts[i].last);
  }
  for (uint32_t i = 0; i < self->n_operations; i++) {
    group *of = &self->groups[self->operations[i].group];
    if (self->operations[i].has_ended) of->ended = TD_MAX(of->ended, self->operations[i].number);
  }
}

/* Note [Dumps] */
static bool
is_cut(const td_flight_dump *self, const operation *one) {
  const group *of = &self->groups[one->group];
  return one->number < of->first || (of->ended > of->last && one->number > of->last);
}

static bool
has_twins(const td_flight_dump *self) {
  td_number_map ranks = {0};
  bool found = false;
  for (uint32_t i = 0; i < self->n_dumps && !found; i++) {
    uint64_t *known = td_number_map_put(&ranks, self->ranks[i]);
    found = *known != 0;
    *known = 1;
  }
  td_number_map_fini(&ranks);
  return found;
}

/* An operation that two ranks handed further apart than its timeout, and some more for the clocks
 * of two machines, is none of one run: a file may be left from an earlier one. */
static const operation *
find_apart(const td_flight_dump *self) {
  td_number_map handed = {0}; /* 1 + operation, by group and number */
  const operation *found = NULL;
  for (uint32_t i = 0; i < self->n_operations && !found; i++) {
    const operation *one = &self->operations[i];
    uint64_t *other = td_number_map_put(&handed, (uint64_t)one->group << 32 | one->number);
    if (!*other) *other = i + 1;
    uint64_t ns = self->operations[*other - 1].ns,
             most = one->timeout_ns ? one->timeout_ns : DAY_NS;
    if (TD_MAX(ns, one->ns) - TD_MIN(ns, one->ns) > most + CLOCKS_NS) found = one;
  }
  td_number_map_fini(&handed);
  return found;
}

static uint64_t
find_start(const td_flight_dump *self) {
  uint64_t start = UINT64_MAX;
  for (uint32_t i = 0; i < self->n_operations; i++)
    start = TD_MIN(start, self->operations[i].ns);
  return start;
}

static const td_event_kind absent[] = {
    TD_EVENT_node_new,         TD_EVENT_edge_new,     TD_EVENT_graph_task_begin,
    TD_EVENT_graph_task_end,   TD_EVENT_node_begin,   TD_EVENT_node_end,
    TD_EVENT_queue_new,        TD_EVENT_queue_push,   TD_EVENT_queue_pop,
    TD_EVENT_buffer_add,       TD_EVENT_accumulate,   TD_EVENT_lock_wait,
    TD_EVENT_anomaly,          TD_EVENT_tensor_stats, TD_EVENT_error,
    TD_EVENT_collective_begin, TD_EVENT_none};

static void
tell_ranks(const td_flight_dump *self, td_maker *maker, const char *source) {
  TD_MAKE(maker, 0, 0, session_begin, .engine = td_maker_intern(maker, 0, 0, "PyTorch"),
          .source = td_maker_intern(maker, 0, 0, source));
  TD_MAKE(maker, 0, 0, probe_level, .level = 4,
          .reason =
              td_maker_intern(maker, 0, 0, "imported from dumps of PyTorch's flight recorder"));
  TD_MAKE(maker, 0, 0, setting, .name = td_maker_intern(maker, 0, 0, "order of collectives"),
          .value = td_maker_intern(maker, 0, 0, "dumped"));
  td_maker_know(maker, TD_knowledge_absent, absent);
  TD_MAKE(maker, 0, 0, device_new, .device = TD_DEVICE_CPU,
          .name = td_maker_intern(maker, 0, 0, "cpu"));
  for (uint32_t i = 0; i < self->n_dumps; i++) {
    char *name = td_format("rank %u", (unsigned)self->ranks[i]);
    TD_MAKE(maker, i, 0, process_new, .process = i, .rank = (int32_t)self->ranks[i],
            .name = td_maker_intern(maker, i, 0, name));
    TD_MAKE(maker, i, 0, thread_new, .id = i, .name = td_maker_intern(maker, i, 0, name),
            .device = TD_DEVICE_CPU, .process = i);
    free(name);
  }
}

static uint32_t
intern(const td_flight_dump *self, td_maker *maker, const operation *one, uint64_t at,
       uint32_t text) {
  return td_maker_intern(maker, one->dump, at, td_text_table_get(&self->texts, text));
}

static void
tell_operation(const td_flight_dump *self, td_maker *maker, const operation *one, uint64_t at) {
  const group *of = &self->groups[one->group];
  TD_MAKE(
      maker, one->dump, at, collective, .operation = intern(self, maker, one, at, one->operation),
      .group = intern(self, maker, one, at, of->name), .instance = one->group, .rank = one->rank,
      .size = of->size, .number = one->number, .elements = one->elements,
      .dtype = intern(self, maker, one, at, one->dtype), .tensors = one->tensors, .peer = -1,
      .graph_task = TD_NONE, .node = TD_NONE, .stack = intern(self, maker, one, at, one->stack));
}

static void
tell_all(const td_flight_dump *self, td_maker *maker, uint64_t start, td_flight_report *report) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < self->n_operations; i++) {
    const operation *one = &self->operations[i];
    bool cut = is_cut(self, one);
    report->n_cut += cut;
    if (cut) continue;
    end = TD_MAX(end, one->ns - start);
    tell_operation(self, maker, one, one->ns - start);
  }
  TD_MAKE(maker, 0, end, session_end, .status = 0);
}

td_status
td_flight_dump_write(td_flight_dump *self, const char *path, bool overwrite, const char *source,
                     td_flight_report *report, td_error *error) {
  if (self->n_operations == 0)
    return td_error_set(error, TD_INVALID, "no operation of several ranks in any dump");
  if (has_twins(self)) return td_error_set(error, TD_INVALID, "two dumps are of the same rank");
  const operation *apart = find_apart(self);
  if (apart)
    return td_error_set(
        error, TD_INVALID,
        "two ranks handed operation %u of process group %s further apart than its timeout: the "
        "dumps are not of one run",
        (unsigned)apart->number, td_text_table_get(&self->texts, self->groups[apart->group].name));
  td_maker *maker;
  uint64_t start = find_start(self);
  td_status status = td_maker_open(path, overwrite, 0, start, &maker, error);
  if (status != TD_OK) return status;
  find_common(self);
  *report = (td_flight_report){
      .n_dumps = self->n_dumps, .n_groups = self->n_groups, .n_operations = self->n_operations};
  tell_ranks(self, maker, source);
  tell_all(self, maker, start, report);
  return td_maker_close(maker, error);
}
