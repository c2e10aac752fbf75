/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/keeper.h"

#include "engine/base/alloc.h"
#include "engine/trace/cutter.h"

#include <stdlib.h>

/* The recorder writes all events within 50 ms. So no thread has older ones to come. */
#define MARGIN_NS UINT64_C(500000000)
/* A cut leaves this part of the limit free, and steps or time go beyond it by this part. */
#define SLACK 8
/* The events behind the keyframe have at least this part of the limit, or of the keyframe. */
#define PART_LEAST 2

/* A moment between two steps or passes, where the tape can be cut: after all events up to then. */
typedef struct moment {
  uint64_t ticks;
  bool is_step;
} moment;

typedef struct pass {
  uint32_t id;
  bool is_outer;       /* no node called it */
  uint64_t begin, end; /* ticks; UINT64_MAX: under way */
} pass;

struct td_keeper {
  td_keeper_file file;
  td_keep_limit limit;
  td_cutter cutter;
  moment *moments; /* (owned) after the last cut, in time order */
  size_t n_moments, moments_capacity;
  pass *passes; /* (owned) that were under way after the last cut */
  size_t n_passes, passes_capacity;
  uint64_t last_cut;
  bool counts_steps; /* the program does: there was a step */
  uint64_t early;    /* the last event before the recorder began to keep, 0 if there is none */
  td_decoded decoded;
  td_keeper_news news;
};

td_status
td_keeper_open(const char *path, const td_keep_limit *limit, td_keeper **keeper, td_error *error) {
  td_keeper_file file;
  td_status status = td_keeper_file_open(path, &file, error);
  if (status) return status;
  *keeper = TD_NEW(td_keeper);
  (*keeper)->file = file;
  (*keeper)->limit = *limit;
  return TD_OK;
}

void
td_keeper_close(td_keeper *keeper) {
  td_keeper_file_close(&keeper->file);
  td_cutter_fini(&keeper->cutter);
  td_decoded_fini(&keeper->decoded);
  free(keeper->moments);
  free(keeper->passes);
  free(keeper);
}

void
td_keeper_set_limit(td_keeper *keeper, const td_keep_limit *limit) {
  keeper->limit = *limit;
}

int
td_keeper_can_free(const char *folder) {
  return td_keeper_file_can_free(folder);
}

/* ---- what arrives ---- */

/* Threads are read one after another, so a moment may come after a later one. */
static void
add_moment(td_keeper *self, uint64_t ticks, bool is_step) {
  TD_GROW(self->moments, self->n_moments, self->moments_capacity);
  size_t at = self->n_moments++;
  for (; at > 0 && self->moments[at - 1].ticks > ticks; at--)
    self->moments[at] = self->moments[at - 1];
  self->moments[at] = (moment){ticks, is_step};
}

static void
begin_pass(td_keeper *self, const td_event_graph_task_begin *event) {
  TD_GROW(self->passes, self->n_passes, self->passes_capacity);
  self->passes[self->n_passes++] =
      (pass){event->graph_task, event->depth == 0, event->event.time, UINT64_MAX};
}

static void
end_pass(td_keeper *self, const td_event_graph_task_end *event) {
  for (size_t i = self->n_passes; i-- > 0;) {
    if (self->passes[i].id != event->graph_task) continue;
    self->passes[i].end = event->event.time;
    if (self->passes[i].is_outer) add_moment(self, event->event.time, false);
    return;
  }
}

static void
look_at(td_keeper *self, const td_event *event) {
  switch (event->kind) {
  case TD_EVENT_graph_task_begin:
    begin_pass(self, (const void *)event);
    break;
  case TD_EVENT_graph_task_end:
    end_pass(self, (const void *)event);
    break;
  case TD_EVENT_step:
    self->counts_steps = true;
    add_moment(self, event->time, true);
    break;
  case TD_EVENT_anomaly:
    self->news.nan |= ((const td_event_anomaly *)event)->kind == TD_anomaly_kind_nan;
    break;
  case TD_EVENT_error:
    self->news.error = true;
    break;
  }
}

static void
note_early(td_keeper *self, const td_chunk_header *header) {
  self->early = TD_MAX(self->early, header->last_ticks);
  self->news.nan = self->news.error = false;
}

static td_status
read_new(td_keeper *self, td_error *error) {
  td_tape_file *file = &self->file.directory.file;
  const td_keeper_chunk *chunk;
  td_status status = TD_OK;
  while (!status && (chunk = td_keeper_file_next(&self->file))) {
    uint32_t checksum;
    status = td_tape_file_contents(file, chunk->offset, &chunk->header, &checksum, error);
    if (!status)
      status = td_decoder_run(&self->file.directory.decoder, &chunk->header, file->raw,
                              &self->decoded, error);
    for (uint32_t i = 0; i < self->decoded.n_events && !status; i++)
      look_at(self, td_decoded_get(&self->decoded, i));
    if (td_keeper_file_is_early(&self->file, chunk)) note_early(self, &chunk->header);
  }
  return status;
}

