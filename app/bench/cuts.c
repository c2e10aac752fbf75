/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Long tapes: 100 million events in 50,000 training steps, cut into segments. */
#include "app/bench/cuts.h"

#include "app/bench/apart.h"
#include "app/bench/figure.h"
#include "app/bench/recording.h"
#include "app/bench/scale.h"
#include "app/common/paths.h"
#include "engine/profile/summary.h"
#include "engine/replay/catalog_collect.h"
#include "engine/trace/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES_OF_STEP 144
#define STEPS 50000
#define SMALL_STEPS 1200 /* a few segments */
#define ROUNDS 5

typedef struct opening {
  double outline_ms, open_ms, memory_mb;
  double n_events;
} opening;

/* Made for the first figure that wants it. */
static struct {
  bool has_tried, has_measured;
  char *trouble; /* (owned) why there is none */
  td_bench_tape tape;
  opening opening;
  double directory_ms, info_ms, decode_ns;
} made;

static void
remove_tape(void) {
  td_bench_tape_remove(&made.tape);
}

/* What `info` reads. */
static td_status
read_outline(const char *path, uint64_t *n_events, td_error *error) {
  td_tape *tape;
  td_catalog *catalog = NULL;
  td_summary summary = {0};
  td_status status = td_tape_open(path, &tape, error);
  if (status) return status;
  td_segment outline = td_tape_outline(tape);
  *n_events = td_tape_info_get(tape)->n_events;
  status = td_catalog_collect(tape, &outline, &catalog, error);
  if (!status) status = td_summary_make(tape, catalog, &summary, error);
  td_summary_fini(&summary);
  td_catalog_free(catalog);
  td_tape_close(tape);
  return status;
}

static td_status
open_middle(const char *path, td_error *error) {
  td_tape *tape;
  td_replay *replay;
  td_status status = td_tape_open(path, &tape, error);
  if (status) return status;
  uint64_t middle = td_tape_info_get(tape)->n_events / 2;
  td_segment segment = td_tape_segment_at(tape, middle);
  status = td_replay_new(tape, &segment, NULL, NULL, &replay, error);
  if (status) return status;
  status = td_replay_seek(replay, middle, error);
  td_replay_close(replay);
  return status;
}

/* "outline_ms open_ms memory_mb n_events trouble" */
static char *
open_cb(void *path) {
  td_error error = {0};
  uint64_t n_events = 0;
  double begin = td_bench_now();
  td_status status = read_outline(path, &n_events, &error);
  double between = td_bench_now();
  if (!status) status = open_middle(path, &error);
  double end = td_bench_now();
  char *text =
      g_strdup_printf("%.17g %.17g %.17g %.17g %s", (between - begin) * 1e3, (end - between) * 1e3,
                      td_bench_apart_mb(), (double)n_events, status ? td_error_text(&error) : "");
  td_error_clear(&error);
  return text;
}

static char *
open_apart(const char *path, opening *opening) {
  g_autofree char *text = td_bench_apart(open_cb, (void *)path);
  if (!text) return g_strdup("the reader's process died");
  char *rest;
  opening->outline_ms = strtod(text, &rest);
  opening->open_ms = strtod(rest, &rest);
  opening->memory_mb = strtod(rest, &rest);
  opening->n_events = strtod(rest, &rest);
  return rest[0] && rest[1] ? g_strdup(rest + 1) : NULL;
}

/* The outline, the table of contents and the index lie at the end, behind one another. */
static uint64_t
directory_offset(const td_directory *directory) {
  for (uint32_t i = 0; i < directory->n_keyframes; i++)
    if (directory->keyframes[i].segment == TD_SEGMENT_OUTLINE)
      return directory->keyframes[i].chunk.offset;
  return directory->file.n_bytes;
}

/* The system forgets what it has of the file. */
static void
forget(int fd) {
  fdatasync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Off the disk. */
static double
read_from_ms(int fd, uint64_t offset) {
  static char bytes[1 << 16];
  forget(fd);
  double begin = td_bench_now();
  for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, (off_t)offset)) > 0;)
    offset += (uint64_t)n;
  return (td_bench_now() - begin) * 1e3;
}

/* Off the disk too, with the start of the process. */
static double
info_ms(int fd, const char *path) {
  const char *argv[] = {td_path_program(), "info", path, NULL};
  int status = 0;
  GSpawnFlags flags = G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL |
                      G_SPAWN_LEAVE_DESCRIPTORS_OPEN; /* so that GLib need not fork */
  forget(fd);
  double begin = td_bench_now();
  bool ran = g_spawn_sync(NULL, (char **)argv, NULL, flags, NULL, NULL, NULL, NULL, &status, NULL);
  return ran && status == 0 ? (td_bench_now() - begin) * 1e3 : NAN;
}

