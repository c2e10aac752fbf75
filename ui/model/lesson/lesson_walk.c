/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson_walk.h"

#include "engine/profile/quiz/answer.h"
#include "engine/profile/quiz/question_reasons.h"
#include "engine/profile/quiz/question_words.h"
#include "engine/profile/quiz/quiz.h"
#include "ui/model/base/error.h"
#include "ui/model/lesson/lesson_place.h"
#include "ui/model/lesson/lesson_progress.h"

#include <glib/gi18n.h>
#include <stdlib.h>

/* What somebody answered at a step. */
typedef struct Answer {
  gboolean is_given, is_right;
  guint64 values[TD_QUESTION_CHOICES];
  guint n;
} Answer;

struct _TdLessonWalk {
  GObject parent_instance;
  TdPlayhead *playhead; /* (owned) */
  td_lesson *lesson;    /* (owned) or NULL: a quiz */
  GPtrArray *stops;     /* (owned) of td_lesson_stop */
  GArray *answers;      /* (owned) of Answer, one for each step */
  guint step;
  char *path;      /* (owned) of the tape */
  gboolean is_own; /* the learner changed the script */
};

G_DEFINE_FINAL_TYPE(TdLessonWalk, td_lesson_walk, G_TYPE_OBJECT)

static guint changed_signal;

static td_replay *
replay_of(TdLessonWalk *self) {
  return td_document_get_replay(td_playhead_get_document(self->playhead));
}

static const td_lesson_stop *
stop_of(TdLessonWalk *self) {
  return self->stops->pdata[self->step];
}

static Answer *
answer_of(TdLessonWalk *self) {
  return &g_array_index(self->answers, Answer, self->step);
}

/* ---- begin ---- */

static void
keep_progress(TdLessonWalk *self) {
  if (!self->lesson) return;
  gboolean is_last = self->step + 1 == self->stops->len;
  td_lesson_progress progress = td_lesson_progress_read(self->lesson->name);
  progress.step = is_last ? 0 : self->step;
  progress.is_finished = progress.is_finished || is_last;
  td_lesson_progress_write(self->lesson->name, &progress);
}

static void
show_step(TdLessonWalk *self) {
  const td_lesson_stop *stop = stop_of(self);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, stop->position);
  td_playhead_set_selection(self->playhead, TD_NONE);
  td_playhead_set_marks(self->playhead, stop->shown->len ? g_array_ref(stop->shown) : NULL);
  keep_progress(self);
  g_signal_emit(self, changed_signal, 0);
}

static TdLessonWalk *
begin(TdPlayhead *playhead, td_lesson *lesson, gboolean is_own, GPtrArray *stops) {
  TdLessonWalk *self = g_object_new(TD_TYPE_LESSON_WALK, NULL);
  self->playhead = g_object_ref(playhead);
  self->lesson = lesson;
  self->is_own = is_own;
  self->path = g_strdup(td_document_get_path(td_playhead_get_document(playhead)));
  self->stops = stops;
  self->answers = g_array_new(FALSE, TRUE, sizeof(Answer));
  g_array_set_size(self->answers, stops->len);
  guint step = lesson ? td_lesson_progress_read(lesson->name).step : 0;
  self->step = step < stops->len ? step : 0; /* the lesson may be another by now */
  show_step(self);
  return self;
}

TdLessonWalk *
td_lesson_walk_new(TdPlayhead *playhead, td_lesson *lesson, gboolean is_own, GError **error) {
  td_replay *replay = td_document_get_replay(td_playhead_get_document(playhead));
  GPtrArray *stops =
      is_own ? td_lesson_place_leniently(lesson, replay) : td_lesson_place(lesson, replay, error);
  if (stops) return begin(playhead, lesson, is_own, stops);
  td_lesson_free(lesson);
  return NULL;
}

static td_lesson_stop *
stop_of_question(const td_question *question) {
  td_lesson_stop *stop = td_lesson_stop_new(question->position);
  stop->asks = TRUE;
  stop->question = *question;
  return stop;
}

TdLessonWalk *
td_lesson_walk_new_quiz(TdPlayhead *playhead, guint64 seed, guint n, GError **error) {
  td_replay *replay = td_document_get_replay(td_playhead_get_document(playhead));
  td_question question;
  td_quiz *quiz;
  if (td_quiz_new(replay, seed, &quiz, NULL) != TD_OK) {
    g_set_error(error, TD_ERROR, TD_OUT_OF_RANGE, "%s",
                _("No moment of this tape has a question."));
    return NULL;
  }
  GPtrArray *stops = g_ptr_array_new_with_free_func(td_lesson_stop_free);
  while (stops->len < n && td_quiz_next(quiz, &question))
    g_ptr_array_add(stops, stop_of_question(&question));
  td_quiz_free(quiz);
  return begin(playhead, NULL, FALSE, stops);
}

gboolean
td_lesson_walk_goes_on(TdLessonWalk *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  return document && td_document_is_live(document) &&
         g_strcmp0(td_document_get_path(document), self->path) == 0;
}

/* ---- steps ---- */

const char *
td_lesson_walk_get_title(TdLessonWalk *self) {
  return self->lesson ? self->lesson->title : _("Quiz");
}

const char *
td_lesson_walk_get_name(TdLessonWalk *self) {
  return self->lesson ? self->lesson->name : NULL;
}

gboolean
td_lesson_walk_is_own(TdLessonWalk *self) {
  return self->is_own;
}