/* ---- where to cut ---- */

/* A pass that a cut has already gone through does not count: it may never end. */
static bool
is_in_pass(const td_keeper *self, uint64_t ticks) {
  for (size_t i = 0; i < self->n_passes; i++) {
    const pass *pass = &self->passes[i];
    if (pass->begin > self->last_cut && pass->begin <= ticks && ticks < pass->end) return true;
  }
  return false;
}

static uint64_t
to_ticks(const td_keeper *self, uint64_t ns) {
  const td_tape_header *start = &self->file.directory.header;
  uint64_t n_ticks = self->file.last.clock_ticks - start->start_ticks;
  uint64_t n_ns = self->file.last.clock_monotonic_ns - start->start_monotonic_ns;
  return n_ns ? (uint64_t)((double)ns * ((double)n_ticks / (double)n_ns)) : ns;
}

/* Of the last whole pass. It stays: a program may do nothing for long after it, or free much. */
static uint64_t
begin_of_last_pass(const td_keeper *self) {
  uint64_t begin = self->last_cut;
  for (size_t i = 0; i < self->n_passes; i++)
    if (self->passes[i].is_outer && self->passes[i].end != UINT64_MAX)
      begin = TD_MAX(begin, self->passes[i].begin);
  return begin > self->last_cut ? begin : UINT64_MAX;
}

/* The last moment up to `ticks` outside all passes, or 0. */
static uint64_t
find_moment_before(const td_keeper *self, uint64_t ticks) {
  for (size_t i = self->n_moments; i-- > 0;) {
    uint64_t at = self->moments[i].ticks;
    if (at <= self->last_cut || at < self->early) break;
    if (at <= ticks && !is_in_pass(self, at)) return at;
  }
  return 0;
}

/* The first moment between these two outside all passes, or 0. */
static uint64_t
find_moment_after(const td_keeper *self, uint64_t ticks, uint64_t most) {
  for (size_t i = 0; i < self->n_moments && self->moments[i].ticks <= most; i++)
    if (self->moments[i].ticks > ticks && !is_in_pass(self, self->moments[i].ticks))
      return self->moments[i].ticks;
  return 0;
}

static bool
is_step(const td_keeper *self, size_t moment) {
  return self->moments[moment].is_step || !self->counts_steps;
}

static size_t
count_steps(const td_keeper *self) {
  size_t n = 0;
  for (size_t i = 0; i < self->n_moments; i++)
    n += is_step(self, i);
  return n;
}

/* The end of the last step up to `most` that is too old, or 0. A step outside all passes is better,
 * because a cut there leaves whole steps. */
static uint64_t
cut_for_steps(const td_keeper *self, uint64_t most, bool exact) {
  size_t n = count_steps(self), wanted = self->limit.steps, n_after = 0;
  if (!wanted || n <= wanted + (exact ? 0 : TD_MAX(wanted / SLACK, (size_t)1))) return 0;
  uint64_t last = 0;
  for (size_t i = self->n_moments; i-- > 0;) {
    uint64_t at = self->moments[i].ticks;
    if (!is_step(self, i) || n_after++ < wanted || at > most) continue;
    if (!is_in_pass(self, at)) return at;
    last = TD_MAX(last, at);
  }
  return last;
}

/* Of the bytes on the tape, those of events, and those that such may have. */
typedef struct room {
  uint64_t taken, limit, keyframe;
} room;

/* What lives may take more than the limit. The latest events stay nevertheless. */
static room
measure_room(const td_keeper *self) {
  uint64_t taken = td_keeper_file_chunk_bytes(&self->file), limit = self->limit.bytes;
  uint64_t keyframe = self->file.n_bytes - taken, least = TD_MAX(limit, keyframe) / PART_LEAST;
  uint64_t left = limit > keyframe ? limit - keyframe : 0;
  return (room){taken, TD_MAX(left, least), keyframe};
}

/* Each cut writes the keyframe again. So the larger it is, the more a cut must let go. */
static uint64_t
slack_of(const room *room) {
  uint64_t for_keyframe = TD_MIN(room->keyframe / PART_LEAST, room->limit / 2);
  return TD_MAX(room->limit / SLACK, for_keyframe);
}

/* The last event of as many chunks as are too many, or 0. */
static uint64_t
cut_for_bytes(const td_keeper *self, bool exact) {
  room room = measure_room(self);
  uint64_t n = room.taken, last = 0;
  if (!self->limit.bytes || n <= room.limit) return 0;
  uint64_t wanted = room.limit - (exact ? 0 : slack_of(&room));
  for (size_t i = 0; i < self->file.n_chunks && n > wanted; i++) {
    n -= td_keeper_chunk_bytes(&self->file.chunks[i]);
    last = TD_MAX(last, self->file.chunks[i].header.last_ticks);
  }
  return last;
}

