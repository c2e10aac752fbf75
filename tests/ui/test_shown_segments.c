/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape that is cut, beside the same tape in one piece: the playhead walks over it as if it were
 * one, segment by segment. */
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/base/error.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/document/passes.h"
#include "ui/model/events/event_list.h"
#include "ui/model/facts/facts.h"
#include "ui/model/findings/problems.h"
#include "ui/model/playhead/playhead.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gstdio.h>
#include <string.h>

#define LEAST_EVENTS 1500
#define HEADER_BYTES 56 /* engine/trace/FORMAT.md */
#define CHUNK_HEADER_BYTES 72
#define KEYFRAME_CHUNK 6

typedef struct Side {
  char *path;
  TdDocument *document;
  TdPlayhead *playhead;
} Side;

typedef struct Fixture {
  char *folder;
  Side whole, cut;
} Fixture;

static void
load(TdDocument *document) {
  g_autoptr(GError) error = NULL;
  g_assert_true(td_load_document(document, &error));
  g_assert_no_error(error);
}

static void
open_side(Side *side) {
  side->document = td_document_new(side->path);
  load(side->document);
  side->playhead = td_playhead_new();
  td_playhead_set_document(side->playhead, side->document);
}

static void
close_side(Side *side) {
  g_clear_object(&side->playhead);
  g_clear_object(&side->document);
}

static void
copy_file(const char *from, const char *to) {
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(from, &bytes, &length, NULL));
  g_assert_true(g_file_set_contents(to, bytes, (gssize)length, NULL));
}

static void
set_up(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 40,
                       .n_threads = 3,
                       .n_passes = 30,
                       .trains = true,
                       .seed = 7,
                       .n_anomalies = 3,
                       .overflows = true};
  fixture->folder = g_dir_make_tmp("test_segments_XXXXXX", NULL);
  fixture->whole.path = g_build_filename(fixture->folder, "whole.tape", NULL);
  fixture->cut.path = g_build_filename(fixture->folder, "cut.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, fixture->whole.path, NULL), ==, TD_OK);
  copy_file(fixture->whole.path, fixture->cut.path);
  g_assert_cmpint(td_segments_add(fixture->cut.path, LEAST_EVENTS, NULL), ==, TD_OK);
  open_side(&fixture->whole);
  open_side(&fixture->cut);
}

static void
tear_down(Fixture *fixture, gconstpointer data) {
  close_side(&fixture->whole);
  close_side(&fixture->cut);
  g_unlink(fixture->whole.path);
  g_unlink(fixture->cut.path);
  g_rmdir(fixture->folder);
  g_free(fixture->whole.path);
  g_free(fixture->cut.path);
  g_free(fixture->folder);
}

/* ---- helpers ---- */

static void
arrive(TdPlayhead *playhead) {
  while (td_playhead_is_travelling(playhead))
    g_main_context_iteration(NULL, TRUE);
}

static void
go(TdPlayhead *playhead, uint64_t position) {
  td_playhead_set_position(playhead, position);
  arrive(playhead);
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, position);
}

static TdSegment
segment_of(TdPlayhead *playhead) {
  return td_document_get_segment(td_playhead_get_document(playhead));
}

static uint64_t
length_of(TdPlayhead *playhead) {
  return td_playhead_get_length(playhead);
}

/* Both stand at the same event, and know the same of it. */
static void
assert_same_place(TdPlayhead *one, TdPlayhead *other) {
  g_assert_cmpuint(td_playhead_get_position(one), ==, td_playhead_get_position(other));
  g_assert_cmpuint(td_playhead_get_time_ns(one), ==, td_playhead_get_time_ns(other));
  const td_state_header *left = td_document_get_state(td_playhead_get_document(one))->header;
  const td_state_header *right = td_document_get_state(td_playhead_get_document(other))->header;
  g_assert_cmpuint(left->current_node, ==, right->current_node);
  g_assert_cmpuint(left->step, ==, right->step);
}

