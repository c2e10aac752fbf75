/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_troubles.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/birth_links.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_MAX 4096 /* findings of a segment; further ones are left out */
#define DOUBTED_MAX 1024 /* of them, so that doubted ones leave room */
#define BIRTHS_MAX 100000
#define SEARCHED_MAX 1000 /* causes of a segment: each costs a walk through the graph */
#define LED_MAX 16        /* steps from a birth to the first one that led to it */
#define EXPLAINED_MAX 16  /* errors of a tape whose earlier pass is looked for: it takes a while */

static bool
is_trouble(uint32_t kind) {
  return kind == TD_EVENT_anomaly || kind == TD_EVENT_error || kind == TD_EVENT_version_conflict ||
         kind == TD_EVENT_stream_conflict || kind == TD_EVENT_warning ||
         kind == TD_EVENT_gradient_written;
}

/* Masks of attention are made of such. */
static bool
is_doubtful(const td_any_event *event) {
  if (event->event.kind != TD_EVENT_anomaly || event->anomaly.kind != TD_anomaly_kind_inf)
    return false;
  return event->anomaly.born == TD_birthplace_forward || event->anomaly.born == TD_birthplace_data;
}

/* What follows a doubted Inf says that it did harm. */
static void
believe(td_find_troubles *self) {
  for (uint32_t i = 0; i < self->n; i++)
    self->items[i].is_doubted = false;
  self->n_believed = self->n_held;
  self->n_left_out += self->n_doubted_left_out;
  self->n_doubted = 0;
  self->n_doubted_left_out = 0;
}

static void
note_birth(td_find_troubles *self, const td_any_event *event, uint64_t seq) {
  td_event_anomaly birth;
  if (event->event.kind == TD_EVENT_carried) {
    td_births_add_carried(&self->births, &event->carried);
    if (event->carried.graph_task != TD_NONE && self->lacks_fates)
      *td_number_map_put(&self->went_on, event->carried.from) = 1;
  }
  if (self->births.n < BIRTHS_MAX && td_birth_of(event, &birth))
    td_births_add(&self->births, seq, &birth);
}

static void
note_setting(td_find_troubles *self, td_tape *tape, const td_any_event *event) {
  const char *name = td_tape_string(tape, event->setting.name);
  self->knows_edges |= !strcmp(name, "carried");
  self->lacks_fates |= !strcmp(name, "births");
}

void
td_find_troubles_take(td_find_troubles *self, td_tape *tape, const td_any_event *event,
                      uint64_t seq) {
  if (event->event.kind == TD_EVENT_setting) note_setting(self, tape, event);
  if (self->knows_edges) note_birth(self, event, seq);
  if (!is_trouble(event->event.kind)) return;
  bool is_doubted = (!self->knows_edges || self->lacks_fates) && is_doubtful(event);
  bool convinces = event->event.kind == TD_EVENT_anomaly && !is_doubted && !self->knows_edges;
  if (convinces && self->n_doubted) believe(self);
  if (self->n == SEGMENT_MAX || (is_doubted && self->n_doubted == DOUBTED_MAX)) {
    *(is_doubted ? &self->n_doubted_left_out : &self->n_left_out) += 1;
    return;
  }
  TD_GROW(self->items, self->n, self->capacity);
  td_trouble *trouble = &self->items[self->n++];
  self->n_doubted += is_doubted;
  trouble->is_doubted = is_doubted;
  trouble->seq = seq;
  memcpy(&trouble->event, event, td_event_type_get(event->event.kind)->size);
}

static void
fini_finding(td_finding *finding) {
  free(finding->text);
  free(finding->advice);
  free(finding->line);
}

static void
forget_held(td_find_troubles *self, uint32_t n_left) {
  for (uint32_t i = n_left; i < self->n_held; i++)
    fini_finding(&self->held[i].finding);
  self->n_held = n_left;
}

static bool
went_on(const td_find_troubles *self, uint32_t node) {
  return td_number_map_find(&self->went_on, node) != NULL;
}

/* Those that are held come before those that are forgotten. */
static void
believe_held(td_find_troubles *self) {
  for (uint32_t i = self->n_believed; i < self->n_held; i++) {
    td_held_trouble held = self->held[i];
    if (!went_on(self, held.finding.node)) continue;
    self->held[i] = self->held[self->n_believed];
    self->held[self->n_believed++] = held;
  }
}

