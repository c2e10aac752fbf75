/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/recorder.h"

#include "engine/base/alloc.h"
#include "engine/trace/writer.h"

#include <pthread.h>
#include <signal.h>

/* A ring with this much in it is written at once, one with less after PATIENCE_NS. */
#define RING_BYTES_ENOUGH (128u << 10)
#define PATIENCE_NS 50000000u
#define RING_BYTES_DEFAULT (8u << 20)

struct td_recorder {
  pthread_t thread;
  _Atomic bool stopping;
  _Atomic bool dying;    /* finish the tape without being asked for it */
  _Atomic bool finished; /* whoever sets it closes the writer */
  _Atomic bool died;
  td_writer *writer; /* (owned) */
  td_encoder encoder;
  uint64_t start_ticks; /* events before it are from an earlier recording */
  bool everything;      /* empty the rings to the last event */
  bool stopping_now;    /* and for the last time */
  bool keeps;           /* there is room for a keeper; the thread's own */
  _Atomic bool keep_asked;
  _Atomic int keep_failure; /* errno: files cannot give back room */
  _Atomic uint64_t flushes_asked;
  pthread_mutex_t mutex; /* guards flushes_done */
  pthread_cond_t flushed;
  uint64_t flushes_done;
};

static void
flush_chunk(td_recorder *recorder, td_ring *ring) {
  if (recorder->encoder.n_events == 0) return;
  td_writer_events(recorder->writer, &recorder->encoder, ring->thread, ring->n_events);
  ring->n_events += recorder->encoder.n_events;
  ring->last_ticks = recorder->encoder.last_ticks;
  td_encoder_begin(&recorder->encoder);
  td_encoder_continue(&recorder->encoder, ring->last_ticks);
}

static void
encode_records(td_recorder *recorder, td_ring *ring, const unsigned char *bytes, size_t n_bytes) {
  for (size_t at = 0; at < n_bytes;) {
    const td_event *event = (const void *)(bytes + at);
    bool ours = event->time >= recorder->start_ticks;
    if (ours && !td_encoder_add(&recorder->encoder, event)) {
      flush_chunk(recorder, ring);
      td_encoder_add(&recorder->encoder, event);
    }
    at += event->size;
  }
}

/* Events that were dropped after the last one that came through. */
static void
tell_dropped(td_recorder *recorder, td_ring *ring) {
  uint32_t n_dropped = atomic_exchange_explicit(&ring->n_dropped, 0, memory_order_relaxed);
  if (!n_dropped) return;
  td_event_dropped event = {.event = {.time = ring->last_ticks,
                                      .kind = TD_EVENT_dropped,
                                      .size = sizeof event,
                                      .thread = ring->thread},
                            .count = n_dropped,
                            .cause = TD_drop_cause_ring_full};
  td_encoder_continue(&recorder->encoder, ring->last_ticks);
  td_encoder_add(&recorder->encoder, &event.event);
  flush_chunk(recorder, ring);
}

/* Takes what is in a ring in pieces, giving each back at once: its thread may be waiting. */
static void
empty_ring_cb(td_ring *ring, void *data) {
  td_recorder *recorder = data;
  /* Looked at first: what an ended thread has published is all there will be. */
  bool last_visit =
      recorder->stopping_now || atomic_load_explicit(&ring->ended, memory_order_acquire);
  const unsigned char *bytes;
  size_t n_bytes = td_ring_peek(ring, &bytes);
  if (n_bytes == 0 && last_visit) tell_dropped(recorder, ring);
  if (n_bytes == 0 || (n_bytes < RING_BYTES_ENOUGH && !recorder->everything)) return;
  td_encoder_continue(&recorder->encoder, ring->last_ticks);
  while (n_bytes > 0) {
    size_t piece = 0;
    while (piece < n_bytes && piece < RING_BYTES_ENOUGH)
      piece += ((const td_event *)(const void *)(bytes + piece))->size;
    encode_records(recorder, ring, bytes, piece);
    td_ring_consume(ring, piece);
    bytes += piece;
    n_bytes -= piece;
    if (recorder->encoder.n_bytes > TD_CHUNK_RAW_MAX / 8) flush_chunk(recorder, ring);
  }
  flush_chunk(recorder, ring);
  if (last_visit) tell_dropped(recorder, ring);
}

static void
finish_flushes(td_recorder *recorder, uint64_t n) {
  if (n == recorder->flushes_done) return;
  pthread_mutex_lock(&recorder->mutex);
  recorder->flushes_done = n;
  pthread_cond_broadcast(&recorder->flushed);
  pthread_mutex_unlock(&recorder->mutex);
}

/* After all that was emitted before somebody asked for it. */
static void
reserve(td_recorder *recorder) {
  int failure = td_writer_reserve(recorder->writer, TD_GAP_RESERVE);
  atomic_store_explicit(&recorder->keep_failure, failure, memory_order_release);
  recorder->keeps = true;
}

