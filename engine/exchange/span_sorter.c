/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/span_sorter.h"

#include "engine/base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define RUN_SPANS (1u << 18)  /* 10 MiB */
#define READ_SPANS (1u << 11) /* 80 KiB of each run while merging */

typedef struct run {
  uint64_t first, n;  /* spans in the file */
  uint64_t next;      /* the next to be read from the file */
  td_span *spans;     /* (owned) read ahead, or of the last run: all */
  uint32_t at, ready; /* in spans */
} run;

struct td_span_sorter {
  char *folder;   /* (owned) */
  int file;       /* or -1 */
  int not_opened; /* errno if there is none */
  int failure;    /* errno of the first failed read or write */
  uint64_t n_in_file;
  td_span *gathered; /* (owned) the run that is being filled */
  uint32_t n_gathered;
  run *runs; /* (owned) */
  uint32_t n_runs, runs_capacity;
  uint32_t *heap; /* (owned) runs by their next span */
  uint32_t n_heap;
};

/* A file without a name, so that none is left if this process is killed. Some file systems can only
 * take the name away afterwards. */
static int
open_file(const char *folder) {
  int nameless = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (nameless >= 0) return nameless;
  char *path = td_format("%s/.tapedeck-import-XXXXXX", folder);
  int file = mkostemp(path, O_CLOEXEC), failure = errno;
  if (file >= 0) unlink(path);
  free(path);
  errno = failure;
  return file;
}

td_span_sorter *
td_span_sorter_new(const char *folder) {
  td_span_sorter *sorter = TD_NEW(td_span_sorter);
  sorter->folder = td_dup_string(folder);
  sorter->file = open_file(folder);
  if (sorter->file < 0) sorter->not_opened = errno;
  sorter->gathered = td_realloc(NULL, RUN_SPANS, sizeof *sorter->gathered);
  return sorter;
}

void
td_span_sorter_free(td_span_sorter *sorter) {
  if (!sorter) return;
  for (uint32_t i = 0; i < sorter->n_runs; i++)
    free(sorter->runs[i].spans);
  if (sorter->file >= 0) close(sorter->file);
  free(sorter->folder);
  free(sorter->gathered);
  free(sorter->runs);
  free(sorter->heap);
  free(sorter);
}

static int
compare_spans(const void *a, const void *b) {
  const td_span *x = a, *y = b;
  if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
  if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static void
write_spans(td_span_sorter *sorter) {
  const char *at = (const char *)sorter->gathered;
  size_t left = sorter->n_gathered * sizeof(td_span);
  if (sorter->file < 0) sorter->failure = sorter->not_opened;
  while (left > 0 && !sorter->failure) {
    ssize_t n = write(sorter->file, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) sorter->failure = n < 0 ? errno : ENOSPC;
    if (n <= 0) break;
    at += n;
    left -= (size_t)n;
  }
}

static void
end_run(td_span_sorter *sorter, bool last) {
  run run = {.first = sorter->n_in_file, .n = sorter->n_gathered};
  if (run.n == 0) return;
  qsort(sorter->gathered, sorter->n_gathered, sizeof(td_span), compare_spans);
  if (last) {
    run.spans = sorter->gathered;
    sorter->gathered = NULL;
  } else {
    write_spans(sorter);
    sorter->n_in_file += run.n;
    run.spans = td_realloc(NULL, READ_SPANS, sizeof(td_span));
  }
  sorter->n_gathered = 0;
  TD_GROW(sorter->runs, sorter->n_runs, sorter->runs_capacity);
  sorter->runs[sorter->n_runs++] = run;
}

void
td_span_sorter_add(td_span_sorter *sorter, const td_span *span) {
  if (sorter->failure) return;
  if (sorter->n_gathered == RUN_SPANS) end_run(sorter, false);
  sorter->gathered[sorter->n_gathered] = *span;
  sorter->gathered[sorter->n_gathered].order = sorter->n_gathered;
  sorter->n_gathered++;
}

static bool
is_in_memory(const td_span_sorter *sorter, const run *run) {
  return run->first >= sorter->n_in_file;
}

/* Reads ahead; false at the run's end. */
static bool
refill(td_span_sorter *sorter, run *run) {
  if (run->at < run->ready) return true;
  uint32_t n = (uint32_t)TD_MIN(run->n - run->next, (uint64_t)READ_SPANS);
  if (n == 0 || is_in_memory(sorter, run) || sorter->failure) return false;
  size_t size = n * sizeof(td_span), done = 0;
  while (done < size && !sorter->failure) {
    off_t from = (off_t)((run->first + run->next) * sizeof(td_span) + done);
    ssize_t got = pread(sorter->file, (char *)run->spans + done, size - done, from);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) sorter->failure = got < 0 ? errno : EIO;
    if (got > 0) done += (size_t)got;
  }
  run->next += n;
  run->at = 0;
  run->ready = sorter->failure ? 0 : n;
  return run->ready > 0;
}

static bool
is_before(const td_span_sorter *sorter, uint32_t a, uint32_t b) {
  const td_span *x = &sorter->runs[a].spans[sorter->runs[a].at];
  const td_span *y = &sorter->runs[b].spans[sorter->runs[b].at];
  if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns;
  return x->end_ns != y->end_ns ? x->end_ns > y->end_ns : a < b;
}

static void
sift_down(td_span_sorter *sorter, uint32_t hole) {
  uint32_t item = sorter->heap[hole];
  for (;;) {
    uint32_t child = 2 * hole + 1;
    if (child >= sorter->n_heap) break;
    if (child + 1 < sorter->n_heap &&
        is_before(sorter, sorter->heap[child + 1], sorter->heap[child]))
      child++;
    if (!is_before(sorter, sorter->heap[child], item)) break;
    sorter->heap[hole] = sorter->heap[child];
    hole = child;
  }
  sorter->heap[hole] = item;
}

static void
rewind_run(const td_span_sorter *sorter, run *run) {
  run->at = 0;
  run->next = is_in_memory(sorter, run) ? run->n : 0;
  run->ready = is_in_memory(sorter, run) ? (uint32_t)run->n : 0;
}

td_status
td_span_sorter_start(td_span_sorter *sorter, td_error *error) {
  end_run(sorter, true);
  if (!sorter->heap) sorter->heap = TD_NEW_N(uint32_t, sorter->n_runs);
  sorter->n_heap = 0;
  for (uint32_t i = 0; i < sorter->n_runs; i++) {
    rewind_run(sorter, &sorter->runs[i]);
    if (refill(sorter, &sorter->runs[i])) sorter->heap[sorter->n_heap++] = i;
  }
  for (uint32_t i = sorter->n_heap / 2; i-- > 0;)
    sift_down(sorter, i);
  return td_span_sorter_finish(sorter, error);
}

bool
td_span_sorter_next(td_span_sorter *sorter, td_span *span) {
  if (sorter->n_heap == 0 || sorter->failure) return false;
  run *run = &sorter->runs[sorter->heap[0]];
  *span = run->spans[run->at++];
  if (!refill(sorter, run)) sorter->heap[0] = sorter->heap[--sorter->n_heap];
  if (sorter->n_heap > 1) sift_down(sorter, 0);
  return true;
}

td_status
td_span_sorter_finish(const td_span_sorter *sorter, td_error *error) {
  if (!sorter->failure) return TD_OK;
  return td_error_set(error, TD_IO, "its events could not be sorted in a file in %s: %s",
                      sorter->folder, strerror(sorter->failure));
}