guint
td_lesson_walk_get_n_steps(TdLessonWalk *self) {
  return self->stops->len;
}

guint
td_lesson_walk_get_step(TdLessonWalk *self) {
  return self->step;
}

void
td_lesson_walk_go(TdLessonWalk *self, int direction) {
  guint step = self->step + (guint)direction;
  if (step >= self->stops->len) return; /* also below 0 */
  self->step = step;
  show_step(self);
}

static const td_lesson_step *
words_of(TdLessonWalk *self) {
  return self->lesson ? self->lesson->steps->pdata[self->step] : NULL;
}

const char *
td_lesson_walk_get_text(TdLessonWalk *self) {
  const td_lesson_step *step = words_of(self);
  return step ? step->text : "";
}

const char *
td_lesson_walk_get_hint(TdLessonWalk *self) {
  const td_lesson_step *step = words_of(self);
  return step ? step->hint : NULL;
}

const td_question *
td_lesson_walk_get_question(TdLessonWalk *self) {
  return stop_of(self)->asks ? &stop_of(self)->question : NULL;
}

/* ---- questions ---- */

/* The engine's strings are not GLib's. */
static char *
take(char *text) {
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

/* Only if the step asks something. */
static const td_question *
asked(TdLessonWalk *self) {
  return &stop_of(self)->question;
}

char *
td_lesson_walk_dup_prompt(TdLessonWalk *self) {
  return take(td_question_prompt(replay_of(self), asked(self)));
}

char *
td_lesson_walk_dup_facts(TdLessonWalk *self) {
  const td_question *question = asked(self);
  if (td_question_tells_choices(question)) return g_strdup("");
  return g_strchomp(take(td_question_facts(replay_of(self), question)));
}

char *
td_lesson_walk_dup_choice(TdLessonWalk *self, guint choice) {
  const td_question *question = asked(self);
  if (!td_question_tells_choices(question))
    return take(td_question_choice(replay_of(self), question, question->choices[choice]));
  g_autofree char *facts = take(td_question_facts(replay_of(self), question));
  g_auto(GStrv) lines = g_strsplit(facts, "\n", -1);
  return g_strdup(choice < g_strv_length(lines) ? lines[choice] : "");
}

/* ---- answers ---- */

td_answer_form
td_lesson_walk_get_form(TdLessonWalk *self) {
  return td_question_form(asked(self)->kind);
}

gboolean
td_lesson_walk_read(TdLessonWalk *self, const char *text, guint64 *value) {
  return td_answer_read(td_lesson_walk_get_form(self), text, value);
}

void
td_lesson_walk_answer(TdLessonWalk *self, const guint64 *values, guint n) {
  Answer *answer = answer_of(self);
  const td_question *question = td_lesson_walk_get_question(self);
  if (!question || answer->is_given || n > TD_QUESTION_CHOICES) return;
  answer->is_given = TRUE;
  answer->n = n;
  for (guint i = 0; i < n; i++)
    answer->values[i] = values[i];
  answer->is_right = td_question_is_right(question, values, n);
  g_signal_emit(self, changed_signal, 0);
}

gboolean
td_lesson_walk_is_answered(TdLessonWalk *self) {
  return answer_of(self)->is_given;
}

gboolean
td_lesson_walk_was_right(TdLessonWalk *self) {
  return answer_of(self)->is_right;
}

gboolean
td_lesson_walk_was_wrong(TdLessonWalk *self) {
  const Answer *answer = answer_of(self);
  return answer->is_given && answer->n && !answer->is_right;
}

char *
td_lesson_walk_dup_verdict(TdLessonWalk *self) {
  const Answer *answer = answer_of(self);
  g_autofree char *right = take(td_question_answer(replay_of(self), asked(self)));
  if (answer->is_right) return g_strdup(_("Right."));
  return g_strdup_printf(answer->n ? _("Wrong. The answer is: %s.") : _("The answer is: %s."),
                         right);
}

char *
td_lesson_walk_dup_reason(TdLessonWalk *self) {
  const Answer *answer = answer_of(self);
  const td_question *question = asked(self);
  g_autofree char *reason = take(td_question_reason(replay_of(self), question));
  g_autofree char *correction =
      take(td_question_correction(replay_of(self), question, answer->values, answer->n));
  return *correction ? g_strdup_printf("%s\n\n%s", correction, reason) : g_steal_pointer(&reason);
}

char *
td_lesson_walk_dup_score(TdLessonWalk *self) {
  guint n = 0, n_right = 0;
  for (guint i = 0; i < self->answers->len; i++) {
    n += g_array_index(self->answers, Answer, i).is_given != 0;
    n_right += g_array_index(self->answers, Answer, i).is_right != 0;
  }
  return n ? g_strdup_printf(_("%u of %u right"), n_right, n) : g_strdup("");
}

static void
td_lesson_walk_finalize(GObject *object) {
  TdLessonWalk *self = TD_LESSON_WALK(object);
  g_clear_object(&self->playhead);
  td_lesson_free(self->lesson);
  g_free(self->path);
  g_clear_pointer(&self->stops, g_ptr_array_unref);
  g_clear_pointer(&self->answers, g_array_unref);
  G_OBJECT_CLASS(td_lesson_walk_parent_class)->finalize(object);
}

static void
td_lesson_walk_class_init(TdLessonWalkClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_lesson_walk_finalize;
  changed_signal = g_signal_new("changed", TD_TYPE_LESSON_WALK, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
td_lesson_walk_init(TdLessonWalk *self) {
}