static void
write_chunk_damage(char *bytes, gsize length, uint32_t segment) {
  for (gsize at = HEADER_BYTES; at + CHUNK_HEADER_BYTES < length;) {
    uint32_t words[6];
    memcpy(words, bytes + at, sizeof words);
    if (words[0] != 0x4b4e4843) return;
    if (words[1] == KEYFRAME_CHUNK && words[2] == segment)
      bytes[at + CHUNK_HEADER_BYTES + words[5] / 2] ^= 16;
    at += CHUNK_HEADER_BYTES + words[5];
  }
}

/* Spoils the keyframe of a segment, from 0, or the outline. */
static void
spoil(const char *path, uint32_t segment) {
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  g_autofree char *before = g_memdup2(bytes, length);
  write_chunk_damage(bytes, length, segment);
  g_assert_true(memcmp(before, bytes, length) != 0);
  g_assert_true(g_file_set_contents(path, bytes, (gssize)length, NULL));
}

static void
assert_warns(TdPlayhead *playhead, const char *words) {
  g_autofree char *warning = td_document_dup_warning(td_playhead_get_document(playhead));
  g_assert_nonnull(warning);
  g_assert_nonnull(strstr(warning, words));
}

static void
assert_warns_of(TdPlayhead *playhead, uint32_t segment) {
  uint32_t n = td_document_get_segment(td_playhead_get_document(playhead)).n;
  g_autofree char *words =
      g_strdup_printf("Segment %u of %u of this tape cannot be shown: ", segment, n);
  assert_warns(playhead, words);
}

/* ---- one tape ---- */

static void
test_opens_one_segment(Fixture *fixture, gconstpointer data) {
  TdSegment segment = segment_of(fixture->cut.playhead);
  assert_same_place(fixture->whole.playhead, fixture->cut.playhead);
  g_assert_cmpuint(segment.n, >=, 4);
  g_assert_cmpuint(segment.number, ==, 1);
  g_assert_cmpuint(segment.first, ==, 0);
  g_assert_cmpuint(segment.end, <, length_of(fixture->cut.playhead));
  g_assert_cmpuint(length_of(fixture->cut.playhead), ==, length_of(fixture->whole.playhead));
  g_assert_cmpuint(td_document_get_catalog(fixture->cut.document)->n_nodes, <,
                   td_document_get_catalog(fixture->whole.document)->n_nodes);
  g_assert_cmpuint(td_document_get_whole(fixture->cut.document)->n_graph_tasks, ==,
                   td_document_get_whole(fixture->whole.document)->n_graph_tasks);
  g_assert_null(td_document_dup_warning(fixture->cut.document));
  g_assert_false(td_document_is_cut(fixture->whole.document));
}

/* Every segment covers the positions after its events; together they cover the tape. */
static void
test_segments_cover(Fixture *fixture, gconstpointer data) {
  uint64_t end = 0, length = length_of(fixture->cut.playhead);
  for (uint32_t number = 1; end < length; number++) {
    TdSegment segment = td_document_segment_at(fixture->cut.document, end + 1);
    g_assert_cmpuint(segment.number, ==, number);
    g_assert_cmpuint(segment.first, ==, end);
    end = segment.end;
    g_assert_cmpuint(td_document_segment_at(fixture->cut.document, end).number, ==, number);
    go(fixture->cut.playhead, end);
    g_assert_cmpuint(segment_of(fixture->cut.playhead).number, ==, number);
  }
  g_assert_true(td_playhead_is_at_end(fixture->cut.playhead));
}

static void
test_goes_anywhere(Fixture *fixture, gconstpointer data) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(5);
  gint32 length = (gint32)length_of(fixture->cut.playhead);
  for (int i = 0; i < 60; i++) {
    uint64_t position = (uint64_t)g_rand_int_range(rand, 0, length + 1);
    go(fixture->cut.playhead, position);
    go(fixture->whole.playhead, position);
    assert_same_place(fixture->whole.playhead, fixture->cut.playhead);
    TdDocument *document = td_playhead_get_document(fixture->cut.playhead);
    g_assert_true(td_document_covers(document, position));
  }
  go(fixture->cut.playhead, 0);
  go(fixture->cut.playhead, (uint64_t)length);
}

typedef void (*Step)(TdPlayhead *playhead, int direction);