static void
settle_doubts(td_find_troubles *self) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->n; i++) {
    td_trouble *trouble = &self->items[i];
    if (trouble->is_doubted && !went_on(self, trouble->event.anomaly.node)) continue;
    trouble->is_doubted = false;
    self->items[n++] = *trouble;
  }
  self->n = n;
  believe_held(self);
  forget_held(self, self->n_believed);
  self->n_doubted = 0;
  self->n_doubted_left_out = 0;
}

void
td_find_troubles_end_pass(td_find_troubles *self) {
  if (self->n_doubted) settle_doubts(self);
  td_number_map_fini(&self->went_on);
}

/* PyTorch's texts, which Tapedeck's engine has too. */
static td_finding_kind
kind_of_error(const char *text) {
  if (strstr(text, "backward through the graph a second time")) return TD_FINDING_second_backward;
  if (strstr(text, "returned an invalid gradient")) return TD_FINDING_wrong_shape;
  return TD_FINDING_error;
}

static td_finding_kind
kind_of(td_tape *tape, const td_any_event *event) {
  switch (event->event.kind) {
  case TD_EVENT_anomaly:
  case TD_EVENT_absorbed: /* it led to a birth */
    return TD_FINDING_nonfinite;
  case TD_EVENT_version_conflict:
    return TD_FINDING_version_conflict;
  case TD_EVENT_stream_conflict:
    return TD_FINDING_stream_conflict;
  case TD_EVENT_gradient_written:
    return TD_FINDING_gradient_written;
  case TD_EVENT_warning:
    return TD_FINDING_warning;
  default:
    return kind_of_error(td_tape_string(tape, event->error.text));
  }
}

/* Once the weights are not finite, every use of them is a birth. */
static bool
is_of_parameter(const td_any_event *event) {
  return event->event.kind == TD_EVENT_anomaly && event->anomaly.born == TD_birthplace_parameter;
}

/* What tells problems of one kind apart, beside their function and line. */
static const char *
text_of(td_tape *tape, const td_any_event *event) {
  if (is_of_parameter(event)) return "parameter";
  if (event->event.kind == TD_EVENT_anomaly) {
    const char *word = td_enum_word(TD_FIELD_ENUM_anomaly_kind, event->anomaly.kind);
    return word ? word : "";
  }
  if (event->event.kind == TD_EVENT_error) return td_tape_string(tape, event->error.text);
  if (event->event.kind == TD_EVENT_warning) return td_tape_string(tape, event->warning.text);
  return "";
}

/* What all problems have that are like this one. */
static uint32_t
key_of(td_find_troubles *self, const td_finding *finding, const char *function, const char *text) {
  char *key = td_format("%s\n%s\n%s\n%s", td_finding_kind_name(finding->kind), function,
                        finding->line ? finding->line : "", text);
  uint32_t number = td_text_table_put(&self->keys, key, strlen(key));
  free(key);
  if (number >= self->found_capacity) {
    uint32_t n = TD_MAX(2 * self->found_capacity, number + 16);
    self->found = td_realloc(self->found, n, sizeof *self->found);
    memset(self->found + self->found_capacity, 0, (n - self->found_capacity) * sizeof *self->found);
    self->found_capacity = n;
  }
  return number;
}

static bool
has_run(const td_catalog *catalog, const td_catalog_graph_task *pass, uint32_t node) {
  for (uint32_t i = 0; i < pass->n_ran; i++)
    if (catalog->ran[pass->first_ran + i] == node) return true;
  return false;
}

/* The last pass before a problem that ran its node, as far as the catalog knows; or NULL. */
static const td_catalog_graph_task *
pass_before(td_find_troubles *self, const td_catalog *catalog, uint32_t node, uint32_t graph_task,
            uint64_t seq) {
  const td_catalog_graph_task *found = NULL;
  if (self->n_explained++ >= EXPLAINED_MAX) return NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    bool is_earlier = found && pass->begin_seq < found->begin_seq;
    if (pass->id == graph_task || pass->begin_seq >= seq || is_earlier) continue;
    if (has_run(catalog, pass, node)) found = pass;
  }
  return found;
}

/* Those of several processes are not counted together. */
static char *
dup_pass(const td_catalog *catalog, const td_catalog_graph_task *pass) {
  uint32_t number = catalog->n_processes > 1 ? 0 : pass->number;
  return td_finding_dup_pass(&(td_finding){.graph_task = pass->id, .pass = number});
}

