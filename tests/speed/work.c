/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * work compiler FOLDER: says what compiled it. work tape FOLDER: makes the tape that some figures
 * read. work FIGURE FOLDER: does the work of a figure once, to count its instructions:
 * tests/speed/test_instructions.py. It is the same work each time: no clock, no chance and no
 * second thread has a part in what is counted. What a figure needs first is not counted. */
#include "app/bench/graphs.h"
#include "app/bench/recording.h"
#include "app/bench/shapes.h"
#include "app/command.h"
#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/replay/segments.h"
#include "engine/trace/contents.h"
#include "engine/trace/maker.h"
#include "tests/speed/steady_tape.h"
#include "ui/draw/graph_scene.h"
#include "ui/geometry/layered.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const td_tape_plan plan = {
    .n_nodes = 1200, .n_threads = 3, .n_passes = 3, .seed = 7, .n_anomalies = 1};

static char *tape_path, *scratch_path;

long __wrap_sysconf(int name);
long __real_sysconf(int name);

/* One processor: a second one would have a thread decode ahead (engine/trace/ahead.h). */
long
__wrap_sysconf(int name) {
  return name == _SC_NPROCESSORS_ONLN ? 1 : __real_sysconf(name);
}

void *__wrap_mremap(void *at, size_t n_bytes, size_t wanted, int flags, ...);
void *__real_mremap(void *at, size_t n_bytes, size_t wanted, int flags, ...);

/* Valgrind cannot map memory twice, as engine/events/ring.c does. The second half of a ring is
 * there without it, and no ring gets full here. */
void *
__wrap_mremap(void *at, size_t n_bytes, size_t wanted, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void *to = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
  va_end(rest);
  return n_bytes == 0 ? to : __real_mremap(at, n_bytes, wanted, flags, to);
}

static void
stop(const char *what, const char *why) {
  fprintf(stderr, "work: %s: %s\n", what, why);
  exit(2);
}

static void
fail(const char *what, td_error *error) {
  stop(what, td_error_text(error));
}

/* Callgrind counts while this function runs. */
void td_speed_counted(void (*work)(void *data), void *data);

__attribute__((noinline, noclone)) void
td_speed_counted(void (*work)(void *data), void *data) {
  work(data);
  __asm__ volatile("" : : : "memory"); /* no tail call */
}

/* event: into a ring, and from there into a tape's chunks */

static void
emit_events(void *data) {
  for (uint32_t i = 0; i < 40000; i++) {
    TD_EMIT(queue_push, .node = i, .size = i % 7);
    TD_EMIT(node_begin, .node = i);
    TD_EMIT_BORROWED(node_end, .node = i);
  }
}

typedef struct encoding {
  td_maker *maker;
  td_tape_script script;
} encoding;

static void
encode_events(void *data) {
  encoding *self = data;
  for (size_t i = 0; i < self->script.n; i++)
    td_maker_add(self->maker, self->script.events[i]);
}

static void
count_event(void) {
  td_bench_recording recording = {0};
  encoding encoding = {0};
  td_error error = {0};
  char *trouble = td_bench_record_begin(&recording);
  if (trouble) stop("recording", trouble);
  TD_EMIT(queue_pop, .node = 0); /* makes the ring */
  td_speed_counted(emit_events, NULL);
  trouble = td_bench_record_end(&recording);
  if (trouble) stop("recording", trouble);
  td_bench_record_remove(&recording);
  td_tape_script_make(&encoding.script, &plan);
  for (size_t i = 0; i < encoding.script.n; i++)
    encoding.script.events[i].event.time = 700 * i;
  if (td_maker_open(scratch_path, true, 0, 1, &encoding.maker, &error)) fail("maker", &error);
  td_speed_counted(encode_events, &encoding);
  if (td_maker_close(encoding.maker, &error)) fail("maker", &error);
  td_tape_script_fini(&encoding.script);
}

/* node: built, run and freed */

static void
run_chain(void *data) {
  td_tensor *end = td_bench_chain(8000, 0);
  td_bench_backward(end, false);
  td_tensor_unref(end);
}

static void
count_node(void) {
  td_speed_counted(run_chain, NULL);
}

/* decode, seek, open, frame: of the tape */

static td_tape *
open_tape(void) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(tape_path, &tape, &error)) fail(tape_path, &error);
  return tape;
}

static td_replay *
open_replay(void) {
  td_replay *replay;
  td_error error = {0};
  if (td_replay_open(tape_path, NULL, NULL, &replay, &error)) fail(tape_path, &error);
  return replay;
}

static void
seek(td_replay *replay, uint64_t position) {
  td_error error = {0};
  if (td_replay_seek(replay, position, &error)) fail("seek", &error);
}

static void
decode(void *tape) {
  td_segment whole = td_tape_whole(tape);
  td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = whole.first; seq < whole.end; seq++)
    if (!td_tape_peek(tape, seq)) stop("decode", "an event is missing");
  td_tape_end_pass(tape);
}

static void
count_decode(void) {
  td_tape *tape = open_tape();
  td_speed_counted(decode, tape);
  td_tape_close(tape);
}

static void
seek_about(void *replay) {
  for (uint64_t i = 0; i < 20; i++)
    seek(replay, td_hash_number(i) % td_replay_end(replay));
}

static void
count_seek(void) {
  td_replay *replay = open_replay();
  td_speed_counted(seek_about, replay);
  td_replay_close(replay);
}