/* Both in turn, the shortest of each. */
static char *
measure_off_disk(const char *path, uint64_t offset) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return g_strdup(strerror(errno));
  made.directory_ms = made.info_ms = INFINITY;
  for (uint32_t i = 0; i < td_bench_size(ROUNDS, 1); i++) {
    made.directory_ms = MIN(made.directory_ms, read_from_ms(fd, offset));
    made.info_ms = MIN(made.info_ms, info_ms(fd, path));
  }
  close(fd);
  return isfinite(made.info_ms) ? NULL : g_strdup("`tapedeck info` failed");
}

/* The thread that recorded: its number may be any, because a process numbers threads on. */
static uint32_t
busiest_thread(const td_directory *directory) {
  uint32_t busiest = 0;
  for (uint32_t i = 1; i < directory->n_threads; i++)
    if (directory->threads[i].n_chunks > directory->threads[busiest].n_chunks) busiest = i;
  return busiest;
}

/* Decodes the first chunks of a tape: nanoseconds for each event. */
static double
decode_ns(td_directory *directory) {
  td_decoded decoded = {0};
  uint32_t thread = busiest_thread(directory);
  uint64_t n = 0;
  double begin = td_bench_now();
  for (uint32_t i = 0; i < directory->threads[thread].n_chunks && n < 1000000; i++) {
    if (td_directory_load(directory, thread, i, &decoded, NULL)) break;
    n += decoded.n_events;
  }
  double took = td_bench_now() - begin;
  td_decoded_fini(&decoded);
  return n ? took * 1e9 / (double)n : 0;
}

static char *
measure_floors(const char *path) {
  td_directory directory = {0};
  td_error error = {0};
  if (td_directory_open(path, &directory, &error)) {
    char *trouble = g_strdup(td_error_text(&error));
    td_error_clear(&error);
    return trouble;
  }
  made.decode_ns = decode_ns(&directory);
  uint64_t offset = directory_offset(&directory);
  td_directory_close(&directory);
  return measure_off_disk(path, offset);
}

const char *
td_bench_cuts_tape(char **trouble) {
  if (!made.has_tried) {
    made.has_tried = true;
    atexit(remove_tape);
    made.tape = (td_bench_tape){.n_nodes = NODES_OF_STEP,
                                .n_passes = td_bench_size(STEPS, SMALL_STEPS),
                                .trains = true,
                                .is_cut = true};
    made.trouble = td_bench_tape_record_apart(&made.tape);
  }
  *trouble = made.trouble;
  return made.trouble ? NULL : made.tape.recording.path;
}

static void
measure_once(void) {
  char *trouble;
  const char *path = td_bench_cuts_tape(&trouble);
  if (made.has_measured || !path) return;
  made.has_measured = true;
  made.trouble = measure_floors(path);
  if (!made.trouble) made.trouble = open_apart(path, &made.opening);
}

static void
measure(td_measured *measured, const double *value, const double *floor) {
  measure_once();
  measured->value = *value;
  if (floor) measured->floor_value = *floor;
  measured->skipped = g_strdup(made.trouble);
}

void
td_bench_cut_event(td_measured *measured) {
  measure(measured, &made.tape.contents_ms, &made.decode_ns);
  measured->value *= 1e6 / made.opening.n_events;
}

void
td_bench_outline_100m(td_measured *measured) {
  measure(measured, &made.opening.outline_ms, &made.directory_ms);
}

void
td_bench_info_100m(td_measured *measured) {
  measure(measured, &made.info_ms, &made.directory_ms);
}

void
td_bench_open_100m(td_measured *measured) {
  measure(measured, &made.opening.open_ms, &made.directory_ms);
}

void
td_bench_open_100m_memory(td_measured *measured) {
  measure(measured, &made.opening.memory_mb, NULL);
}

char *
td_bench_scale_open_cut(uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = NODES_OF_STEP, .n_passes = n, .trains = true, .is_cut = true};
  char *trouble = td_bench_tape_record_apart(&tape);
  td_error error = {0};
  double begin = td_bench_now();
  if (!trouble && open_middle(tape.recording.path, &error))
    trouble = g_strdup(td_error_text(&error));
  *value = (td_bench_now() - begin) * 1e3;
  td_error_clear(&error);
  td_bench_tape_remove(&tape);
  return trouble;
}
