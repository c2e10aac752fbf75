/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape that is cut, in the model of the window: a document shows one part, a playhead that leaves
 * it travels to another, and what is said of the tape as a whole is true in all of them. */
#include "engine/base/alloc.h"
#include "engine/replay/segments.h"
#include "engine/trace/format.h"
#include "tests/fixtures/tape_maker.h"
#include "ui/model/document_part.h"
#include "ui/model/document_texts.h"
#include "ui/model/event_list.h"
#include "ui/model/playhead.h"
#include "ui/model/playhead_steps.h"
#include "ui/model/problems.h"

#include <glib/gstdio.h>

typedef struct Fixture {
  char *folder, *path;
  TdPlayhead *playhead;
  td_replay *whole; /* the oracle: a replay of the tape in one piece */
  char *message;    /* the last one */
} Fixture;

static void
store_result(GObject *source, GAsyncResult *result, gpointer data) {
  *(GAsyncResult **)data = g_object_ref(result);
}

static void
store_message(TdPlayhead *playhead, const char *text, gpointer data) {
  Fixture *fixture = data;
  g_free(fixture->message);
  fixture->message = g_strdup(text);
}

static TdDocument *
load(const char *path) {
  TdDocument *document = td_document_new(path);
  GAsyncResult *result = NULL;
  g_autoptr(GError) error = NULL;
  td_document_load_async(document, NULL, store_result, &result);
  while (!result)
    g_main_context_iteration(NULL, TRUE);
  g_assert_true(td_document_load_finish(document, result, &error));
  g_assert_no_error(error);
  g_object_unref(result);
  return document;
}

static void
show(Fixture *fixture) {
  g_autoptr(TdDocument) document = load(fixture->path);
  td_playhead_set_document(fixture->playhead, document);
}

static void
set_up(Fixture *fixture, gconstpointer data) {
  td_tape_plan plan = {
      .n_nodes = 40, .n_threads = 2, .n_passes = 40, .trains = true, .seed = 7, .n_anomalies = 9};
  fixture->folder = g_dir_make_tmp("test_parts_XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->folder, "long.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, fixture->path, NULL), ==, TD_OK);
  g_assert_cmpint(td_segments_add(fixture->path, 3000, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(fixture->path, NULL, NULL, &fixture->whole, NULL), ==, TD_OK);
  fixture->playhead = td_playhead_new();
  g_signal_connect(fixture->playhead, "message", G_CALLBACK(store_message), fixture);
  show(fixture);
}

static void
tear_down(Fixture *fixture, gconstpointer data) {
  g_object_unref(fixture->playhead);
  td_replay_close(fixture->whole);
  g_unlink(fixture->path);
  g_rmdir(fixture->folder);
  g_free(fixture->path);
  g_free(fixture->folder);
  g_free(fixture->message);
}

static TdDocument *
document_of(Fixture *fixture) {
  return td_playhead_get_document(fixture->playhead);
}

static TdPart
part_of(Fixture *fixture) {
  return td_document_get_part(document_of(fixture));
}

static void
arrive(Fixture *fixture) {
  while (td_playhead_is_travelling(fixture->playhead))
    g_main_context_iteration(NULL, TRUE);
}

/* The state of the part is that of the whole tape: for all of its queues, and for all nodes but
 * those that are gone, and that some event only names. */
static void
assert_at(Fixture *fixture, uint64_t position) {
  arrive(fixture);
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), ==, position);
  g_assert_true(td_document_covers(document_of(fixture), position));
  g_assert_cmpint(td_replay_seek(fixture->whole, position, NULL), ==, TD_OK);
  const td_catalog *catalog = td_document_get_catalog(document_of(fixture));
  const td_state *state = td_document_get_state(document_of(fixture)),
                 *whole = td_replay_state(fixture->whole);
  g_assert_cmpuint(state->header->time_ns, ==, whole->header->time_ns);
  g_assert_cmpuint(state->header->step, ==, whole->header->step);
  for (uint32_t row = 0; row < catalog->n_nodes; row++) {
    uint32_t id = catalog->node_rows[row].id;
    if (td_state_node(state, id)->state == TD_NODE_absent) continue;
    g_assert_cmpuint(td_state_node(state, id)->state, ==, td_state_node(whole, id)->state);
  }
  for (uint32_t queue = 0; queue < catalog->n_queues; queue++)
    g_assert_cmpuint(td_state_queue(state, queue)->n_pushed, ==,
                     td_state_queue(whole, queue)->n_pushed);
}

