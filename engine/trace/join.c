/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/join.h"

#include "engine/base/alloc.h"
#include "engine/events/ring.h"
#include "engine/trace/derive/derive.h"
#include "engine/trace/renumber.h"
#include "engine/trace/writer.h"

#include <unistd.h>

/* A recording may begin late in a process that has numbered things before; as in replay. */
#define EARLIER_IDS (1u << 16)
#define EARLIER_IDS_TRUSTED (1u << 20)
/* Two processes of one machine see the same difference of wall clock and monotonic clock, but for
 * what sets the wall clock right meanwhile. */
#define SAME_MACHINE_NS 1000000000u
#define NAME_BYTES_MAX 60

typedef struct part {
  const char *path;
  td_directory directory;
  td_renumbering ids;
  uint64_t start_ns;       /* on the wall clock of the first part's machine */
  uint64_t clock_error_ns; /* UINT64_MAX: unknown */
  uint64_t gone_ns;        /* on the wall clock when its process was gone; 0: unknown */
  int32_t rank;            /* of its first process, -1 for none */
  bool tells_process;
  bool *told; /* (owned) [n_told] threads that a thread_new is about */
  uint32_t n_told;
  char **names; /* (owned) [n_names] short strings by number, among them the devices' */
  uint32_t n_names;
} part;

typedef struct join {
  part *parts; /* (owned) */
  size_t n_parts;
  uint32_t next[TD_N_ID_SPACES];
  uint64_t start_ns;
  td_writer *writer;
  td_encoder encoder;
  uint64_t n_written; /* of the thread that is being written */
  td_decoded decoded;
  void *record; /* (owned) room for the greatest */
} join;

static bool
has_fields_of_newer(const td_decoder *decoder, uint32_t kind) {
  return decoder->kinds[kind].n_fields > td_event_type_get(kind)->n_fields;
}

/* The id is one that the renumbering has accepted, and so within its map. */
static void
remember_name(part *part, const td_event_string *event) {
  if (event->length > NAME_BYTES_MAX || event->id == TD_NONE || event->id == 0) return;
  if (event->id >= part->n_names) {
    uint32_t n = part->ids.maps[TD_ID_STRING].n;
    part->names = td_realloc(part->names, n, sizeof *part->names);
    memset(part->names + part->n_names, 0, (n - part->n_names) * sizeof *part->names);
    part->n_names = n;
  }
  free(part->names[event->id]);
  part->names[event->id] = td_format("%.*s", (int)event->length, (const char *)(event + 1));
}

static void
remember_told(part *part, uint32_t thread) {
  if (thread == TD_NONE) return;
  if (thread >= part->n_told) {
    uint32_t n = part->ids.maps[TD_ID_THREAD].n;
    part->told = td_realloc(part->told, n, sizeof *part->told);
    memset(part->told + part->n_told, 0, (n - part->n_told) * sizeof *part->told);
    part->n_told = n;
  }
  part->told[thread] = true;
}

static void
take_notice(part *part, const td_event *event) {
  if (event->kind == TD_EVENT_string) remember_name(part, (const td_event_string *)event);
  if (event->kind == TD_EVENT_thread_new)
    remember_told(part, ((const td_event_thread_new *)event)->id);
  if (event->kind == TD_EVENT_process_new && !part->tells_process) {
    part->tells_process = true;
    part->rank = ((const td_event_process_new *)event)->rank;
  }
}

static td_status
survey_events(part *part, const td_decoded *decoded, uint64_t limit, td_error *error) {
  td_status status = TD_OK;
  if (decoded->n_unknown) return td_error_set(error, TD_UNSUPPORTED, "a newer Tapedeck wrote it");
  for (uint32_t i = 0; i < decoded->n_events && !status; i++) {
    const td_event *event = td_decoded_get(decoded, i);
    if (has_fields_of_newer(&part->directory.decoder, event->kind))
      return td_error_set(error, TD_UNSUPPORTED, "a newer Tapedeck wrote it");
    status = td_renumbering_note_event(&part->ids, event, limit, error);
    if (!status) take_notice(part, event);
  }
  return status;
}