static char *
advise_on_second(td_find_troubles *self, const td_catalog *catalog, const td_trouble *trouble) {
  const char *advice = td_translate("Detach what goes on to the next step, or keep the graph with "
                                    "retain_graph=True.");
  const td_event_error *error = &trouble->event.error;
  const td_catalog_graph_task *pass =
      pass_before(self, catalog, error->node, error->graph_task, trouble->seq);
  if (!pass) return td_dup_string(advice);
  char *which = dup_pass(catalog, pass);
  char *text =
      td_format(td_translate("An earlier one, %s, ran it and let go of what it had saved. %s"),
                which, advice);
  free(which);
  return text;
}

/* A node that an earlier pass ran has a value from before the write. */
static char *
advise_on_conflict(td_find_troubles *self, const td_catalog *catalog, td_tape *tape,
                   const td_trouble *trouble) {
  const td_event_version_conflict *conflict = &trouble->event.version_conflict;
  char *meaning = td_why_mean(catalog, tape, &trouble->event);
  const td_catalog_graph_task *pass =
      pass_before(self, catalog, conflict->node, conflict->graph_task, trouble->seq);
  if (!pass) return meaning;
  char *which = dup_pass(catalog, pass);
  char *advice =
      td_format(td_translate("%s An earlier one, %s, ran the node too: so the program uses an old "
                             "value again, which it computed before that pass. A cache such as "
                             "parametrize.cached(), or a state that goes on, keeps such a value."),
                meaning, which);
  free(which);
  free(meaning);
  return advice;
}

/* What to do about an error of PyTorch, or NULL. */
static const char *
advice_of_error(const char *text) {
#define TD_ERROR_ADVICE(part, advice)                                                              \
  if (strstr(text, part)) return advice;
#include "engine/profile/findings/error_advice.def"
#undef TD_ERROR_ADVICE
  return NULL;
}

static char *
advise(td_find_troubles *self, const td_catalog *catalog, td_tape *tape, td_finding_kind kind,
       const td_trouble *trouble) {
  if (kind == TD_FINDING_second_backward) return advise_on_second(self, catalog, trouble);
  if (kind == TD_FINDING_version_conflict) return advise_on_conflict(self, catalog, tape, trouble);
  if (kind == TD_FINDING_wrong_shape)
    return td_dup_string(
        td_translate("Each gradient that a backward function returns must have the shape of "
                     "the input that it is for."));
  if (kind == TD_FINDING_gradient_written)
    return td_dup_string(td_translate(
        "Both got the same tensor, so the one that waited used what the other made of "
        "it, and its gradients may be wrong. Write into a copy: grad = grad.clone()."));
  if (kind == TD_FINDING_error) {
    const char *advice = advice_of_error(td_tape_string(tape, trouble->event.error.text));
    if (advice) return td_dup_string(td_translate(advice));
  }
  char *meaning = td_why_mean(catalog, tape, &trouble->event);
  bool asks = self->knows_edges && trouble->event.event.kind == TD_EVENT_anomaly &&
              td_cause_of_forward(&trouble->event.anomaly) && self->n_traced++ < EXPLAINED_MAX;
  char *first = asks ? td_birth_first_gradient(catalog, tape, trouble->seq) : td_dup_string("");
  char *text = td_format("%s%s%s", meaning, *meaning && *first ? " " : "", first);
  free(meaning);
  free(first);
  return text;
}

/* Adds a problem to those that are like it. */
static void
add(td_find_troubles *self, td_held_trouble *trouble, td_findings *findings) {
  uint32_t *like = &self->found[trouble->key];
  if (*like) {
    findings->items[*like - 1].n++;
    fini_finding(&trouble->finding);
    return;
  }
  td_findings_add(findings, trouble->finding);
  *like = findings->n;
}

#define TOLD_LED (UINT64_C(1) << 63)

static void
append(td_finding *finding, char *sentence) {
  char *advice = td_format(*finding->advice ? "%s %s" : "%s%s", finding->advice, sentence);
  free(finding->advice);
  free(sentence);
  finding->advice = advice;
}

/* The place of a problem of an earlier segment that is held, or TD_NONE. */
static uint32_t
find_held(const td_find_troubles *self, uint64_t seq) {
  for (uint32_t i = 0; i < self->n_held; i++)
    if (self->held[i].finding.seq == seq) return i;
  return TD_NONE;
}

