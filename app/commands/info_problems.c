/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/info_problems.h"

#include "app/command.h"
#include "app/commands/info_summary.h"
#include "app/print/json_members.h"
#include "engine/profile/why/cause_words.h"
#include "engine/profile/why/why.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 5        /* for people, of each list */
#define SHOWN_JSON 100 /* in JSON */

/* Names nodes, and knows what led to problems. */
typedef struct source {
  const td_catalog *catalog;
  td_catalog_cause *causes; /* (owned) [n] */
  uint32_t n;
} source;

typedef struct teller {
  td_tape *tape;
  source whole;        /* of the tape or its outline */
  source of_segment;   /* of one segment: a tape that is cut may be of an older version */
  td_catalog *segment; /* (owned) that one, or NULL; the whole tape if a keyframe is damaged */
} teller;

/* A problem, and who tells of it. */
typedef struct problem {
  uint64_t seq, cause;
  td_any_event event;
  const source *source;
  td_cause_known known;
} problem;

/* An outline has the causes; others have the graph in which they are found. */
static source
source_of(const td_catalog *catalog, td_tape *tape) {
  source made = {.catalog = catalog};
  td_cause_list list = {0};
  if (td_info_is_outline(catalog)) {
    made.n = catalog->n_causes;
    made.causes = g_memdup2(catalog->causes, made.n * sizeof *made.causes);
    return made;
  }
  td_cause_list_read(&list, catalog, tape);
  made.causes = td_cause_list_make(&list, &made.n);
  td_cause_list_fini(&list);
  return made;
}

static void
set_part(teller *self, td_catalog *segment) {
  free(self->of_segment.causes);
  td_catalog_free(self->segment);
  self->segment = segment;
  self->of_segment = segment ? source_of(segment, self->tape) : (source){0};
}

static bool
has_segment(const td_catalog *catalog, const td_segment *segment) {
  if (!catalog) return false;
  uint32_t number = catalog->segment.number;
  return number == segment->number || number == TD_SEGMENT_WHOLE;
}

static td_cause_known
look_up(const teller *self, const source *source, problem *at) {
  return td_cause_look_up(source->causes, source->n, self->tape, at->seq, &at->event, &at->cause);
}

static void
load_segment(teller *self, const td_segment *segment) {
  td_error error = {0};
  td_catalog *made = NULL;
  td_status status = td_catalog_collect(self->tape, segment, &made, &error);
  if (status == TD_DAMAGED) {
    td_command_say_whole(td_tape_path(self->tape), &error);
    status = td_catalog_collect_whole(self->tape, &made, &error);
  }
  if (status) td_error_clear(&error);
  set_part(self, made);
}

/* An outline names the nodes of the first problems, and has their causes. Those of older versions
 * have neither: then the segment tells. */
static bool
is_outline_enough(const teller *self, const problem *at) {
  return td_catalog_declares(self->whole.catalog, &at->event.event) &&
         at->known != TD_CAUSE_unknown;
}

static void
find_source(teller *self, problem *at) {
  td_segment segment = td_tape_segment_at(self->tape, at->seq);
  at->source = &self->whole;
  at->known = look_up(self, at->source, at);
  if (has_segment(self->whole.catalog, &segment) || is_outline_enough(self, at)) return;
  if (!has_segment(self->segment, &segment)) load_segment(self, &segment);
  if (!self->segment) return;
  at->source = &self->of_segment;
  at->known = look_up(self, at->source, at);
}

/* The next problem from *i on that is an anomaly, or that is none, or any; false after the last. */
typedef enum wish { ANOMALIES, OTHERS, ALL } wish;

static bool
is_wished(wish wish, uint32_t kind) {
  return wish == ALL || (kind == TD_EVENT_anomaly) == (wish == ANOMALIES);
}

static bool
next_problem(teller *self, wish wish, uint32_t *i, problem *at) {
  const td_catalog_mentions *problems = &self->whole.catalog->mentions[TD_LIST_problems];
  while (*i < problems->n) {
    const td_catalog_mention *item = &problems->items[(*i)++];
    *at = (problem){.seq = item->seq};
    if (!is_wished(wish, item->kind) || td_tape_get(self->tape, item->seq, &at->event, NULL))
      continue;
    find_source(self, at);
    return true;
  }
  return false;
}