static td_status
survey(part *part, td_decoded *decoded, td_error *error) {
  td_directory *directory = &part->directory;
  if (!td_directory_is_sound(directory))
    return td_error_set(error, TD_DAMAGED, "%s", directory->damage);
  uint64_t earlier = directory->trusted ? EARLIER_IDS_TRUSTED : EARLIER_IDS;
  uint64_t limit = TD_MIN(td_directory_count_events(directory) + earlier, TD_NONE);
  td_status status = td_renumbering_note(&part->ids, TD_ID_PROCESS, 0, limit, error);
  if (!status) status = td_renumbering_note(&part->ids, TD_ID_THREAD, 0, limit, error);
  for (uint32_t t = 0; t < directory->n_threads; t++)
    for (uint32_t c = 0; c < directory->threads[t].n_chunks && !status; c++) {
      status = td_directory_load(directory, t, c, decoded, error);
      if (!status) status = survey_events(part, decoded, limit, error);
    }
  return status;
}

static void
place_in_time(part *part, const td_tape_header *first) {
  const td_tape_header *own = &part->directory.header;
  uint64_t monotonic_ns = own->start_monotonic_ns - first->start_monotonic_ns;
  uint64_t difference = own->start_wall_ns - first->start_wall_ns - monotonic_ns;
  uint64_t distance = TD_MIN(difference, 0 - difference);
  bool same_machine = own->start_monotonic_ns && distance < SAME_MACHINE_NS;
  part->start_ns = same_machine ? first->start_wall_ns + monotonic_ns : own->start_wall_ns;
  part->clock_error_ns = same_machine ? distance : UINT64_MAX;
  if (own == first) part->clock_error_ns = 0;
}

static void
place_all_in_time(join *join) {
  join->start_ns = UINT64_MAX;
  for (size_t i = 0; i < join->n_parts; i++) {
    place_in_time(&join->parts[i], &join->parts[0].directory.header);
    join->start_ns = TD_MIN(join->start_ns, join->parts[i].start_ns);
  }
}

static void
flush(join *join, uint32_t thread) {
  if (!join->encoder.n_events) return;
  td_writer_events(join->writer, &join->encoder, thread, join->n_written);
  join->n_written += join->encoder.n_events;
  uint64_t last_ns = join->encoder.last_ticks;
  td_encoder_begin(&join->encoder);
  td_encoder_continue(&join->encoder, last_ns);
}

static void
write_event(join *join, const td_event *event) {
  if (td_encoder_add(&join->encoder, event)) return;
  flush(join, event->thread);
  td_encoder_add(&join->encoder, event);
}

/* Text of the joined tape's own, cut to what a name is. Returns its number. */
static uint32_t
write_name(join *join, const td_event *head, const char *text) {
  struct {
    td_event_string string;
    char bytes[128];
  } record = {.string = {.event = *head, .id = join->next[TD_ID_STRING]++}};
  record.string.length = (uint32_t)TD_MIN(strlen(text), sizeof record.bytes);
  record.string.event.kind = TD_EVENT_string;
  record.string.event.size = sizeof record;
  memcpy(record.bytes, text, record.string.length);
  write_event(join, &record.string.event);
  return record.string.id;
}

/* "b" of "a/b.tape". */
static uint32_t
write_base_name(join *join, const td_event *when, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t length = strlen(name), suffix = strlen(".tape");
  if (length > suffix && strcmp(name + length - suffix, ".tape") == 0) length -= suffix;
  char *text = td_format("%.*s", (int)TD_MIN(length, 100u), name);
  uint32_t number = write_name(join, when, text);
  free(text);
  return number;
}

static td_event
head_of(td_event_kind kind, size_t size, const td_event *when) {
  return (td_event){
      .time = when->time, .kind = (uint16_t)kind, .size = (uint16_t)size, .thread = when->thread};
}

