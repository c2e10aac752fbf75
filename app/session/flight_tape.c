/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/flight_tape.h"

#include "app/common/output_file.h"
#include "app/common/shell_name.h"
#include "engine/replay/segments.h"
#include "engine/trace/compact.h"
#include "engine/trace/derive/derive.h"

#include <errno.h>
#include <glib/gstdio.h>

/* A dump has the whole pass that caused it, if that ends soon. */
#define PATIENCE_US (2 * G_USEC_PER_SEC)
/* A program that is full of NaN must not fill the disk. */
#define DUMPS_MAX 10
#define PAUSE_US (10 * 60 * G_USEC_PER_SEC)
/* A cut that fails reads all that it would let go. */
#define AGAIN_US (10 * G_USEC_PER_SEC)
/* How often a tape is cut again because it is too long with what follows from it. */
#define DERIVED_TRIES 4

enum { CAUSE_NAN, CAUSE_ERROR, N_CAUSES };
static const td_flight_cause causes[N_CAUSES] = {{"nan", "a NaN was born"},
                                                 {"error", "a backward pass failed"}};

typedef struct trigger {
  gint64 came_us; /* 0: no dump is due */
  gint64 last_us; /* of the last dump */
  guint n_dumps;
} trigger;

struct td_flight_tape {
  char *path; /* (owned) */
  td_keep_limit limit;
  const td_announcer *announcer; /* (borrowed) */
  td_keeper *keeper;             /* (owned) or NULL before the tape exists */
  td_keeper_news news;
  trigger triggers[N_CAUSES];
  bool has_failed;  /* it can no longer be followed */
  gint64 no_cut_us; /* no cut before then, because one failed */
  bool told_growth;
};

td_flight_tape *
td_flight_tape_new(char *path, const td_keep_limit *limit, const td_announcer *announcer) {
  td_flight_tape *self = g_new0(td_flight_tape, 1);
  self->path = path;
  self->limit = *limit;
  self->announcer = announcer;
  return self;
}

void
td_flight_tape_set_limit(td_flight_tape *self, const td_keep_limit *limit) {
  self->limit = *limit;
  if (self->keeper) td_keeper_set_limit(self->keeper, limit);
}

void
td_flight_tape_free(td_flight_tape *self) {
  if (self->keeper) td_keeper_close(self->keeper);
  g_free(self->path);
  g_free(self);
}

const char *
td_flight_tape_get_path(const td_flight_tape *self) {
  return self->path;
}

const td_keeper_news *
td_flight_tape_get_news(const td_flight_tape *self) {
  return &self->news;
}

bool
td_flight_tape_is_there(const td_flight_tape *self) {
  return self->keeper != NULL;
}

/* ---- what comes ---- */

static void
give_up(td_flight_tape *self, const td_error *error) {
  g_autofree char *name = td_shell_name(self->path);
  self->has_failed = true;
  td_announcer_say(self->announcer, "%s keeps everything from now on: %s", name,
                   td_error_text(error));
}

static bool
has_keeper(td_flight_tape *self) {
  td_error error = {0};
  if (!self->keeper && td_keeper_open(self->path, &self->limit, &self->keeper, &error) &&
      error.status == TD_UNSUPPORTED)
    give_up(self, &error);
  td_error_clear(&error);
  return self->keeper != NULL;
}

static void
pull(trigger *trigger, gint64 now) {
  bool too_soon = trigger->last_us && now - trigger->last_us < PAUSE_US;
  if (!trigger->came_us && !too_soon && trigger->n_dumps < DUMPS_MAX) trigger->came_us = now;
}

static void
tell_growth(td_flight_tape *self, const char *reason) {
  g_autofree char *name = td_shell_name(self->path);
  if (!self->told_growth)
    td_announcer_say(self->announcer, "%s grows beyond --keep for now: %s", name, reason);
  self->told_growth = true;
}

static void
look_at_keyframe(td_flight_tape *self) {
  guint64 n = self->news.n_keyframe_bytes;
  if (!self->limit.bytes || n <= self->limit.bytes) return;
  g_autofree char *reason = g_strdup_printf("what lives takes %" G_GUINT64_FORMAT " bytes", n);
  tell_growth(self, reason);
}

void
td_flight_tape_read(td_flight_tape *self, gint64 now) {
  td_error error = {0};
  if (self->has_failed || !has_keeper(self)) return;
  if (td_keeper_read(self->keeper, &self->news, &error)) give_up(self, &error);
  look_at_keyframe(self);
  if (self->news.nan) pull(&self->triggers[CAUSE_NAN], now);
  if (self->news.error) pull(&self->triggers[CAUSE_ERROR], now);
  td_error_clear(&error);
}

