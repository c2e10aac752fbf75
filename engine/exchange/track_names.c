/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/track_names.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"

#include <inttypes.h>

#define TIDS_MAX (1u << 22) /* of Linux */

static uint32_t
pid_of(const td_catalog *catalog, uint32_t process) {
  uint32_t pid = process < catalog->n_processes ? catalog->processes[process].pid : 0;
  return pid ? pid : process + 1;
}

static uint32_t
process_of(const td_catalog *catalog, td_track_role role, uint32_t id) {
  bool is_thread = (role == TD_ROLE_THREAD || role == TD_ROLE_PASSES) && id < catalog->n_threads;
  if (role == TD_ROLE_QUEUE && id < catalog->n_queues)
    return td_catalog_process_of_queue(catalog, id);
  return is_thread ? catalog->threads[id].process : 0;
}

static char *
name_of_thread(const td_catalog *catalog, uint32_t thread) {
  const char *name = thread < catalog->n_threads ? catalog->threads[thread].name : "";
  return *name ? td_line_dup(name, TD_NAME_SHOWN) : td_format("thread %" PRIu32, thread);
}

static char *
name_of_track(const td_catalog *catalog, td_track_role role, uint32_t id, int32_t stream) {
  if (role == TD_ROLE_STREAM)
    return td_format("%s stream %d", td_catalog_device_label(catalog, (int32_t)id), (int)stream);
  if (role == TD_ROLE_QUEUE) {
    bool is_known = id < catalog->n_queues;
    int32_t device = is_known ? catalog->queues[id].device : 0;
    return td_format("queue %" PRIu32 " %s", id,
                     is_known ? td_catalog_device_label(catalog, device) : "");
  }
  char *thread = name_of_thread(catalog, id);
  if (role == TD_ROLE_THREAD) return thread;
  char *name = td_format("backward passes of %s", thread);
  free(thread);
  return name;
}

/* The system's number, so that traces of other tools fit. A thread that has none gets one that the
 * system never gives, unless the tape has none at all. */
static uint32_t
tid_of(const td_catalog *catalog, uint32_t thread) {
  uint32_t tid = thread < catalog->n_threads ? catalog->threads[thread].tid : 0;
  bool has_any = catalog->n_threads && catalog->threads[0].tid;
  if (tid && tid <= TIDS_MAX) return tid;
  return has_any ? TIDS_MAX + 1 + thread : thread + 1;
}

td_track
td_track_describe(const td_catalog *catalog, td_track_role role, uint32_t id, int32_t stream,
                  td_track_texts *texts) {
  static const td_track_kind kinds[] = {[TD_ROLE_THREAD] = TD_TRACK_THREAD,
                                        [TD_ROLE_PASSES] = TD_TRACK_PLAIN,
                                        [TD_ROLE_STREAM] = TD_TRACK_PLAIN,
                                        [TD_ROLE_QUEUE] = TD_TRACK_COUNTER};
  uint32_t process = process_of(catalog, role, id);
  texts->name = name_of_track(catalog, role, id, stream);
  texts->process = td_catalog_process_label(catalog, process);
  return (td_track){.kind = kinds[role],
                    .pid = pid_of(catalog, process),
                    .tid = tid_of(catalog, id),
                    .process = texts->process,
                    .name = texts->name};
}

void
td_track_texts_fini(td_track_texts *texts) {
  free(texts->name);
  free(texts->process);
}