/* A part that does not say what process it is of is called like its file. */
static void
tell_process(join *join, const part *part, const td_event *when) {
  uint32_t name = write_base_name(join, when, part->path);
  td_event_process_new event = {.event = head_of(TD_EVENT_process_new, sizeof event, when),
                                .process = td_renumbering_get(&part->ids, TD_ID_PROCESS, 0),
                                .rank = -1,
                                .name = name,
                                .clock_error_ns = part->clock_error_ns};
  write_event(join, &event.event);
}

/* Readers take a thread that nobody has told of for one of the first process. What the part says of
 * its threads comes later, and holds. */
static void
tell_threads(join *join, const part *part, const td_event *when) {
  const td_id_map *threads = &part->ids.maps[TD_ID_THREAD];
  for (uint32_t t = 0; t < threads->n; t++) {
    td_event_thread_new event = {.event = head_of(TD_EVENT_thread_new, sizeof event, when),
                                 .id = td_renumbering_get(&part->ids, TD_ID_THREAD, t),
                                 .device = TD_DEVICE_CPU,
                                 .process = td_renumbering_get(&part->ids, TD_ID_PROCESS, 0)};
    if (event.id != TD_NONE && !(t < part->n_told && part->told[t]))
      write_event(join, &event.event);
  }
}

/* Each process has accelerators of its own, for all that its tape can tell. */
static void
name_device(join *join, const part *part, td_event_device_new *event, uint32_t name) {
  const char *text = name < part->n_names && part->names[name] ? part->names[name] : "";
  if (event->device < 0) return;
  char *full = part->rank >= 0 ? td_format("rank %d · %s", (int)part->rank, text)
                               : td_format("process %zu · %s", (size_t)(part - join->parts), text);
  event->name = write_name(join, &event->event, full);
  free(full);
}

static void
rewrite_event(join *join, const part *part, const td_event *event) {
  td_any_event *copy = join->record;
  memcpy(copy, event, event->size);
  td_renumbering_apply(&part->ids, &copy->event);
  copy->event.time += part->start_ns - join->start_ns;
  if (event->kind == TD_EVENT_device_new)
    name_device(join, part, &copy->device_new, ((const td_event_device_new *)event)->name);
  if (event->kind == TD_EVENT_process_new)
    copy->process_new.clock_error_ns =
        TD_MAX(copy->process_new.clock_error_ns, part->clock_error_ns);
  write_event(join, &copy->event);
}

/* The times of a thread rise. */
static void
tell_gone(join *join, const part *part, uint32_t thread) {
  const td_directory *directory = &part->directory;
  bool has_events = thread < directory->n_threads && directory->threads[thread].n_chunks;
  uint64_t own_start_ns = directory->header.start_wall_ns;
  uint64_t gone = part->gone_ns > own_start_ns ? part->gone_ns - own_start_ns : 0;
  uint64_t last = has_events ? join->encoder.last_ticks : 0;
  td_event_process_gone event = {
      .event = {.kind = TD_EVENT_process_gone,
                .size = sizeof event,
                .thread = td_renumbering_get(&part->ids, TD_ID_THREAD, thread)},
      .process = td_renumbering_get(&part->ids, TD_ID_PROCESS, 0)};
  event.event.time = TD_MAX(last, part->start_ns - join->start_ns + gone);
  write_event(join, &event.event);
}

/* All of a thread, one chunk after another. */
static td_status
write_thread(join *join, part *part, uint32_t thread, td_error *error) {
  uint32_t number = td_renumbering_get(&part->ids, TD_ID_THREAD, thread);
  td_status status = TD_OK;
  for (uint32_t c = 0; c < part->directory.threads[thread].n_chunks && !status; c++) {
    status = td_directory_load(&part->directory, thread, c, &join->decoded, error);
    for (uint32_t i = 0; i < join->decoded.n_events && !status; i++)
      rewrite_event(join, part, td_decoded_get(&join->decoded, i));
    flush(join, number);
  }
  return status;
}

