/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Flame graphs: stacks with their time, for flamegraph.pl and its kin, and for speedscope. */
#include "engine/exchange/export.h"

#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/base/number_map.h"
#include "engine/base/utf8.h"
#include "engine/profile/report/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *
thread_name(const td_stacks *stacks, uint32_t thread) {
  return td_text_table_get(&stacks->threads, thread + 1);
}

/* ---- folded ---- */

/* A semicolon ends a frame, and a line a stack. */
static void
print_frames(FILE *out, const char *text) {
  char *safe = td_utf8_make(td_dup_string(text));
  for (const char *at = safe; *at; at++)
    fputc(*at == ';' ? ':' : *at == TD_STACK_SEPARATOR ? ';' : *at == '\r' ? ' ' : *at, out);
  free(safe);
}

static void
print_folded(const td_stacks *stacks, FILE *out) {
  td_number_map sums = {0};
  for (size_t i = 0; i < stacks->n; i++) {
    const td_stack_sample *sample = &stacks->samples[i];
    *td_number_map_put(&sums, (uint64_t)sample->thread << 32 | sample->stack) += sample->ns;
  }
  for (size_t i = 0; i < stacks->n; i++) {
    const td_stack_sample *sample = &stacks->samples[i];
    uint64_t *sum = td_number_map_find(&sums, (uint64_t)sample->thread << 32 | sample->stack);
    if (!*sum) continue;
    print_frames(out, thread_name(stacks, sample->thread));
    fputc(';', out);
    print_frames(out, td_text_table_get(&stacks->texts, sample->stack));
    fprintf(out, " %" PRIu64 "\n", *sum);
    *sum = 0;
  }
  td_number_map_fini(&sums);
}

td_status
td_export_folded(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  td_stacks stacks;
  td_status status = td_stacks_make(tape, wish->graph_task, &stacks, error);
  if (!status) print_folded(&stacks, out);
  td_stacks_fini(&stacks);
  return status;
}

/* ---- speedscope ---- */

typedef struct speedscope {
  td_json json;
  const td_stacks *stacks;
  td_text_table frames;
} speedscope;

/* The numbers of a stack's frames, from 0. */
static void
write_stack(speedscope *self, const char *stack, bool is_written) {
  if (is_written) td_json_begin_array(&self->json);
  for (const char *frame = stack; frame;) {
    const char *end = strchr(frame, TD_STACK_SEPARATOR);
    size_t length = end ? (size_t)(end - frame) : strlen(frame);
    uint32_t number = td_text_table_put(&self->frames, frame, length);
    if (is_written) td_json_u64(&self->json, number);
    frame = end ? end + 1 : NULL;
  }
  if (is_written) td_json_end_array(&self->json);
}

/* Number 0 is the empty name: a module may have it. */
static void
write_frames(speedscope *self) {
  for (uint32_t i = 1; i <= self->stacks->texts.n; i++)
    write_stack(self, td_text_table_get(&self->stacks->texts, i), false);
  td_json_key(&self->json, "shared");
  td_json_begin_object(&self->json);
  td_json_key(&self->json, "frames");
  td_json_begin_array(&self->json);
  for (uint32_t i = 0; i <= self->frames.n; i++) {
    td_json_begin_object(&self->json);
    td_json_key(&self->json, "name");
    td_json_string(&self->json, td_text_table_get(&self->frames, i));
    td_json_end_object(&self->json);
  }
  td_json_end_array(&self->json);
  td_json_end_object(&self->json);
}

static void
write_text(td_json *json, const char *key, const char *text) {
  td_json_key(json, key);
  td_json_string(json, text);
}

/* The samples of one thread, from `first` to `end`. */
static void
write_thread(speedscope *self, size_t first, size_t end) {
  const td_stacks *stacks = self->stacks;
  uint64_t sum = 0;
  td_json_begin_object(&self->json);
  write_text(&self->json, "type", "sampled");
  write_text(&self->json, "name", thread_name(stacks, stacks->samples[first].thread));
  write_text(&self->json, "unit", "nanoseconds");
  td_json_key(&self->json, "samples");
  td_json_begin_array(&self->json);
  for (size_t i = first; i < end; i++)
    write_stack(self, td_text_table_get(&stacks->texts, stacks->samples[i].stack), true);
  td_json_end_array(&self->json);
  td_json_key(&self->json, "weights");
  td_json_begin_array(&self->json);
  for (size_t i = first; i < end; i++) {
    td_json_u64(&self->json, stacks->samples[i].ns);
    sum += stacks->samples[i].ns;
  }
  td_json_end_array(&self->json);
  td_json_key(&self->json, "startValue");
  td_json_u64(&self->json, 0);
  td_json_key(&self->json, "endValue");
  td_json_u64(&self->json, sum);
  td_json_end_object(&self->json);
}

static void
write_threads(speedscope *self) {
  const td_stacks *stacks = self->stacks;
  td_json_key(&self->json, "profiles");
  td_json_begin_array(&self->json);
  for (size_t first = 0, i = 1; i <= stacks->n; i++) {
    bool ends = i == stacks->n || stacks->samples[i].thread != stacks->samples[first].thread;
    if (!ends) continue;
    write_thread(self, first, i);
    first = i;
  }
  td_json_end_array(&self->json);
}

td_status
td_export_speedscope(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  td_stacks stacks;
  speedscope self = {.stacks = &stacks};
  td_status status = td_stacks_make(tape, wish->graph_task, &stacks, error);
  td_json_init(&self.json, out);
  td_json_begin_object(&self.json);
  write_text(&self.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  write_text(&self.json, "exporter", "tapedeck");
  write_text(&self.json, "name", "Backward passes");
  write_frames(&self);
  write_threads(&self);
  td_json_end_object(&self.json);
  td_json_newline(&self.json);
  td_text_table_fini(&self.frames);
  td_stacks_fini(&stacks);
  return status;
}