static void *
recorder_main(void *data) {
  td_recorder *recorder = data;
  uint64_t last_complete = td_clock_monotonic_ns();
  bool stopping = false;
  while (!stopping) {
    td_emit_wait_wanted(PATIENCE_NS / 5);
    stopping = atomic_load_explicit(&recorder->stopping, memory_order_acquire);
    recorder->stopping_now = stopping;
    uint64_t now = td_clock_monotonic_ns();
    uint64_t asked = atomic_load_explicit(&recorder->flushes_asked, memory_order_acquire);
    bool begins_to_keep =
        !recorder->keeps && atomic_load_explicit(&recorder->keep_asked, memory_order_acquire);
    recorder->everything = stopping || begins_to_keep || asked != recorder->flushes_done ||
                           now - last_complete > PATIENCE_NS;
    if (recorder->everything) last_complete = now;
    td_emit_each_ring(empty_ring_cb, recorder);
    if (begins_to_keep) reserve(recorder);
    /* A thread that asked for a flush may have been interrupted inside the mutex. */
    if (!atomic_load_explicit(&recorder->dying, memory_order_acquire))
      finish_flushes(recorder, asked);
  }
  if (!atomic_load_explicit(&recorder->dying, memory_order_acquire)) return NULL;
  if (!atomic_exchange_explicit(&recorder->finished, true, memory_order_acq_rel))
    td_writer_close_dying(recorder->writer);
  atomic_store_explicit(&recorder->died, true, memory_order_release);
  return NULL;
}

/* What a recording before left behind is not ours. */
static void
forget_ring_cb(td_ring *ring, void *data) {
  const unsigned char *bytes;
  td_ring_consume(ring, td_ring_peek(ring, &bytes));
  ring->n_events = 0;
  ring->last_ticks = 0;
  atomic_store_explicit(&ring->n_dropped, 0, memory_order_relaxed);
}

/* The program's signals are not for this thread: a handler must not run here, and SIGXFSZ becomes
 * an error. */
static int
start_thread(td_recorder *recorder) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = pthread_create(&recorder->thread, NULL, recorder_main, recorder);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failure) pthread_setname_np(recorder->thread, "td-recorder");
  return failure;
}

static void
tell_keep(const char *keep) {
  TD_EMIT(setting, .name = td_intern("keep"), .value = td_intern(keep));
}

td_status
td_recorder_start(const char *path, bool overwrite, const td_recorder_options *options,
                  td_recorder **recorder, td_error *error) {
  td_writer *writer;
  td_status status = td_writer_open(path, overwrite, options->policy, options->raw, &writer, error);
  if (status) return status;
  if (options->keep) (void)td_writer_reserve(writer, TD_GAP_RESERVE); /* the keeper says why not */
  td_recorder *made = TD_NEW(td_recorder);
  made->writer = writer;
  made->keeps = options->keep != NULL;
  made->start_ticks = td_clock_now();
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->flushed, NULL);
  td_encoder_init(&made->encoder);
  td_emit_each_ring(forget_ring_cb, NULL);
  if (start_thread(made) != 0) {
    td_writer_abandon(writer);
    td_encoder_fini(&made->encoder);
    free(made);
    return td_error_set(error, TD_OUT_OF_MEMORY, "no thread for the recorder");
  }
  td_emit_enable(options->policy, options->ring_bytes ? options->ring_bytes : RING_BYTES_DEFAULT);
  TD_EMIT(session_begin, .engine = td_intern(options->engine),
          .version = td_intern(options->version), .source = td_intern(options->source),
          .policy = td_intern(options->policy == TD_RING_DROP ? "drop" : "block"));
  if (options->keep) tell_keep(options->keep);
  *recorder = made;
  return TD_OK;
}

td_status
td_recorder_stop(td_recorder *recorder, int status, td_error *error) {
  TD_EMIT(session_end, .status = status);
  td_emit_disable();
  atomic_store_explicit(&recorder->stopping, true, memory_order_release);
  td_emit_call_recorder();
  pthread_join(recorder->thread, NULL);
  td_status result = TD_OK;
  if (!atomic_exchange_explicit(&recorder->finished, true, memory_order_acq_rel))
    result = td_writer_close(recorder->writer, error);
  if (!result && td_emit_n_lost_threads())
    result = td_error_set(error, TD_OUT_OF_MEMORY,
                          "events are missing: there was no memory for a thread's ring");
  td_encoder_fini(&recorder->encoder);
  free(recorder);
  return result;
}

void
td_recorder_flush(td_recorder *recorder) {
  uint64_t wanted =
      atomic_fetch_add_explicit(&recorder->flushes_asked, 1, memory_order_acq_rel) + 1;
  td_emit_call_recorder();
  pthread_mutex_lock(&recorder->mutex);
  while (recorder->flushes_done < wanted)
    pthread_cond_wait(&recorder->flushed, &recorder->mutex);
  pthread_mutex_unlock(&recorder->mutex);
}

td_status
td_recorder_keep(td_recorder *recorder, const char *keep, td_error *error) {
  atomic_store_explicit(&recorder->keep_asked, true, memory_order_release);
  td_recorder_flush(recorder);
  int failure = atomic_load_explicit(&recorder->keep_failure, memory_order_acquire);
  if (failure)
    return td_error_set(error, TD_UNSUPPORTED, "files cannot give back room there (%s)",
                        strerror(failure));
  tell_keep(keep);
  return TD_OK;
}

void
td_recorder_abandon(td_recorder *recorder) {
  td_writer_leave(recorder->writer);
}

void
td_recorder_finish_dying(td_recorder *recorder, int status, unsigned patience_ms) {
  const struct timespec one_ms = {.tv_nsec = 1000000};
  const td_ring *ring = td_emit_ring;
  if (ring && ring->head + sizeof(td_event_session_end) <= ring->limit)
    TD_EMIT(session_end, .status = status);
  atomic_store_explicit(&recorder->dying, true, memory_order_release);
  atomic_store_explicit(&recorder->stopping, true, memory_order_release);
  td_emit_call_recorder();
  for (unsigned i = 0; i < patience_ms; i++) {
    if (atomic_load_explicit(&recorder->died, memory_order_acquire)) return;
    nanosleep(&one_ms, NULL);
  }
}