/* ---- dumps ---- */

static bool
can_wait(const td_flight_tape *self, const trigger *trigger, gint64 now) {
  return self->news.in_pass && !self->has_failed && now - trigger->came_us <= PATIENCE_US;
}

const td_flight_cause *
td_flight_tape_dump_due(td_flight_tape *self, gint64 now, bool is_last) {
  for (int i = 0; i < N_CAUSES; i++) {
    trigger *trigger = &self->triggers[i];
    if (!trigger->came_us || (!is_last && can_wait(self, trigger, now))) continue;
    trigger->came_us = 0;
    trigger->last_us = now;
    trigger->n_dumps++;
    return &causes[i];
  }
  return NULL;
}

/* A raw tape becomes the one that follows from it. */
static td_status
rewrite(const char *from, const char *to, bool is_whole, td_error *error) {
  return td_derive_is_raw(from) ? td_derive_file(from, to, is_whole, error)
                                : td_compact(from, to, is_whole, error);
}

static td_status
copy(const char *from, const char *to, bool is_whole, bool overwrite, td_error *error) {
  g_autofree char *part = g_strdup_printf("%s.part", to);
  td_status status = rewrite(from, part, is_whole, error);
  if (status) return status;
  (void)td_segments_add(part, TD_SEGMENT_EVENTS, NULL); /* a tape without a table is as good */
  if (td_output_rename(part, to, overwrite)) return TD_OK;
  status = td_error_set(error, TD_IO, "%s", g_strerror(errno));
  g_unlink(part);
  return status;
}

td_status
td_flight_tape_dump(const td_flight_tape *self, const char *to, td_error *error) {
  return copy(self->path, to, true, false, error);
}

/* ---- what stays ---- */

/* Returns whether nothing more can go. */
static bool
cut(td_flight_tape *self, gint64 now, bool is_last) {
  td_error error = {0};
  bool is_done = true;
  if (!self->keeper || self->has_failed || (!is_last && now < self->no_cut_us)) return true;
  td_status status = td_keeper_cut(self->keeper, is_last, &is_done, &error);
  self->no_cut_us = status ? now + AGAIN_US : 0;
  if (status == TD_IO)
    tell_growth(self, td_error_text(&error)); /* it may go away by itself: the disk may be full */
  else if (status)
    give_up(self, &error);
  td_error_clear(&error);
  return is_done || status;
}

void
td_flight_tape_cut(td_flight_tape *self, gint64 now) {
  for (int i = 0; i < N_CAUSES; i++)
    if (self->triggers[i].came_us) return;
  cut(self, now, false);
}

/* How long the tape will be when what follows from it is on it; 0: not known. */
static guint64
measure_derived(const td_flight_tape *self) {
  GStatBuf info;
  g_autofree char *part = g_strdup_printf("%s.part", self->path);
  bool is_made = td_derive_file(self->path, part, true, NULL) == TD_OK;
  guint64 n_bytes = is_made && g_stat(part, &info) == 0 ? (guint64)info.st_size : 0;
  if (is_made) g_unlink(part);
  return n_bytes;
}

/* A raw tape grows when it is derived, and the limit is for what people get. */
static void
cut_for_derived(td_flight_tape *self, gint64 now) {
  td_keep_limit limit = self->limit;
  if (!limit.bytes || self->has_failed || !td_derive_is_raw(self->path)) return;
  for (int i = 0; i < DERIVED_TRIES; i++) {
    guint64 n_bytes = measure_derived(self);
    if (n_bytes <= self->limit.bytes) return;
    limit.bytes = MAX((guint64)((double)limit.bytes * self->limit.bytes / n_bytes), 1);
    td_keeper_set_limit(self->keeper, &limit);
    while (!cut(self, now, true))
      continue;
  }
}

void
td_flight_tape_finish(td_flight_tape *self, gint64 now) {
  td_error error = {0};
  if (!self->keeper) return;
  while (!cut(self, now, true))
    continue;
  cut_for_derived(self, now);
  td_flight_tape_read(self, now);
  g_autofree char *name = td_shell_name(self->path);
  if (copy(self->path, self->path, self->news.is_complete, true, &error))
    td_announcer_say(self->announcer, "%s was not made smaller: %s", name, td_error_text(&error));
  td_error_clear(&error);
}