static uint64_t
cut_for_time(const td_keeper *self, uint64_t newest, bool exact) {
  uint64_t ns = self->limit.ns;
  if (!ns || self->file.n_chunks == 0) return 0;
  uint64_t most = to_ticks(self, exact ? ns : ns + ns / SLACK), ticks = to_ticks(self, ns);
  uint64_t oldest = self->file.chunks[0].header.first_ticks;
  return newest > oldest && newest - oldest > most ? newest - ticks : 0;
}

static uint64_t
count_steps_before(const td_keeper *self, uint64_t ticks) {
  uint64_t n = 0;
  for (size_t i = 0; i < self->n_moments && self->moments[i].ticks <= ticks; i++)
    n += is_step(self, i);
  return n;
}

static uint64_t
count_bytes_before(const td_keeper *self, uint64_t ticks) {
  uint64_t n = 0;
  for (size_t i = 0; i < self->file.n_chunks; i++)
    if (self->file.chunks[i].header.last_ticks <= ticks)
      n += td_keeper_chunk_bytes(&self->file.chunks[i]);
  return n;
}

/* A cut through a pass is worth it if as much would go as may stay. What is too new to be cut off
 * does not count: it may have a moment. */
static bool
is_worth_it(const td_keeper *self, uint64_t cut) {
  const td_keep_limit *limit = &self->limit;
  uint64_t oldest = self->file.n_chunks ? self->file.chunks[0].header.first_ticks : cut;
  oldest = TD_MAX(oldest, self->last_cut);
  return (limit->bytes && count_bytes_before(self, cut) >= measure_room(self).limit) ||
         (limit->steps && count_steps_before(self, cut) >= limit->steps) ||
         (limit->ns && cut > oldest && cut - oldest >= to_ticks(self, limit->ns));
}

/* Where to cut through passes that leave no moment, or 0. If the last whole pass is all that could
 * go, only the disk is a reason. */
static uint64_t
cut_anywhere(const td_keeper *self, uint64_t wanted, uint64_t last_pass) {
  uint64_t spared = TD_MIN(wanted, last_pass - 1);
  if (spared > self->last_cut) return is_worth_it(self, spared) ? spared : 0;
  return self->limit.bytes && is_worth_it(self, wanted) ? wanted : 0;
}

/* Where the next cut is, or 0. Steps and time are the least that stays, and bytes are the most: if
 * no moment comes before the wanted place, a later one will do. */
static uint64_t
choose_cut(const td_keeper *self, bool is_last) {
  uint64_t newest = self->file.last.clock_ticks, margin = is_last ? 0 : to_ticks(self, MARGIN_NS);
  if (newest <= margin) return 0;
  uint64_t most = newest - margin, for_bytes = TD_MIN(cut_for_bytes(self, is_last), most);
  uint64_t wanted = TD_MAX(cut_for_steps(self, most, is_last), cut_for_time(self, newest, is_last));
  wanted = TD_MIN(TD_MAX(wanted, for_bytes), most);
  if (wanted <= self->last_cut) return 0;
  uint64_t last_pass = begin_of_last_pass(self);
  uint64_t found = find_moment_before(self, TD_MIN(wanted, last_pass));
  if (!found && for_bytes) found = find_moment_after(self, wanted, TD_MIN(most, last_pass));
  if (!found) found = cut_anywhere(self, wanted, last_pass);
  return found >= self->early ? found : 0;
}

/* ---- what is left ---- */

static void
forget_before(td_keeper *self, uint64_t cut) {
  size_t n_moments = 0, n_passes = 0;
  for (size_t i = 0; i < self->n_moments; i++)
    if (self->moments[i].ticks > cut) self->moments[n_moments++] = self->moments[i];
  for (size_t i = 0; i < self->n_passes; i++)
    if (self->passes[i].end > cut) self->passes[n_passes++] = self->passes[i];
  self->n_moments = n_moments;
  self->n_passes = n_passes;
}

static void
tell_news(td_keeper *self, td_keeper_news *news) {
  const td_keyframe_counts *gone = &self->cutter.keyframe.counts;
  self->news.in_pass = is_in_pass(self, self->file.last.clock_ticks);
  self->news.is_complete = self->file.is_complete;
  self->news.n_steps = count_steps(self);
  self->news.n_keyframe_bytes = self->file.n_bytes - td_keeper_file_chunk_bytes(&self->file);
  self->news.n_steps_gone = gone->n_steps;
  self->news.n_passes_gone = gone->n_passes;
  self->news.n_events_gone = gone->n_events;
  *news = self->news;
  self->news.nan = self->news.error = false;
}

td_status
td_keeper_read(td_keeper *self, td_keeper_news *news, td_error *error) {
  td_status status = read_new(self, error);
  tell_news(self, news);
  return status;
}

td_status
td_keeper_cut(td_keeper *self, bool is_last, bool *is_done, td_error *error) {
  uint64_t cut = choose_cut(self, is_last);
  *is_done = cut == 0;
  if (!cut) return TD_OK;
  td_status status = td_cutter_cut(&self->cutter, &self->file, cut, error);
  if (!status) forget_before(self, self->last_cut = cut);
  return status;
}