static bool
find_step(const teller *self, const problem *at, uint32_t *step) {
  const td_catalog *catalog = self->whole.catalog;
  uint32_t thread = at->event.event.thread;
  uint32_t process = thread < catalog->n_threads ? catalog->threads[thread].process : 0;
  return td_step_at(catalog, process, at->seq, step);
}

static void
print_problem(const teller *self, const problem *at) {
  char *text = td_why_describe(at->source->catalog, self->tape, &at->event);
  char *cause = td_cause_words(at->source->catalog, self->tape, at->known, at->cause);
  uint32_t step;
  printf("event %" PRIu64 ", ", at->seq);
  if (find_step(self, at, &step)) printf("step %u, ", step);
  puts(text);
  if (*cause) printf("%-12s   %s\n", "", cause);
  free(text);
  free(cause);
}

static uint64_t
count(const td_catalog *catalog, wish wish) {
  const td_catalog_mentions *problems = &catalog->mentions[TD_LIST_problems];
  uint64_t n = 0;
  for (uint32_t i = 0; i < problems->n; i++)
    n += is_wished(wish, problems->items[i].kind);
  return n;
}

static void
print_list(teller *self, wish wish, const char *heading, const char *more) {
  uint64_t n = count(self->whole.catalog, wish);
  problem at;
  uint32_t next = 0;
  for (uint32_t i = 0; i < SHOWN && next_problem(self, wish, &next, &at); i++) {
    printf("%-12s ", i ? "" : heading);
    print_problem(self, &at);
  }
  if (n > SHOWN)
    printf("%-12s ... %" PRIu64 " more; `%s` lists %s\n", "", n - SHOWN, more,
           wish == ANOMALIES ? "all" : "more");
}

static teller
teller_of(td_tape *tape, const td_catalog *catalog) {
  return (teller){.tape = tape, .whole = source_of(catalog, tape)};
}

static void
teller_fini(teller *self) {
  set_part(self, NULL);
  free(self->whole.causes);
}

void
td_info_print_problems(td_tape *tape, const td_catalog *catalog) {
  teller self = teller_of(tape, catalog);
  print_list(&self, ANOMALIES, "anomalies", "tapedeck events --kind anomaly");
  print_list(&self, OTHERS, "problems", "tapedeck info --json");
  teller_fini(&self);
}

/* Members that both arrays have. */
static void
write_place(td_json *json, const teller *self, const problem *at) {
  uint32_t step;
  bool is_counted = find_step(self, at, &step);
  td_member_id(json, "graph_task", td_event_graph_task(&at->event.event));
  td_member_known(json, "step", step, is_counted);
  td_info_node_json(json, at->source->catalog, td_why_node_of(&at->event));
  td_member_known(json, "cause", at->cause, at->known == TD_CAUSE_found);
}

static void
write_anomaly(td_json *json, const teller *self, const problem *at) {
  const td_event_anomaly *anomaly = &at->event.anomaly;
  td_json_begin_object(json);
  td_member_u64(json, "seq", at->seq);
  td_member_string(json, "kind", td_enum_word(TD_FIELD_ENUM_anomaly_kind, anomaly->kind));
  td_member_string(json, "born", td_enum_word(TD_FIELD_ENUM_birthplace, anomaly->born));
  write_place(json, self, at);
  td_json_end_object(json);
}

static void
write_problem(td_json *json, const teller *self, const problem *at) {
  char *text = td_why_describe(at->source->catalog, self->tape, &at->event);
  char *cause = td_cause_words(at->source->catalog, self->tape, at->known, at->cause);
  td_json_begin_object(json);
  td_member_u64(json, "seq", at->seq);
  td_member_string(json, "event", td_event_type_get(at->event.event.kind)->name);
  td_member_string(json, "text", text);
  write_place(json, self, at);
  td_member_text(json, "cause_text", cause);
  td_json_end_object(json);
  free(text);
  free(cause);
}

static void
write_list(td_json *json, teller *self, wish wish, const char *key,
           void (*write)(td_json *json, const teller *self, const problem *at)) {
  problem at;
  uint32_t next = 0;
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < SHOWN_JSON && next_problem(self, wish, &next, &at); i++)
    write(json, self, &at);
  td_json_end_array(json);
}

void
td_info_problems_json(td_json *json, td_tape *tape, const td_catalog *catalog) {
  teller self = teller_of(tape, catalog);
  write_list(json, &self, ANOMALIES, "anomalies", write_anomaly);
  write_list(json, &self, ALL, "problems", write_problem);
  teller_fini(&self);
}