static td_status
write_part(join *join, part *part, td_error *error) {
  td_event first = {.time = part->start_ns - join->start_ns,
                    .thread = td_renumbering_get(&part->ids, TD_ID_THREAD, 0)};
  td_status status = TD_OK;
  for (uint32_t t = 0; t < TD_MAX(part->directory.n_threads, 1u) && !status; t++) {
    td_encoder_begin(&join->encoder);
    join->n_written = 0;
    if (t == 0 && !part->tells_process) tell_process(join, part, &first);
    if (t == 0) tell_threads(join, part, &first);
    if (t < part->directory.n_threads) status = write_thread(join, part, t, error);
    if (t == 0 && part->gone_ns && !part->directory.complete) tell_gone(join, part, t);
    flush(join, td_renumbering_get(&part->ids, TD_ID_THREAD, t));
  }
  return status;
}

static td_status
write_all(join *join, const char *path, bool overwrite, td_error *error) {
  uint32_t policy = TD_RING_BLOCK;
  bool whole = true;
  for (size_t i = 0; i < join->n_parts; i++) {
    const td_directory *directory = &join->parts[i].directory;
    if (directory->header.policy == TD_RING_DROP) policy = TD_RING_DROP;
    whole = whole && directory->complete;
  }
  td_status status =
      td_writer_open_made(path, overwrite, policy, join->start_ns, &join->writer, error);
  if (status) return status;
  for (size_t i = 0; i < join->n_parts && !status; i++) {
    status = write_part(join, &join->parts[i], error);
    if (status) td_error_prefix(error, "%s: ", join->parts[i].path);
  }
  if (status)
    td_writer_abandon(join->writer);
  else
    status = whole ? td_writer_close(join->writer, error) : td_writer_cut(join->writer, error);
  if (status) unlink(path);
  return status;
}

static td_status
survey_all(join *join, const char *const *paths, td_error *error) {
  td_status status = TD_OK;
  for (size_t i = 0; i < join->n_parts && !status; i++) {
    part *part = &join->parts[i];
    *part = (struct part){.path = paths[i], .rank = -1};
    status = td_directory_open(part->path, &part->directory, error);
    if (!status) status = td_derive(&part->directory, error);
    if (!status) status = survey(part, &join->decoded, error);
    if (!status) status = td_renumbering_settle(&part->ids, join->next, error);
    if (status) td_error_prefix(error, "%s: ", part->path);
  }
  return status;
}

static void
part_fini(part *part) {
  td_directory_close(&part->directory);
  td_renumbering_fini(&part->ids);
  for (uint32_t i = 0; i < part->n_names; i++)
    free(part->names[i]);
  free(part->names);
  free(part->told);
}

td_status
td_join(const char *const *paths, size_t n, const char *path, bool overwrite, td_error *error) {
  return td_join_gone(paths, NULL, n, path, overwrite, error);
}

td_status
td_join_gone(const char *const *paths, const uint64_t *gone_ns, size_t n, const char *path,
             bool overwrite, td_error *error) {
  join join = {.parts = TD_NEW_N(part, n), .n_parts = n, .next = {[TD_ID_STRING] = 1}};
  join.record = td_alloc(UINT16_MAX, 1);
  td_encoder_init(&join.encoder);
  td_status status = survey_all(&join, paths, error);
  for (size_t i = 0; i < n && gone_ns; i++)
    join.parts[i].gone_ns = gone_ns[i];
  place_all_in_time(&join);
  if (!status) status = write_all(&join, path, overwrite, error);
  for (size_t i = 0; i < n; i++)
    part_fini(&join.parts[i]);
  td_decoded_fini(&join.decoded);
  td_encoder_fini(&join.encoder);
  free(join.record);
  free(join.parts);
  return status;
}