/* If the problem is held, that one is added, or it would be again later. */
static void
add_first(td_find_troubles *self, td_held_trouble *trouble, td_findings *findings) {
  uint32_t at = find_held(self, trouble->finding.seq);
  if (at == TD_NONE) return add(self, trouble, findings);
  fini_finding(&trouble->finding);
  add(self, &self->held[at], findings);
  memmove(&self->held[at], &self->held[at + 1], (self->n_held - at - 1) * sizeof *self->held);
  self->n_held--;
}

/* A birth that others came of is told once, however many they are. Of those, the first one in the
 * gradients is named. */
static void
add_led(td_find_troubles *self, td_held_trouble *trouble, char *led, td_findings *findings) {
  if (!self->found[trouble->key])
    add_first(self, trouble, findings);
  else
    fini_finding(&trouble->finding);
  uint32_t number = self->found[trouble->key];
  uint64_t *n = td_number_map_put(&self->led, number);
  ++*n;
  if (!led || *n & TOLD_LED) {
    free(led);
    return;
  }
  *n |= TOLD_LED;
  append(&findings->items[number - 1], led);
}

/* In words, a birth in the gradients that an earlier birth led to; else NULL. */
static char *
dup_led(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  if (event->event.kind != TD_EVENT_anomaly || td_cause_of_forward(&event->anomaly)) return NULL;
  char *what = td_why_describe(catalog, tape, event);
  char *text = td_format(td_translate("In the gradients it led to this: %s."), what);
  free(what);
  return text;
}

static void
hold(td_find_troubles *self, td_held_trouble trouble) {
  TD_GROW(self->held, self->n_held, self->held_capacity);
  self->held[self->n_held++] = trouble;
}

/* An error that only says again what the conflict before it said. */
static bool
repeats_conflict(td_find_troubles *self, td_tape *tape, const td_any_event *event) {
  const td_event_version_conflict *conflict = &self->conflict;
  if (event->event.kind == TD_EVENT_version_conflict) self->conflict = event->version_conflict;
  return event->event.kind == TD_EVENT_error && conflict->event.kind &&
         conflict->node == event->error.node && conflict->graph_task == event->error.graph_task &&
         strstr(td_tape_string(tape, event->error.text), "modified by an inplace operation");
}

static bool
has_name(const td_catalog *catalog, uint32_t node, const char *const *names) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  if (!facts) return false;
  for (; *names; names++) {
    size_t n = strlen(*names);
    if (!strncmp(facts->name, *names, n) && !strncmp(facts->name + n, "Backward", 8)) return true;
  }
  return false;
}

/* An Inf that a program puts there on purpose, of which a NaN came. The mistake is where the NaN
 * was made: mostly the Inf does no harm. */
static bool
is_mask(const td_catalog *catalog, const td_event_anomaly *inf, const td_event_anomaly *made) {
  static const char *const fill[] = {"MaskedFill", "Where", "SWhere", "IndexFill",
                                     "IndexPut",   "Fill",  NULL};
  static const char *const softmax[] = {"Softmax", "LogSoftmax", NULL};
  bool is_made = made->kind == TD_anomaly_kind_nan && made->born == TD_birthplace_forward;
  bool is_put = inf->born == TD_birthplace_forward || inf->born == TD_birthplace_data;
  if (!is_made || !is_put || inf->kind != TD_anomaly_kind_inf) return false;
  return has_name(catalog, inf->node, fill) ||
         (inf->born == TD_birthplace_data && has_name(catalog, made->node, softmax));
}

/* The Inf of a mask that led to a trouble, or NULL. */
static const td_birth_at *
find_mask(td_find_troubles *self, const td_catalog *catalog, const td_trouble *trouble) {
  uint64_t cause;
  td_event_anomaly birth;
  if (!td_birth_of(&trouble->event, &birth) || birth.born != TD_birthplace_forward) return NULL;
  if (birth.kind != TD_anomaly_kind_nan || self->n_searched++ >= SEARCHED_MAX) return NULL;
  if (!td_cause_find_among(catalog, &self->births, trouble->seq, &birth, &cause)) return NULL;
  const td_birth_at *found = td_births_find(&self->births, cause);
  return is_mask(catalog, &found->event, &birth) ? found : NULL;
}

/* What follows from them tells of them. */
static void
note_masks(td_find_troubles *self, const td_catalog *catalog) {
  for (uint32_t i = 0; i < self->n && self->knows_edges; i++) {
    const td_birth_at *mask = find_mask(self, catalog, &self->items[i]);
    if (mask) *td_number_map_put(&self->masks, mask->seq) = 1;
  }
}