/* Walks until nothing moves any more. */
static guint
walk_together(Fixture *fixture, Step step, int direction) {
  for (guint n = 0;; n++) {
    uint64_t before = td_playhead_get_position(fixture->whole.playhead);
    step(fixture->whole.playhead, direction);
    step(fixture->cut.playhead, direction);
    arrive(fixture->cut.playhead);
    assert_same_place(fixture->whole.playhead, fixture->cut.playhead);
    if (before == td_playhead_get_position(fixture->whole.playhead)) return n;
  }
}

static void
test_steps_over_borders(Fixture *fixture, gconstpointer data) {
  Step steps[] = {td_playhead_step_node, td_playhead_step_graph_task, td_playhead_step_training,
                  td_playhead_step_event};
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    td_playhead_to_start(fixture->whole.playhead);
    td_playhead_to_start(fixture->cut.playhead);
    arrive(fixture->cut.playhead);
    g_assert_cmpuint(walk_together(fixture, steps[i], 1), >=, 25);
    g_assert_cmpuint(walk_together(fixture, steps[i], -1), >=, 25);
  }
}

static void
run_to_problem(TdPlayhead *playhead, int direction) {
  td_playhead_run_to_problem(playhead);
}

static void
assert_same_text(Fixture *fixture, uint64_t seq) {
  TdDocument *document = td_playhead_get_document(fixture->cut.playhead);
  g_autofree char *left = td_document_dup_event_text(fixture->whole.document, seq);
  g_autofree char *right = td_document_dup_event_text(document, seq);
  g_assert_cmpstr(left, ==, right);
}

/* From the first segment all problems can be told with the names of their nodes, though its catalog
 * lacks nodes of the others. */
static void
test_tells_problems_elsewhere(Fixture *fixture, gconstpointer data) {
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(fixture->cut.document, &n);
  g_assert_cmpuint(n, >=, 3);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *text = td_document_dup_event_text(fixture->cut.document, problems[i].seq);
    g_autofree char *same = td_document_dup_event_text(fixture->whole.document, problems[i].seq);
    g_autofree char *module = td_document_dup_event_module(fixture->cut.document, problems[i].seq);
    g_autofree char *same_module =
        td_document_dup_event_module(fixture->whole.document, problems[i].seq);
    g_assert_cmpstr(text, ==, same);
    g_assert_cmpstr(module, ==, same_module);
  }
}

/* So can what led to them. */
static void
test_tells_causes_elsewhere(Fixture *fixture, gconstpointer data) {
  size_t n;
  const td_catalog_mention *problems = td_document_get_problems(fixture->cut.document, &n);
  guint n_told = 0;
  for (size_t i = 0; i < n; i++) {
    TdSegment segment = td_document_segment_at(fixture->cut.document, problems[i].seq + 1);
    g_autofree char *cause = td_document_dup_cause(fixture->cut.document, problems[i].seq);
    g_autofree char *same = td_document_dup_cause(fixture->whole.document, problems[i].seq);
    g_autofree char *place = td_document_dup_problem_place(fixture->cut.document, problems[i].seq);
    g_autofree char *where = g_strdup_printf("segment %u of %u", segment.number, segment.n);
    g_assert_cmpstr(cause, ==, same);
    g_assert_nonnull(strstr(place, where));
    g_assert_true(g_str_has_suffix(place, cause));
    n_told += strstr(cause, " may have led to it: Inf was born in ") != NULL && segment.number > 1;
  }
  g_assert_cmpuint(n_told, >, 3);
}

static void
test_problems_of_all_segments(Fixture *fixture, gconstpointer data) {
  size_t n_whole, n_cut;
  const td_catalog_mention *whole = td_document_get_problems(fixture->whole.document, &n_whole);
  const td_catalog_mention *cut = td_document_get_problems(fixture->cut.document, &n_cut);
  g_assert_cmpuint(n_whole, ==, n_cut);
  for (size_t i = 0; i < n_whole; i++) {
    g_assert_cmpuint(whole[i].seq, ==, cut[i].seq);
    td_playhead_show_problem(fixture->cut.playhead, cut[i].seq);
    arrive(fixture->cut.playhead);
    td_playhead_show_problem(fixture->whole.playhead, cut[i].seq);
    assert_same_text(fixture, cut[i].seq);
    g_assert_cmpuint(td_playhead_get_selection(fixture->cut.playhead), ==,
                     td_playhead_get_selection(fixture->whole.playhead));
  }
  td_playhead_to_start(fixture->whole.playhead);
  go(fixture->cut.playhead, 0);
  g_assert_cmpuint(walk_together(fixture, run_to_problem, 1), >=, 10);
}