static void
test_opens_one_part(Fixture *fixture, gconstpointer data) {
  TdPart part = part_of(fixture);
  const td_catalog *whole = td_replay_catalog(fixture->whole);
  size_t n_problems;
  g_assert_true(td_document_is_cut(document_of(fixture)));
  g_assert_cmpuint(part.number, ==, 1);
  g_assert_cmpuint(part.n, >, 3);
  g_assert_cmpuint(part.end, <, td_replay_end(fixture->whole) / 2);
  g_assert_cmpuint(td_playhead_get_length(fixture->playhead), ==, td_replay_end(fixture->whole));
  g_assert_cmpuint(td_document_get_whole(document_of(fixture))->n_graph_tasks, ==,
                   whole->n_graph_tasks);
  g_assert_cmpuint(td_document_get_catalog(document_of(fixture))->n_graph_tasks, <,
                   whole->n_graph_tasks);
  td_document_get_problems(document_of(fixture), &n_problems);
  g_assert_cmpuint(n_problems, ==, whole->mentions[TD_LIST_problems].n);
  g_assert_null(td_document_get_refusal(document_of(fixture)));
}

static void
test_seeks_anywhere(Fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  for (uint64_t i = 0; i <= 12; i++) {
    uint64_t position = length * (i * 5 % 13) / 12;
    position = MIN(position, length);
    td_playhead_set_position(fixture->playhead, position);
    g_assert_cmpuint(td_playhead_get_target(fixture->playhead), ==, position);
    assert_at(fixture, position);
  }
}

/* Event by event over a border, there and back; and by nodes. */
static void
test_steps_over_borders(Fixture *fixture, gconstpointer data) {
  uint64_t border = part_of(fixture).end;
  td_playhead_set_position(fixture->playhead, border - 2);
  for (uint64_t position = border - 1; position <= border + 2; position++) {
    td_playhead_step_event(fixture->playhead, 1);
    assert_at(fixture, position);
  }
  g_assert_cmpuint(part_of(fixture).number, ==, 2);
  for (uint64_t position = border + 1; position >= border - 2; position--) {
    td_playhead_step_event(fixture->playhead, -1);
    assert_at(fixture, position);
  }
  g_assert_cmpuint(part_of(fixture).number, ==, 1);
}

static uint64_t
node_begin_after(Fixture *fixture, uint64_t position) {
  td_any_event event;
  for (;; position++) {
    g_assert_cmpint(td_replay_event(fixture->whole, position, &event, NULL), ==, TD_OK);
    if (event.event.kind == TD_EVENT_node_begin) return position + 1;
  }
}

static void
test_steps_nodes(Fixture *fixture, gconstpointer data) {
  uint64_t border = part_of(fixture).end, last = border;
  td_any_event event;
  do
    g_assert_cmpint(td_replay_event(fixture->whole, --last, &event, NULL), ==, TD_OK);
  while (event.event.kind != TD_EVENT_node_begin);
  td_playhead_set_position(fixture->playhead, last + 1);
  td_playhead_step_node(fixture->playhead, 1);
  assert_at(fixture, node_begin_after(fixture, border));
  td_playhead_step_node(fixture->playhead, -1);
  assert_at(fixture, last + 1);
}

static void
test_passes_and_steps(Fixture *fixture, gconstpointer data) {
  const td_catalog *whole = td_replay_catalog(fixture->whole);
  td_playhead_to_start(fixture->playhead);
  for (uint32_t i = 0; i < whole->n_graph_tasks; i++) {
    td_playhead_step_graph_task(fixture->playhead, 1);
    assert_at(fixture, whole->graph_task_rows[i].begin_seq + 1);
  }
  td_playhead_to_start(fixture->playhead);
  arrive(fixture);
  for (uint32_t i = 0; i < whole->n_steps; i++) {
    td_playhead_step_training(fixture->playhead, 1);
    assert_at(fixture, whole->steps[i].seq + 1);
  }
}

static void
test_problems(Fixture *fixture, gconstpointer data) {
  size_t n;
  td_document_get_problems(document_of(fixture), &n);
  g_assert_cmpuint(n, >, 3);
  td_playhead_to_start(fixture->playhead);
  for (size_t i = 0; i < n; i++) {
    uint64_t seq = td_document_get_problems(document_of(fixture), &n)[i].seq;
    uint32_t node = td_document_get_problems(document_of(fixture), &n)[i].node;
    td_playhead_run_to_problem(fixture->playhead);
    assert_at(fixture, seq + 1);
    g_assert_cmpuint(td_playhead_get_selection(fixture->playhead), ==, node);
  }
}

/* Whoever drags the slider changes the goal again and again. The last one counts. */
static void
test_last_goal(Fixture *fixture, gconstpointer data) {
  uint64_t length = td_playhead_get_length(fixture->playhead);
  for (uint64_t i = 1; i <= 40; i++) {
    td_playhead_set_position(fixture->playhead, length * (i * 7 % 41) / 41);
    if (i % 4 == 0) g_main_context_iteration(NULL, FALSE);
  }
  td_playhead_set_position(fixture->playhead, length * 2 / 3);
  assert_at(fixture, length * 2 / 3);
  td_playhead_set_position(fixture->playhead, length);
  td_playhead_set_position(fixture->playhead, length * 2 / 3 + 1);
  assert_at(fixture, length * 2 / 3 + 1);
}