typedef struct picture {
  td_replay *replay;
  td_graph_scene *scene;
  td_label_cache *labels;
  td_graph_view view;
  cairo_surface_t *surface;
} picture;

static void
draw(void *data) {
  picture *self = data;
  cairo_t *cr = cairo_create(self->surface);
  td_graph_scene_draw(self->scene, cr, td_replay_state(self->replay), &self->view,
                      td_theme_default(false), self->labels);
  cairo_destroy(cr);
}

static void
show(void *data) {
  picture *self = data;
  const td_catalog *catalog = td_replay_catalog(self->replay);
  self->scene = td_graph_scene_new(catalog, catalog->graph_task_rows[0].id);
  self->labels = td_label_cache_new(td_theme_default(false));
  self->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 1200, 800);
  self->view =
      (td_graph_view){.width = 1200, .height = 800, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(self->scene, &self->view);
}

static void
picture_fini(picture *self) {
  cairo_surface_destroy(self->surface);
  td_label_cache_free(self->labels);
  td_graph_scene_free(self->scene);
  td_replay_close(self->replay);
}

/* From far away and from near, while the pass goes on. */
static void
count_frame(void) {
  picture self = {.replay = open_replay()};
  uint64_t end = td_catalog_graph_task_find(td_replay_catalog(self.replay), 0)->end_seq;
  show(&self);
  double far = self.view.scale;
  for (uint64_t i = 0; i < 24; i++) {
    seek(self.replay, end * (i + 1) / 24);
    self.view.scale = i % 2 ? far : 0.7;
    td_speed_counted(draw, &self);
  }
  picture_fini(&self);
}

/* The first picture of a tape. */
static void
open_and_draw(void *data) {
  picture *self = data;
  self->replay = open_replay();
  show(self);
  draw(self);
}

static void
count_open(void) {
  picture self;
  td_speed_counted(open_and_draw, &self);
  picture_fini(&self);
}

/* layout: of each shape */

static void
lay_out(void *graph) {
  td_layout_free(td_layout_new(graph, &td_layout_defaults));
}

static void
lay_out_shape(td_graph_shape shape) {
  td_made_graph *made = td_made_graph_new(shape, 1500);
  float *width = TD_NEW_N(float, made->n_nodes), *height = TD_NEW_N(float, made->n_nodes);
  for (uint32_t i = 0; i < made->n_nodes; i++)
    width[i] = 150, height[i] = 44;
  td_layout_graph graph = {.n_nodes = made->n_nodes,
                           .n_edges = made->n_edges,
                           .from = made->from,
                           .to = made->to,
                           .width = width,
                           .height = height,
                           .port = made->port};
  td_speed_counted(lay_out, &graph);
  free(width);
  free(height);
  td_made_graph_free(made);
}

static void
count_layout(void) {
  for (int shape = 0; shape < TD_N_SHAPES; shape++)
    lay_out_shape((td_graph_shape)shape);
}

/* report, check, info: the commands */

static void
run_command(void *data) {
  const td_command *command = data;
  char *argv[] = {(char *)command->name, tape_path, NULL};
  if (command->run(2, argv) == TD_EXIT_USAGE) stop(command->name, "failed");
}

static void
count_report(void) {
  td_speed_counted(run_command, (void *)td_command_find("report"));
}

static void
count_check(void) {
  td_speed_counted(run_command, (void *)td_command_find("check"));
}

static void
count_info(void) {
  td_speed_counted(run_command, (void *)td_command_find("info"));
}

/* finish: what is left to do when a recording is over */

static void
finish_tape(void *data) {
  td_error error = {0};
  if (td_segments_add(scratch_path, 8192, &error)) fail(scratch_path, &error);
}

static void
count_finish(void) {
  td_error error = {0};
  if (td_steady_tape_make(&plan, scratch_path, &error)) fail(scratch_path, &error);
  td_speed_counted(finish_tape, NULL);
}

static void
make_tape(void) {
  td_error error = {0};
  if (td_steady_tape_make(&plan, tape_path, &error)) fail(tape_path, &error);
  if (td_contents_add(tape_path, &error)) fail(tape_path, &error);
}

/* Another compiler makes other instructions. */
static void
print_compiler(void) {
#ifdef __clang__
  printf("clang %d\n", __clang_major__);
#else
  printf("gcc %d\n", __GNUC__);
#endif
}

static const struct {
  const char *name;
  void (*run)(void);
} jobs[] = {
    {"compiler", print_compiler}, {"tape", make_tape},      {"event", count_event},
    {"node", count_node},         {"decode", count_decode}, {"seek", count_seek},
    {"layout", count_layout},     {"frame", count_frame},   {"report", count_report},
    {"check", count_check},       {"info", count_info},     {"open", count_open},
    {"finish", count_finish},
};

int
main(int argc, char **argv) {
  for (size_t i = 0; argc == 3 && i < TD_N_ELEMENTS(jobs); i++) {
    if (strcmp(jobs[i].name, argv[1]) != 0) continue;
    tape_path = g_build_filename(argv[2], "steady.tape", NULL);
    scratch_path = g_strdup_printf("%s/%s.tape", argv[2], argv[1]);
    jobs[i].run();
    return 0;
  }
  fputs("usage: work compiler|tape|FIGURE FOLDER\n", stderr);
  return 2;
}