/* What the strip says of a place of any segment is what is there. */
static void
test_says_places(Fixture *fixture, gconstpointer data) {
  uint64_t length = length_of(fixture->whole.playhead);
  for (uint64_t position = 40; position < length; position += length / 50) {
    g_autofree char *text = td_document_dup_place_text(fixture->cut.document, position);
    go(fixture->whole.playhead, position);
    TdSegment segment = td_document_segment_at(fixture->cut.document, position);
    uint32_t n, task = td_document_graph_task_at(fixture->whole.document, position);
    uint32_t pass = td_pass_number(td_document_get_catalog(fixture->whole.document), 0, task, &n);
    g_autofree char *step = td_document_dup_step_text(fixture->whole.document, task);
    g_autofree char *words = g_strdup_printf(" · %s · pass %u of %u · segment %u of %u", step, pass,
                                             n, segment.number, segment.n);
    g_assert_cmpstr(step, !=, "");
    g_assert_true(g_str_has_suffix(text, words));
    g_assert_nonnull(strstr(text, " · about "));
  }
}

static void
test_plays_over_borders(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->cut.playhead;
  uint32_t n_segments = segment_of(playhead).n, seen = 1, last = 1;
  td_playhead_set_speed(playhead, td_speed_find(TD_SPEED_EVENTS, 1000));
  td_playhead_set_playing(playhead, TRUE);
  for (int64_t us = 1; td_playhead_get_playing(playhead); us += 500000) {
    td_playhead_tick(playhead, us);
    while (g_main_context_iteration(NULL, FALSE)) {
    }
    if (segment_of(playhead).number == last) continue;
    g_assert_cmpuint(segment_of(playhead).number, ==, last + 1);
    last++;
    seen++;
  }
  g_assert_cmpuint(seen, ==, n_segments);
  g_assert_true(td_playhead_is_at_end(playhead));
}

static void
test_list_has_the_segment(Fixture *fixture, gconstpointer data) {
  go(fixture->cut.playhead, length_of(fixture->cut.playhead) / 2);
  TdDocument *document = td_playhead_get_document(fixture->cut.playhead);
  TdSegment segment = td_document_get_segment(document);
  g_autoptr(TdEventList) list = td_event_list_new(document);
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(list)), ==, segment.end - segment.first);
  for (uint64_t row = 0; row < segment.end - segment.first; row += 97) {
    g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), (guint)row);
    g_autofree char *text = td_event_item_dup_text(item);
    g_autofree char *same =
        td_document_dup_event_text(fixture->whole.document, segment.first + row);
    g_assert_cmpuint(td_event_item_get_seq(item), ==, segment.first + row);
    g_assert_cmpstr(text, ==, same);
  }
}

static void
test_span_is_of_the_segment(Fixture *fixture, gconstpointer data) {
  double first, last, from, to;
  TdPlayhead *playhead = fixture->cut.playhead;
  for (int i = 1; i <= 4; i++) {
    go(playhead, length_of(playhead) * (uint64_t)i / 4);
    td_document_get_extent(td_playhead_get_document(playhead), &first, &last);
    td_playhead_get_span(playhead, &from, &to);
    g_assert_cmpfloat(first, <=, from);
    g_assert_cmpfloat(to, <=, MAX(last, first + 100));
    td_playhead_seek_time(playhead, 0);
    g_assert_cmpuint(segment_of(playhead).first + 1, ==, td_playhead_get_position(playhead));
  }
}

/* ---- on the way ---- */