static void
test_plays_on(Fixture *fixture, gconstpointer data) {
  uint64_t border = part_of(fixture).end;
  int64_t now = 1000000;
  td_playhead_set_position(fixture->playhead, border - 5);
  td_playhead_set_speed(fixture->playhead, 1000);
  td_playhead_set_playing(fixture->playhead, TRUE);
  for (int i = 0; i < 30; i++, now += 16000) {
    td_playhead_tick(fixture->playhead, now);
    arrive(fixture);
    g_assert_true(td_playhead_get_playing(fixture->playhead));
  }
  td_playhead_set_playing(fixture->playhead, FALSE);
  g_assert_cmpuint(part_of(fixture).number, ==, 2);
  assert_at(fixture, td_playhead_get_position(fixture->playhead));
  g_assert_cmpuint(td_playhead_get_position(fixture->playhead), >, border);
}

static void
test_list(Fixture *fixture, gconstpointer data) {
  td_playhead_to_end(fixture->playhead);
  arrive(fixture);
  TdPart part = part_of(fixture);
  g_autoptr(TdEventList) list = td_event_list_new(document_of(fixture));
  g_assert_cmpuint(g_list_model_get_n_items(G_LIST_MODEL(list)), ==, part.end - part.first);
  g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(list), 0);
  g_assert_cmpuint(td_event_item_get_seq(item), ==, part.first);
}

/* Turns a bit in the middle of each chunk of keyframes from number `from` on, but for the
 * outline's. */
static void
damage_keyframes(const char *path) {
  g_autofree char *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  td_chunk_header header;
  for (gsize at = sizeof(td_tape_header); at + sizeof header < n;
       at += sizeof header + header.stored_bytes) {
    memcpy(&header, bytes + at, sizeof header);
    if (header.magic != TD_CHUNK_MAGIC) break;
    bool is_lost = header.kind == TD_CHUNK_KEYFRAME && header.thread != TD_SEGMENT_OUTLINE &&
                   header.thread > 1;
    if (is_lost) bytes[at + sizeof header + header.stored_bytes / 2] ^= 4;
  }
  g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
}

/* The window says that it cannot go there, stays where it is, and goes on. */
static void
test_damage(Fixture *fixture, gconstpointer data) {
  damage_keyframes(fixture->path);
  show(fixture);
  uint64_t position = td_playhead_get_position(fixture->playhead),
           second = part_of(fixture).end + 9;
  td_playhead_to_end(fixture->playhead);
  assert_at(fixture, position);
  g_assert_nonnull(fixture->message);
  g_assert_nonnull(strstr(fixture->message, "Cannot show this part of the tape"));
  td_playhead_set_position(fixture->playhead, second);
  assert_at(fixture, second);
}

static gboolean
find_end(td_tape *tape, const td_catalog *whole, gpointer data, uint64_t *position) {
  *position = td_tape_info_get(tape)->n_events;
  return TRUE;
}

/* Opened at a place that cannot be shown, the window shows the first part and says so. */
static void
test_damage_at_start(Fixture *fixture, gconstpointer data) {
  damage_keyframes(fixture->path);
  g_autoptr(TdDocument) document = td_document_new(fixture->path);
  GAsyncResult *result = NULL;
  td_document_set_start(document, find_end, NULL);
  td_document_load_async(document, NULL, store_result, &result);
  while (!result)
    g_main_context_iteration(NULL, TRUE);
  g_assert_true(td_document_load_finish(document, result, NULL));
  g_object_unref(result);
  g_assert_nonnull(td_document_get_refusal(document));
  g_autofree char *warning = td_document_dup_warning(document);
  g_assert_nonnull(strstr(warning, "A part of this tape cannot be shown"));
  g_assert_cmpuint(td_document_get_part(document).number, ==, 1);
}

#define ADD(path, test) g_test_add("/ui/parts/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("opens-one-part", test_opens_one_part);
  ADD("seeks-anywhere", test_seeks_anywhere);
  ADD("steps-over-borders", test_steps_over_borders);
  ADD("steps-nodes", test_steps_nodes);
  ADD("passes-and-steps", test_passes_and_steps);
  ADD("problems", test_problems);
  ADD("last-goal", test_last_goal);
  ADD("plays-on", test_plays_on);
  ADD("list", test_list);
  ADD("damage", test_damage);
  ADD("damage-at-start", test_damage_at_start);
  return g_test_run();
}
