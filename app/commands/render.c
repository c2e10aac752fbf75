/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck render`: a picture of one instant. The window draws with the same code. A confined
 * child reads the tape and draws. */
#include "app/command.h"
#include "app/commands/confined_child.h"
#include "app/commands/overlay_option.h"
#include "app/commands/render_options.h"
#include "app/common/fonts.h"
#include "app/common/moment_replay.h"
#include "app/common/picture_file.h"
#include "app/common/word_list.h"
#include "engine/base/alloc.h"
#include "engine/profile/why/why.h"
#include "engine/replay/replay.h"
#include "ui/draw/memory_picture.h"
#include "ui/draw/overview.h"
#include "ui/geometry/format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The options as they were typed. */
typedef struct options {
  char *view, *size, *overlay, *output;
  td_moment_options moment;
  td_render_range range;
  gboolean dark;
} options;

typedef struct job {
  const char *path, *output; /* (borrowed), as the next three */
  const options *wanted;
  const struct view *view;
  const td_picture_format *format;
  int width, height;
  const td_theme *theme;
  td_replay *replay;     /* (owned) */
  td_timeline *timeline; /* (owned) or NULL */
  td_graph_scene *scene; /* (owned) or NULL */
  td_overlay overlay;    /* (owned) */
  td_overlay_kind overlay_kind;
  bool has_overlay;
  double from_ns, to_ns;  /* of the timeline */
  td_memory memory;       /* (owned) */
  td_label_cache *labels; /* (owned) */
  uint64_t seq;           /* the last event before the moment */
  char *how;              /* (owned) how the moment was chosen; NULL: the user gave its number */
} job;

static td_graph_view
fitted(const job *self) {
  td_graph_view view = {
      .width = self->width, .height = self->height, .selected = TD_NONE, .hovered = TD_NONE};
  view.overlay = self->has_overlay ? &self->overlay : NULL;
  td_graph_scene_fit(self->scene, &view);
  return view;
}

static void
draw_graph(const job *self, cairo_t *cr) {
  td_graph_view view = fitted(self);
  td_graph_scene_draw(self->scene, cr, td_replay_state(self->replay), &view, self->theme,
                      self->labels);
}

static void
draw_queues(const job *self, cairo_t *cr) {
  td_queues_view view = {.width = self->width, .height = self->height, .selected = TD_NONE};
  td_queues_draw(cr, td_replay_catalog(self->replay), td_replay_state(self->replay), &view,
                 self->theme, self->labels);
}

static void
draw_timeline(const job *self, cairo_t *cr) {
  td_timeline_view view = {.width = self->width,
                           .height = self->height,
                           .now_ns = (double)td_replay_state(self->replay)->header->time_ns,
                           .cuts = td_timeline_cuts(self->timeline),
                           .selected = TD_NONE};
  view.from_ns = self->from_ns;
  view.to_ns = self->to_ns;
  td_timeline_draw(self->timeline, cr, &view, self->theme, self->labels);
  td_timeline_draw_over(self->timeline, cr, &view, self->theme, self->labels);
}

static void
draw_memory(const job *self, cairo_t *cr) {
  const td_tape_info *info = td_tape_info_get(td_replay_tape(self->replay));
  td_memory_view view = {.width = self->width,
                         .height = self->height,
                         .to_ns = (double)info->duration_ns,
                         .now_ns = (double)td_replay_state(self->replay)->header->time_ns};
  td_memory_areas areas;
  td_memory_areas_init(&areas, &self->memory);
  td_memory_picture_draw(&areas, cr, &view, self->theme, self->labels);
  td_memory_picture_draw_over(cr, &view, self->theme);
}

/* The sentence of the last event. If that is no pop, also why the engine popped the last node. */
static char *
why_text(td_replay *replay) {
  const td_state *state = td_replay_state(replay);
  uint64_t position = td_replay_position(replay), last_pop = UINT64_MAX;
  char *event = NULL, *pop = NULL;
  if (!position) return NULL;
  for (uint32_t i = 0; i < td_replay_catalog(replay)->n_queues; i++) {
    uint64_t seq = td_state_queue(state, i)->last_pop_seq;
    if (seq != UINT64_MAX && (last_pop == UINT64_MAX || seq > last_pop)) last_pop = seq;
  }
  if (td_why_at(replay, position - 1, &event, NULL)) return NULL;
  if (last_pop == UINT64_MAX || last_pop == position - 1 ||
      td_why_pop(replay, last_pop, &pop, NULL))
    return event;
  char *text = td_format("%s\n\n%s", event, pop);
  free(event);
  free(pop);
  return text;
}

static void
draw_overview(const job *self, cairo_t *cr) {
  const td_catalog *catalog = td_replay_catalog(self->replay);
  const td_state *state = td_replay_state(self->replay);
  uint64_t position = td_replay_position(self->replay);
  char *time = td_format_ns((double)state->header->time_ns),
       *now = td_format_count(position ? position - 1 : 0);
  char *length = td_format_count(td_replay_end(self->replay));
  char *note = td_format("event %s of %s · %s", now, length, time);
  char *why = why_text(self->replay);
  char *title =
      *catalog->source ? g_path_get_basename(catalog->source) : g_path_get_basename(self->path);
  td_overview overview = {self->scene, self->timeline, catalog, state, title, note, why};
  td_overview_draw(&overview, cr, self->width, self->height, self->theme, self->labels);
  g_free(title);
  free(note);
  free(why);
  free(length);
  free(now);
  free(time);
}

static const struct view {
  const char *name;
  void (*draw)(const job *self, cairo_t *cr);
  bool needs_scene, needs_timeline, needs_memory;
} views[] = {
    {"graph", draw_graph, .needs_scene = true},
    {"timeline", draw_timeline, .needs_timeline = true},
    {"queues", draw_queues},
    {"memory", draw_memory, .needs_memory = true},
    {"overview", draw_overview, .needs_scene = true, .needs_timeline = true},
};

static const struct view *
view_find(const char *name) {
  for (size_t i = 0; i < TD_N_ELEMENTS(views); i++)
    if (!strcmp(views[i].name, name)) return &views[i];
  return NULL;
}

/* Of two passes, one of which may be NULL, the one that began later. */
static const td_catalog_graph_task *
later(const td_catalog_graph_task *one, const td_catalog_graph_task *other) {
  return !one || other->number >= one->number ? other : one;
}

/* The innermost graph task that runs. If none runs, the last that began; if none began, the
 * first of the tape. In a tape of several processes, a later pass may have a lower id. */
static uint32_t
active_graph_task(const td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_catalog_graph_task *first = NULL, *begun = NULL, *running = NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    uint32_t status = td_state_graph_task_row(td_replay_state(replay), i)->status;
    if (!first || (pass->number && pass->number < first->number)) first = pass;
    if (status) begun = later(begun, pass);
    if (status == TD_PASS_RUNNING) running = later(running, pass);
  }
  const td_catalog_graph_task *found = running ? running : begun ? begun : first;
  return found ? found->id : TD_NONE;
}

/* A view of a job, to draw. */
typedef struct drawing {
  const job *job;
  const struct view *view;
} drawing;

static void
draw(const void *data, cairo_t *cr) {
  const drawing *self = data;
  self->view->draw(self->job, cr);
}

static int
save(const job *self, int fd) {
  drawing drawing = {self, self->view};
  td_picture picture = {self->width, self->height, 1, draw, &drawing};
  FILE *file = fdopen(fd, "w");
  if (!file) return td_command_fail(self->output, "%s", g_strerror(errno));
  const char *failure = td_picture_write(&picture, self->format, file);
  td_error unread = {0};
  if (td_tape_check_readable(td_replay_tape(self->replay), &unread))
    return td_command_file_error(self->path, &unread);
  return failure ? td_command_fail(self->output, "%s", failure) : TD_EXIT_OK;
}

/* A moment that the user did not give by its number: which one it is. */
static void
tell_moment(const job *self) {
  if (self->how)
    fprintf(stderr, "tapedeck: %s shows the moment after event %" PRIu64 ", %s\n", self->output,
            self->seq, self->how);
}

static int
prepare(job *self) {
  const struct view *view = self->view;
  const td_moment_options *moment = &self->wanted->moment;
  td_error error = {0};
  if (!td_moment_replay(self->path, moment, view->needs_timeline, &self->replay, &self->seq,
                        &self->how))
    return TD_EXIT_USAGE;
  if (view->needs_scene && !td_moment_tells_pass(self->replay, active_graph_task(self->replay)) &&
      !td_moment_replay_again(self->path, moment, &self->replay, &self->seq, &self->how))
    return TD_EXIT_USAGE;
  const td_catalog *catalog = td_replay_catalog(self->replay);
  if (view->needs_scene) self->scene = td_graph_scene_new(catalog, active_graph_task(self->replay));
  if (view->needs_timeline &&
      td_timeline_new(td_replay_tape(self->replay), catalog, &self->timeline, &error))
    return td_command_file_error(self->path, &error);
  if (view->needs_memory &&
      td_memory_make(td_replay_tape(self->replay), TD_NONE, NULL, &self->memory, &error))
    return td_command_file_error(self->path, &error);
  if (self->has_overlay &&
      td_overlay_make(td_replay_tape(self->replay), catalog, active_graph_task(self->replay),
                      self->overlay_kind, &self->overlay, &error))
    return td_command_file_error(self->path, &error);
  self->labels = td_label_cache_new(self->theme);
  return TD_EXIT_OK;
}

static void
job_fini(job *self) {
  td_label_cache_free(self->labels);
  td_overlay_fini(&self->overlay);
  td_memory_fini(&self->memory);
  td_timeline_free(self->timeline);
  td_graph_scene_free(self->scene);
  if (self->replay) td_replay_close(self->replay);
  g_free(self->how);
}

static uint32_t
wanted_pass(const options *options) {
  gint64 pass = options->moment.pass;
  return pass == TD_MOMENT_NO_PASS ? TD_NONE : (uint32_t)pass;
}

/* In the confined child, which can only fill the picture. */
static int
fill(const char *part, int fd, void *data) {
  job *self = data;
  int status = prepare(self);
  if (self->timeline &&
      !td_render_range_find(&self->wanted->range, wanted_pass(self->wanted), self->timeline,
                            self->replay, self->path, &self->from_ns, &self->to_ns))
    status = TD_EXIT_USAGE;
  if (status == TD_EXIT_OK) status = save(self, fd);
  if (status == TD_EXIT_OK) tell_moment(self);
  job_fini(self);
  return status;
}

static int
run(const char *path, const options *wanted) {
  job self = {.path = path,
              .output = wanted->output,
              .wanted = wanted,
              .view = wanted->view ? view_find(wanted->view) : NULL,
              .format = wanted->output ? td_picture_format_find(wanted->output) : NULL,
              .width = 1600,
              .height = 1000,
              .theme = td_theme_default(wanted->dark)};
  const char *names[TD_N_ELEMENTS(views) + 1] = {NULL};
  for (size_t i = 0; i < TD_N_ELEMENTS(views); i++)
    names[i] = views[i].name;
  g_autofree char *list = td_word_list_dup_text(names);
  if (!wanted->view) return td_command_bad_usage("render", "--view is missing: must be %s", list);
  if (!td_command_check_word("render", "--view", wanted->view, names) || !self.view)
    return TD_EXIT_USAGE;
  if (!wanted->output)
    return td_command_bad_usage("render", "-o is missing: must be OUT.png, OUT.svg or OUT.pdf");
  if (!self.format)
    return td_command_bad_usage("render", "-o '%s': must end in " TD_PICTURE_ENDINGS,
                                wanted->output);
  if (!td_render_parse_size(wanted->size, &self.width, &self.height)) return TD_EXIT_USAGE;
  if (!td_render_range_check(&wanted->range, wanted->view)) return TD_EXIT_USAGE;
  if (!td_moment_options_check("render", &wanted->moment)) return TD_EXIT_USAGE;
  if (!td_overlay_option_find("render", wanted->overlay, &self.overlay_kind)) return TD_EXIT_USAGE;
  self.has_overlay = self.overlay_kind != TD_N_OVERLAYS;
  if (wanted->overlay && strcmp(wanted->view, "graph"))
    return td_command_bad_usage("render", "--overlay goes with --view graph alone");
  return td_confined_child_write(wanted->output, fill, &self);
}

int
td_command_render(int argc, char **argv) {
  options wanted = {.moment = TD_MOMENT_OPTIONS, .range = TD_RENDER_RANGE};
  int status;
  const GOptionEntry entries[] = {
      {"view", 'v', 0, G_OPTION_ARG_STRING, &wanted.view,
       "What to draw: graph, timeline, queues, memory or overview", "VIEW"},
      TD_MOMENT_ENTRIES(wanted.moment, TD_MOMENT_MIDDLE),
      TD_RENDER_RANGE_ENTRIES(wanted.range),
      {"size", 0, 0, G_OPTION_ARG_STRING, &wanted.size,
       "Size in pixels or points (default: 1600x1000)", "WxH"},
      {"overlay", 0, 0, G_OPTION_ARG_STRING, &wanted.overlay, TD_OVERLAY_HELP, "WHAT"},
      {"dark", 0, 0, G_OPTION_ARG_NONE, &wanted.dark, "Dark colours", NULL},
      TD_TRUST_ENTRY,
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &wanted.output,
       "Where the picture goes: *.png, *.svg or *.pdf", "OUT"},
      {NULL}};
  if (td_command_parse("render", entries, false, 1, 1, &argc, &argv, &status)) {
    td_fonts_find();
    status = run(argv[1], &wanted);
  }
  g_free(wanted.view);
  td_moment_options_fini(&wanted.moment);
  g_free(wanted.size);
  g_free(wanted.overlay);
  g_free(wanted.output);
  return status;
}
