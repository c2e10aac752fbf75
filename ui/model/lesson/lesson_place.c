/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson_place.h"

#include "engine/profile/quiz/question_ask.h"
#include "engine/profile/stops/stop_search.h"
#include "engine/profile/why/describe.h"
#include "ui/model/base/error.h"
#include "ui/model/lesson/lesson_claims.h"
#include "ui/model/lesson/lesson_nodes.h"

#include <string.h>

#define BEFORE "before "

td_lesson_stop *
td_lesson_stop_new(uint64_t position) {
  td_lesson_stop *stop = g_new0(td_lesson_stop, 1);
  stop->position = position;
  stop->shown = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  return stop;
}

void
td_lesson_stop_free(gpointer data) {
  td_lesson_stop *stop = data;
  g_array_unref(stop->shown);
  g_free(stop);
}

/* ---- places ---- */

static gboolean
refuse(GError **error, const char *words, const char *why) {
  g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "'%s': %s", words, why);
  return FALSE;
}

/* The first event from `from` on that a condition holds for. */
static gboolean
find_condition(td_replay *replay, const char *words, uint64_t from, uint64_t *seq, GError **error) {
  td_error problem = {0};
  td_condition condition;
  td_stop_hit hit;
  if (td_condition_parse(words, &condition, &problem) != TD_OK) {
    td_error_propagate(error, &problem);
    return FALSE;
  }
  td_stop_search *search = td_stop_search_new(td_replay_tape(replay), &condition, 1);
  td_status status = td_stop_search_find(search, from, true, NULL, NULL, &hit, NULL);
  td_stop_search_free(search);
  td_condition_fini(&condition);
  *seq = hit.seq;
  return status == TD_OK || refuse(error, words, "does not come after the step before");
}

/* "queue_pop SinBackward0": the first such event from `from` on. */
static gboolean
find_event(td_replay *replay, td_event_kind kind, const char *words, uint64_t from, uint64_t *seq,
           GError **error) {
  const char *node = strchr(words, ' ');
  td_any_event event;
  for (*seq = from; *seq < td_replay_end(replay); (*seq)++) {
    if (td_replay_event(replay, *seq, &event, NULL) != TD_OK || event.event.kind != kind) continue;
    if (!node || td_lesson_fits(td_replay_catalog(replay), td_why_node_of(&event), node + 1))
      return TRUE;
  }
  return refuse(error, words, "does not come after the step before");
}

static td_event_kind
kind_of(const char *words) {
  g_autofree char *name = g_strndup(words, strcspn(words, " "));
  return td_event_kind_find(name);
}

/* From the position of the step before to that of this one. */
static gboolean
find_place(td_replay *replay, const char *at, uint64_t *position, GError **error) {
  gboolean is_before = at && g_str_has_prefix(at, BEFORE);
  const char *words = is_before ? at + strlen(BEFORE) : at;
  uint64_t seq;
  if (!at) return TRUE;
  if (strcmp(at, "start") == 0 || strcmp(at, "end") == 0) {
    *position = *at == 's' ? td_replay_first(replay) : td_replay_end(replay);
    return TRUE;
  }
  td_event_kind kind = kind_of(words);
  gboolean is_found = kind ? find_event(replay, kind, words, *position, &seq, error)
                           : find_condition(replay, words, *position, &seq, error);
  if (is_found) *position = seq + !is_before;
  return is_found;
}

/* ---- questions ---- */

static gboolean
read_wish(const td_catalog *catalog, const char *words, td_question_wish *wish, GError **error) {
  g_autofree char *kind = g_strndup(words, strcspn(words, " "));
  const char *node = strchr(words, ' ');
  *wish = (td_question_wish){td_question_kind_find(kind), TD_NONE};
  if (wish->kind == TD_N_QUESTION_KINDS) return refuse(error, words, "no question is of that kind");
  if (node) wish->node = td_lesson_find_node(catalog, node + 1, error);
  return !node || wish->node != TD_NONE;
}

static gboolean
make_question(td_replay *replay, const char *words, td_lesson_stop *stop, GError **error) {
  td_question_wish wish;
  td_error problem = {0};
  if (!read_wish(td_replay_catalog(replay), words, &wish, error)) return FALSE;
  stop->asks = td_question_ask(replay, &wish, &stop->question, &problem) == TD_OK;
  if (!stop->asks) {
    refuse(error, words, td_error_text(&problem));
    td_error_clear(&problem);
    return FALSE;
  }
  stop->position = stop->question.position;
  return TRUE;
}

/* ---- steps ---- */

static gboolean
find_shown(const td_catalog *catalog, const td_lesson_step *step, td_lesson_stop *stop,
           GError **error) {
  for (char **words = step->show; *words; words++) {
    uint32_t node = td_lesson_find_node(catalog, *words, error);
    if (node == TD_NONE) return FALSE;
    g_array_append_val(stop->shown, node);
  }
  return TRUE;
}

static gboolean
seek(td_replay *replay, uint64_t position, GError **error) {
  td_error problem = {0};
  if (td_replay_seek(replay, position, &problem) == TD_OK) return TRUE;
  td_error_propagate(error, &problem);
  return FALSE;
}

static gboolean
check_claims(td_replay *replay, const td_lesson_step *step, GError **error) {
  for (char **claim = step->claims; *claim; claim++)
    if (!td_lesson_claim_check(replay, *claim, error)) return FALSE;
  return TRUE;
}

static gboolean
place(td_replay *replay, const td_lesson_step *step, td_lesson_stop *stop, GError **error) {
  return find_place(replay, step->at, &stop->position, error) &&
         seek(replay, stop->position, error) &&
         find_shown(td_replay_catalog(replay), step, stop, error) &&
         (!step->ask || make_question(replay, step->ask, stop, error)) &&
         seek(replay, stop->position, error);
}

static td_lesson_stop *
add_stop(GPtrArray *stops, uint64_t position) {
  td_lesson_stop *stop = td_lesson_stop_new(position);
  g_ptr_array_add(stops, stop);
  return stop;
}

GPtrArray *
td_lesson_place(const td_lesson *lesson, td_replay *replay, GError **error) {
  uint64_t back = td_replay_position(replay), position = td_replay_first(replay);
  g_autoptr(GPtrArray) stops = g_ptr_array_new_with_free_func(td_lesson_stop_free);
  gboolean is_placed = TRUE;
  for (guint i = 0; i < lesson->steps->len && is_placed; i++) {
    const td_lesson_step *step = lesson->steps->pdata[i];
    td_lesson_stop *stop = add_stop(stops, position);
    is_placed = place(replay, step, stop, error) && check_claims(replay, step, error);
    if (!is_placed) g_prefix_error(error, "step %s: ", step->name);
    position = stop->position;
  }
  td_replay_seek(replay, back, NULL);
  return is_placed ? g_steal_pointer(&stops) : NULL;
}

GPtrArray *
td_lesson_place_leniently(const td_lesson *lesson, td_replay *replay) {
  uint64_t back = td_replay_position(replay), position = td_replay_first(replay);
  GPtrArray *stops = g_ptr_array_new_with_free_func(td_lesson_stop_free);
  for (guint i = 0; i < lesson->steps->len; i++) {
    td_lesson_stop *stop = add_stop(stops, position);
    if (place(replay, lesson->steps->pdata[i], stop, NULL)) {
      position = stop->position;
    } else {
      stop->position = position;
      stop->asks = FALSE;
    }
  }
  td_replay_seek(replay, back, NULL);
  return stops;
}