/* The first birth in the line that led to one, but for masks. False if nothing led to it. */
static bool
find_first(td_find_troubles *self, const td_catalog *catalog, td_trouble *trouble) {
  uint64_t cause;
  bool is_led = false;
  for (int i = 0; i < LED_MAX && self->n_searched < SEARCHED_MAX; i++) {
    td_event_anomaly birth;
    if (!td_birth_of(&trouble->event, &birth)) break;
    self->n_searched++;
    if (!td_cause_find_among(catalog, &self->births, trouble->seq, &birth, &cause)) break;
    const td_birth_at *found = td_births_find(&self->births, cause);
    if (is_mask(catalog, &found->event, &birth)) break;
    trouble->seq = cause;
    trouble->event.anomaly = found->event;
    is_led = true;
  }
  return is_led;
}

/* Which Inf it came of stands before what it led to. */
static void
tell_mask(td_find_troubles *self, const td_catalog *catalog, td_tape *tape,
          const td_trouble *trouble, td_finding *finding) {
  const td_birth_at *mask = self->knows_edges ? find_mask(self, catalog, trouble) : NULL;
  if (!mask) return;
  td_any_event inf = {.anomaly = mask->event};
  inf.event.kind = TD_EVENT_anomaly;
  char *what = td_why_describe(catalog, tape, &inf);
  char *cause = td_format(td_translate("It came of this: %s."), what);
  char *advice = td_format(*finding->advice ? "%s %s" : "%s%s", cause, finding->advice);
  free(what);
  free(cause);
  free(finding->advice);
  finding->advice = advice;
}

static void
tell(td_find_troubles *self, const td_trouble *of, const td_catalog *catalog, td_tape *tape,
     td_findings *findings) {
  td_trouble first = *of;
  const td_trouble *trouble = &first;
  const td_any_event *event = &trouble->event;
  if (repeats_conflict(self, tape, event)) return;
  if (td_number_map_find(&self->masks, of->seq)) return;
  bool is_led = self->knows_edges && find_first(self, catalog, &first);
  uint32_t node = td_why_node_of(event);
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  td_finding finding = {.kind = kind_of(tape, event), .seq = trouble->seq, .node = node, .n = 1};
  finding.line = td_finding_line(facts);
  uint32_t key = is_of_parameter(event)
                     ? key_of(self, &(td_finding){.kind = finding.kind}, "", text_of(tape, event))
                     : key_of(self, &finding, facts ? facts->name : "", text_of(tape, event));
  if (trouble->is_doubted || !self->found[key]) {
    finding.text = td_why_describe(catalog, tape, event);
    finding.advice = advise(self, catalog, tape, finding.kind, trouble);
    tell_mask(self, catalog, tape, trouble, &finding);
  }
  td_held_trouble told = {.finding = finding, .key = key};
  if (trouble->is_doubted) return hold(self, told);
  if (is_led)
    add_led(self, &told, dup_led(catalog, tape, &of->event), findings);
  else
    add(self, &told, findings);
}

void
td_find_troubles_tell(td_find_troubles *self, const td_catalog *catalog, td_tape *tape,
                      td_findings *findings) {
  uint32_t n_held = self->n_held;
  self->n_held = 0;
  for (uint32_t i = 0; i < n_held; i++)
    if (i < self->n_believed)
      add(self, &self->held[i], findings);
    else
      self->held[self->n_held++] = self->held[i];
  self->n_believed = 0;
  self->n_searched = 0;
  note_masks(self, catalog);
  for (uint32_t i = 0; i < self->n; i++)
    tell(self, &self->items[i], catalog, tape, findings);
  self->n = 0;
}

void
td_find_troubles_finish(td_find_troubles *self, const td_findings *findings) {
  for (uint32_t i = 0; i < self->led.n; i++) {
    uint64_t n = self->led.entries[i].value & ~TOLD_LED;
    append(&findings->items[self->led.entries[i].key - 1],
           td_format(td_translate("It led to %llu in all."), (unsigned long long)n));
  }
}

void
td_find_troubles_fini(td_find_troubles *self) {
  forget_held(self, 0);
  free(self->held);
  free(self->items);
  free(self->found);
  td_text_table_fini(&self->keys);
  td_births_fini(&self->births);
  td_number_map_fini(&self->led);
  td_number_map_fini(&self->went_on);
  td_number_map_fini(&self->masks);
  *self = (td_find_troubles){0};
}