/* Returns true if the segment before was gone when the scene of the next one came. */
static bool
comes_last(TdPlayhead *playhead, uint64_t from, uint64_t to) {
  bool is_last = true;
  go(playhead, from);
  TdDocument *before = td_playhead_get_document(playhead);
  g_object_add_weak_pointer(G_OBJECT(before), (gpointer *)&before);
  while (!td_document_get_scene(before))
    g_main_context_iteration(NULL, TRUE);
  go(playhead, to);
  TdDocument *document = td_playhead_get_document(playhead);
  while (before) {
    is_last &= !td_document_get_scene(document);
    if (!g_main_context_iteration(NULL, FALSE)) g_thread_yield(); /* a thread may let go of it */
  }
  while (!td_document_get_scene(document))
    g_main_context_iteration(NULL, TRUE);
  g_assert_cmpuint(td_document_get_graph_task(document), ==,
                   td_document_graph_task_at(document, to));
  return is_last;
}

/* The segment before lets its memory go first; its picture stays meanwhile. On a busy machine a
 * thread that has done its work may hold it for longer, so that may take some tries. */
static void
test_scene_comes_last(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->cut.playhead;
  uint64_t end = length_of(playhead);
  for (int i = 0; i < 9; i++)
    if (comes_last(playhead, end, end / 2)) return;
  g_assert_not_reached();
}

static void
test_stays_while_travelling(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->cut.playhead;
  uint64_t here = td_playhead_get_position(playhead), end = length_of(playhead);
  td_playhead_set_position(playhead, end);
  g_assert_true(td_playhead_is_travelling(playhead));
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, here);
  g_assert_cmpuint(td_playhead_get_target(playhead), ==, end);
  g_assert_true(td_playhead_get_document(playhead) == fixture->cut.document);
  td_playhead_set_position(playhead, here + 1);
  g_assert_false(td_playhead_is_travelling(playhead));
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, here + 1);
  for (int i = 0; i < 200; i++) {
    g_main_context_iteration(NULL, FALSE);
    g_usleep(500);
  }
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, here + 1);
}

/* Who drags the slider over the whole tape arrives at the last place, and reads few segments. */
static void
count_documents(TdPlayhead *playhead, GParamSpec *spec, guint *n) {
  ++*n;
}

static void
test_only_the_last_goal_counts(Fixture *fixture, gconstpointer data) {
  guint n_documents = 0;
  TdPlayhead *playhead = fixture->cut.playhead;
  uint64_t length = length_of(playhead);
  g_signal_connect(playhead, "notify::document", G_CALLBACK(count_documents), &n_documents);
  for (uint64_t i = 1; i <= 500; i++)
    td_playhead_set_position(playhead, length * i / 500);
  td_playhead_step_event(playhead, -1);
  td_playhead_step_event(playhead, -1);
  arrive(playhead);
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, length - 2);
  g_assert_cmpuint(n_documents, ==, 1);
  go(fixture->whole.playhead, length - 2);
  assert_same_place(fixture->whole.playhead, playhead);
}

static void
test_closed_on_the_way(Fixture *fixture, gconstpointer data) {
  td_playhead_set_position(fixture->cut.playhead, length_of(fixture->cut.playhead));
  close_side(&fixture->cut);
  for (int i = 0; i < 200; i++) {
    g_main_context_iteration(NULL, FALSE);
    g_usleep(500);
  }
  open_side(&fixture->cut);
  td_playhead_set_position(fixture->cut.playhead, length_of(fixture->cut.playhead));
  td_playhead_set_document(fixture->cut.playhead, fixture->whole.document);
  g_assert_false(td_playhead_is_travelling(fixture->cut.playhead));
}

/* ---- damage ---- */

static void
store_message(TdPlayhead *playhead, const char *text, char **message) {
  g_free(*message);
  *message = g_strdup(text);
}

static void
test_damaged_keyframe(Fixture *fixture, gconstpointer data) {
  g_autofree char *message = NULL;
  TdPlayhead *playhead = fixture->cut.playhead;
  uint64_t here = td_playhead_get_position(playhead);
  g_signal_connect(playhead, "message", G_CALLBACK(store_message), &message);
  spoil(fixture->cut.path, 1);
  td_playhead_set_position(playhead, segment_of(playhead).end + 1);
  arrive(playhead);
  g_assert_nonnull(message);
  assert_warns_of(playhead, 2);
  g_assert_cmpuint(td_playhead_get_position(playhead), ==, here);
  go(playhead, length_of(playhead));
  g_assert_null(td_document_dup_warning(td_playhead_get_document(playhead)));
  go(playhead, 1);
}

/* A step to the next node leaves its segment: the warning names the segment that was looked for. */
static void
test_damage_after_step(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->cut.playhead;
  spoil(fixture->cut.path, 1);
  go(playhead, segment_of(playhead).end);
  td_playhead_step_node(playhead, 1);
  arrive(playhead);
  assert_warns_of(playhead, 2);
}

/* The tape is opened where it is damaged: the first segment needs no keyframe. */
static void
test_opens_at_damage(Fixture *fixture, gconstpointer data) {
  uint64_t border = segment_of(fixture->cut.playhead).end;
  spoil(fixture->cut.path, 1);
  close_side(&fixture->cut);
  fixture->cut.document = td_document_new_live(fixture->cut.path, border + 1, FALSE);
  load(fixture->cut.document);
  fixture->cut.playhead = td_playhead_new();
  td_playhead_set_document(fixture->cut.playhead, fixture->cut.document);
  assert_warns_of(fixture->cut.playhead, 2);
  assert_same_place(fixture->whole.playhead, fixture->cut.playhead);
  go(fixture->cut.playhead, length_of(fixture->cut.playhead));
}

static void
test_damaged_outline(Fixture *fixture, gconstpointer data) {
  spoil(fixture->cut.path, TD_SEGMENT_OUTLINE);
  close_side(&fixture->cut);
  open_side(&fixture->cut);
  g_assert_false(td_document_is_cut(fixture->cut.document));
  assert_warns(fixture->cut.playhead, "The list of this tape's segments is damaged");
  assert_same_place(fixture->whole.playhead, fixture->cut.playhead);
  go(fixture->cut.playhead, length_of(fixture->cut.playhead));
}

/* Another program writes another tape where this one was. */
static void
test_other_tape(Fixture *fixture, gconstpointer data) {
  TdPlayhead *playhead = fixture->cut.playhead;
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 3, .n_passes = 40, .trains = true, .seed = 8};
  g_unlink(fixture->cut.path);
  g_assert_cmpint(td_tape_make(&plan, fixture->cut.path, NULL), ==, TD_OK);
  g_assert_cmpint(td_segments_add(fixture->cut.path, LEAST_EVENTS, NULL), ==, TD_OK);
  td_playhead_set_position(playhead, length_of(playhead));
  arrive(playhead);
  assert_warns(playhead, "another tape");
  td_playhead_step_event(playhead, 1);
}

#define ADD(path, test)                                                                            \
  g_test_add("/ui/shown_segments/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("opens-one-segment", test_opens_one_segment);
  ADD("segments-cover", test_segments_cover);
  ADD("goes-anywhere", test_goes_anywhere);
  ADD("steps-over-borders", test_steps_over_borders);
  ADD("problems-of-all-segments", test_problems_of_all_segments);
  ADD("tells-problems-elsewhere", test_tells_problems_elsewhere);
  ADD("tells-causes-elsewhere", test_tells_causes_elsewhere);
  ADD("says-places", test_says_places);
  ADD("plays-over-borders", test_plays_over_borders);
  ADD("list-has-the-segment", test_list_has_the_segment);
  ADD("span-is-of-the-segment", test_span_is_of_the_segment);
  ADD("stays-while-travelling", test_stays_while_travelling);
  ADD("scene-comes-last", test_scene_comes_last);
  ADD("only-the-last-goal-counts", test_only_the_last_goal_counts);
  ADD("closed-on-the-way", test_closed_on_the_way);
  ADD("damaged-keyframe", test_damaged_keyframe);
  ADD("damage-after-step", test_damage_after_step);
  ADD("opens-at-damage", test_opens_at_damage);
  ADD("damaged-outline", test_damaged_outline);
  ADD("other-tape", test_other_tape);
  return run_tests();
}
