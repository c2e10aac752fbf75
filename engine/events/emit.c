/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/emit.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/strings.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define READY_BYTES ((size_t)64 << 10)

/* A record's size has 16 bits: a longer string is cut. */
#define STRING_BYTES_MAX 60000

_Atomic uint32_t td_emit_session_now, td_emit_n_unnamed;
_Thread_local td_ring *td_emit_ring;

/* What the thread is called, kept for the ring that it may get later. */
static _Thread_local uint32_t own_name;
static _Thread_local int32_t own_device = TD_DEVICE_CPU;

/* The rings of all threads that have emitted, and what a new recording must be told again. */
static struct {
  pthread_mutex_t mutex;    /* guards all below; taken after the strings' mutex, never before it */
  _Atomic(td_ring *) rings; /* new ones in front; the recorder takes them out without the mutex */
  uint32_t n_threads;
  size_t ring_bytes;
  _Atomic int policy; /* td_ring_policy */
  uint32_t last_session;
  _Atomic uint32_t n_lost_threads; /* in this recording */
  uint32_t *devices;               /* names by device + 1; 0: none */
  int n_devices;
  struct known_thread {
    uint32_t name;
    int32_t device;
    int tid;         /* the kernel's */
    bool is_met;     /* it has no ring: others speak of it */
    bool is_unnamed; /* td_emit_name_met has not come by since it was met */
    bool alive;
  } * threads; /* [n_threads] */
  uint32_t threads_capacity;
  pthread_key_t key;
  pthread_once_t once;
  sem_t wanted; /* posted when a ring is half full */
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT, .ring_bytes = 8 << 20};

static void
thread_gone_cb(void *data) {
  td_ring *ring = data;
  TD_EMIT(thread_end, .id = ring->thread);
  td_emit_ring = NULL;
  pthread_mutex_lock(&registry.mutex);
  registry.threads[ring->thread].alive = false;
  pthread_mutex_unlock(&registry.mutex);
  atomic_store_explicit(&ring->ended, true, memory_order_release);
}

/* The child of a fork has one thread and no recorder: its events would go nowhere. */
static void
forked_cb(void) {
  atomic_store_explicit(&td_emit_session_now, 0, memory_order_relaxed);
  td_emit_ring = NULL;
}

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_guard(&registry.mutex, TD_FORK_RINGS);
  td_fork_reset(forked_cb);
}

static void
make_key_cb(void) {
  sem_init(&registry.wanted, 0, 0);
  pthread_key_create(&registry.key, thread_gone_cb);
  td_fork_watch();
}

/* The thread's place in the table, or TD_NONE if nobody has met it. */
static uint32_t
thread_of_locked(int tid) {
  for (uint32_t i = registry.n_threads; i-- > 0;)
    if (registry.threads[i].alive && registry.threads[i].tid == tid) return i;
  return TD_NONE;
}

static uint32_t
thread_add_locked(int tid) {
  TD_GROW(registry.threads, registry.n_threads, registry.threads_capacity);
  registry.threads[registry.n_threads] =
      (struct known_thread){.device = TD_DEVICE_CPU, .tid = tid, .alive = true};
  return registry.n_threads++;
}

/* The calling thread's ring is there. */
static void
thread_take_place_locked(uint32_t number) {
  struct known_thread *thread = &registry.threads[number];
  thread->is_met = thread->is_unnamed = false;
  thread->device = own_device;
  if (own_name) thread->name = own_name;
  own_name = thread->name;
}

/* The first thread's ring is ready as a whole. Later threads may be many and short: a page of
 * theirs costs a fault when they get there, some 5 ns an event, once. */
static td_ring *
ring_new(void) {
  pthread_mutex_lock(&registry.mutex);
  size_t n_bytes = registry.ring_bytes;
  pthread_mutex_unlock(&registry.mutex);
  return td_ring_new(n_bytes,
                     atomic_load(&registry.rings) ? TD_MIN(n_bytes, READY_BYTES) : n_bytes);
}

static void
ring_add_locked(td_ring *ring) {
  uint32_t met = thread_of_locked(gettid());
  ring->thread = met == TD_NONE ? thread_add_locked(gettid()) : met;
  thread_take_place_locked(ring->thread);
  ring->next = atomic_load(&registry.rings);
  while (!atomic_compare_exchange_weak(&registry.rings, &ring->next, ring)) {
  }
}

static td_ring *
ring_make_for_thread(void) {
  pthread_once(&registry.once, make_key_cb);
  td_ring *ring = ring_new();
  if (!ring) {
    atomic_fetch_add_explicit(&registry.n_lost_threads, 1, memory_order_relaxed);
    return NULL;
  }
  pthread_mutex_lock(&registry.mutex);
  ring_add_locked(ring);
  pthread_mutex_unlock(&registry.mutex);
  ring->last_time = td_clock_now();
  td_emit_ring = ring;
  pthread_setspecific(registry.key, ring);
  TD_EMIT(thread_new, .id = ring->thread, .name = own_name, .device = own_device,
          .tid = (uint32_t)gettid());
  return ring;
}

uint64_t
td_emit_first_time(void) {
  td_ring *ring = td_emit_ring;
  if (!ring) return td_clock_now();
  ring->session = td_emit_session();
  return ring->last_time = td_clock_now();
}

/* Looks how far the recorder has come. The limit is set no further than half a ring ahead, so that
 * a busy thread comes by here in time to call the recorder. */
static bool
has_room(td_ring *ring, size_t size) {
  uint64_t consumed = atomic_load_explicit(&ring->consumed, memory_order_seq_cst);
  uint64_t end = consumed + ring->mask + 1;
  ring->limit = TD_MIN(end, ring->head + size + (ring->mask + 1) / 2);
  return ring->head + size <= end;
}

/* Sleeps until the recorder has taken something, or recording has ended. */
static bool
wait_for_space(td_ring *ring, size_t size) {
  while (!has_room(ring, size)) {
    if (!td_recording()) return false;
    atomic_store_explicit(&ring->waiting, true, memory_order_seq_cst);
    if (has_room(ring, size)) break;
    while (sem_wait(&ring->space) != 0) {
    }
  }
  return true;
}

td_ring *
td_emit_make_room(size_t size) {
  td_ring *ring = td_emit_ring ? td_emit_ring : ring_make_for_thread();
  if (!ring) return NULL;
  int waiting;
  if (ring->head - atomic_load_explicit(&ring->consumed, memory_order_relaxed) > ring->mask / 4 &&
      sem_getvalue(&registry.wanted, &waiting) == 0 && waiting == 0)
    sem_post(&registry.wanted);
  uint32_t untold = atomic_load_explicit(&ring->n_dropped, memory_order_relaxed);
  size_t told = untold ? sizeof(td_event_dropped) : 0;
  bool may_wait = atomic_load_explicit(&registry.policy, memory_order_relaxed) == TD_RING_BLOCK;
  if (has_room(ring, size + told) || (may_wait && wait_for_space(ring, size + told))) {
    uint32_t n_dropped = atomic_exchange_explicit(&ring->n_dropped, 0, memory_order_relaxed);
    if (n_dropped) TD_EMIT_BORROWED(dropped, .count = n_dropped, .cause = TD_drop_cause_ring_full);
    return ring;
  }
  atomic_fetch_add_explicit(&ring->n_dropped, 1, memory_order_relaxed);
  /* A limit of zero brings the next event here too, so that the loss is told before it. */
  ring->limit = 0;
  return NULL;
}

static void
emit_string(uint32_t id, const char *text) {
  size_t length = TD_MIN(strlen(text), (size_t)STRING_BYTES_MAX);
  size_t size = (sizeof(td_event_string) + length + 7) & ~(size_t)7;
  td_ring *ring = td_emit_reserve(size);
  if (!ring) return;
  td_event_string *event = (void *)(ring->bytes + (ring->head & ring->mask));
  uint64_t time = td_clock_now();
  *event = (td_event_string){.event = {time, TD_EVENT_string, (uint16_t)size, ring->thread},
                             .id = id,
                             .length = (uint32_t)length};
  memcpy(event + 1, text, length);
  td_emit_publish(ring, time, size);
}

/* A new string is emitted under the table's lock. So no other thread's use of the number can bear
 * an earlier time than the string. */
uint32_t
td_intern(const char *text) {
  if (!text || !*text) return 0;
  bool is_new;
  td_strings_lock();
  uint32_t id = td_strings_add_locked(text, &is_new);
  if (is_new && td_recording()) emit_string(id, text);
  td_strings_unlock();
  return id;
}

/* Shared by all threads, and a place is written once. A library that is loaded late gets little
 * thread-local memory. */
uint32_t
td_intern_static(const char *literal) {
  static struct {
    _Atomic(const char *) literal;
    _Atomic uint32_t id; /* 0: not known yet */
  } known[1024];
  size_t first = (uintptr_t)literal >> 3 ^ (uintptr_t)literal >> 9;
  for (size_t i = first; i < first + 4; i++) {
    const char *there = NULL;
    size_t at = i % TD_N_ELEMENTS(known);
    uint32_t id = atomic_load_explicit(&known[at].id, memory_order_acquire);
    if (id && atomic_load_explicit(&known[at].literal, memory_order_relaxed) == literal) return id;
    if (id || !atomic_compare_exchange_strong(&known[at].literal, &there, literal)) continue;
    id = td_intern(literal);
    atomic_store_explicit(&known[at].id, id, memory_order_release);
    return id;
  }
  return td_intern(literal);
}

void
td_intern_repeat(void) {
  td_strings_lock();
  for (uint32_t id = 1; id < td_strings_n_locked(); id++)
    emit_string(id, td_strings_text_locked(id));
  td_strings_unlock();
}

uint32_t
td_emit_thread_id(void) {
  if (!td_recording()) return td_emit_ring ? td_emit_ring->thread : TD_NONE;
  td_ring *ring = td_emit_ring ? td_emit_ring : ring_make_for_thread();
  return ring ? ring->thread : TD_NONE;
}

uint32_t
td_emit_thread_of(int tid) {
  pthread_mutex_lock(&registry.mutex);
  uint32_t found = thread_of_locked(tid);
  pthread_mutex_unlock(&registry.mutex);
  return found;
}

uint32_t
td_emit_meet_thread(int tid) {
  pthread_mutex_lock(&registry.mutex);
  uint32_t found = thread_of_locked(tid);
  bool is_new = found == TD_NONE;
  if (is_new) {
    found = thread_add_locked(tid);
    registry.threads[found].is_met = registry.threads[found].is_unnamed = true;
    atomic_fetch_add_explicit(&td_emit_n_unnamed, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&registry.mutex);
  if (is_new)
    TD_EMIT(thread_new, .id = found, .name = 0, .device = TD_DEVICE_CPU, .tid = (uint32_t)tid);
  return found;
}

/* One of the threads that wait for a name, or TD_NONE. */
static uint32_t
take_unnamed(int *tid) {
  uint32_t found = TD_NONE;
  pthread_mutex_lock(&registry.mutex);
  for (uint32_t i = 0; i < registry.n_threads && found == TD_NONE; i++)
    if (registry.threads[i].is_unnamed) found = i;
  if (found == TD_NONE)
    atomic_store_explicit(&td_emit_n_unnamed, 0, memory_order_relaxed);
  else
    registry.threads[found].is_unnamed = false;
  *tid = found == TD_NONE ? 0 : registry.threads[found].tid;
  pthread_mutex_unlock(&registry.mutex);
  return found;
}

void
td_emit_name_met(char *(*dup_name)(int tid)) {
  int tid;
  for (uint32_t thread; (thread = take_unnamed(&tid)) != TD_NONE;) {
    char *name = dup_name(tid);
    uint32_t number = td_intern(name);
    free(name);
    pthread_mutex_lock(&registry.mutex);
    bool is_news = registry.threads[thread].is_met && number;
    if (is_news) registry.threads[thread].name = number;
    pthread_mutex_unlock(&registry.mutex);
    if (is_news)
      TD_EMIT(thread_new, .id = thread, .name = number, .device = TD_DEVICE_CPU,
              .tid = (uint32_t)tid);
  }
}

void
td_emit_name_thread(const char *name, int32_t device) {
  own_name = td_intern(name);
  own_device = device;
  if (!td_emit_ring) return;
  pthread_mutex_lock(&registry.mutex);
  registry.threads[td_emit_ring->thread].name = own_name;
  registry.threads[td_emit_ring->thread].device = device;
  pthread_mutex_unlock(&registry.mutex);
  TD_EMIT(thread_new, .id = td_emit_ring->thread, .name = own_name, .device = device,
          .tid = (uint32_t)gettid());
}

bool
td_emit_thread_has_name(void) {
  return own_name != 0;
}

void
td_emit_device(int32_t device, const char *name) {
  uint32_t name_id = td_intern(name);
  pthread_mutex_lock(&registry.mutex);
  for (int slot = registry.n_devices; slot <= device + 1; slot++) {
    registry.devices = td_realloc(registry.devices, (size_t)slot + 1, sizeof *registry.devices);
    registry.devices[slot] = 0;
    registry.n_devices = slot + 1;
  }
  registry.devices[device + 1] = name_id;
  pthread_mutex_unlock(&registry.mutex);
  TD_EMIT(device_new, .device = device, .name = name_id);
}

static void
begin_session_locked(td_ring_policy policy, size_t ring_bytes) {
  registry.ring_bytes = ring_bytes;
  atomic_store_explicit(&registry.n_lost_threads, 0, memory_order_relaxed);
  atomic_store_explicit(&registry.policy, policy, memory_order_relaxed);
  atomic_store_explicit(&td_emit_session_now, ++registry.last_session, memory_order_release);
}

/* Repeats what other threads told before this recording. The registry's mutex is not held while
 * emitting: the recorder needs it to make room. */
static void
emit_known(uint32_t n_devices, const uint32_t *devices, uint32_t n_threads,
           const struct known_thread *threads) {
  uint32_t self = td_emit_thread_id();
  for (uint32_t slot = 0; slot < n_devices; slot++)
    if (devices[slot]) TD_EMIT(device_new, .device = (int32_t)slot - 1, .name = devices[slot]);
  for (uint32_t thread = 0; thread < n_threads; thread++)
    if (threads[thread].alive || thread == self)
      TD_EMIT(thread_new, .id = thread, .name = threads[thread].name,
              .device = threads[thread].device, .tid = (uint32_t)threads[thread].tid);
}

void
td_emit_enable(td_ring_policy policy, size_t ring_bytes) {
  pthread_once(&registry.once, make_key_cb);
  pthread_mutex_lock(&registry.mutex);
  begin_session_locked(policy, ring_bytes);
  uint32_t n_devices = (uint32_t)registry.n_devices, n_threads = registry.n_threads;
  uint32_t *devices = TD_NEW_N(uint32_t, n_devices);
  struct known_thread *threads = TD_NEW_N(struct known_thread, n_threads);
  if (n_devices) memcpy(devices, registry.devices, n_devices * sizeof *devices);
  if (n_threads) memcpy(threads, registry.threads, n_threads * sizeof *threads);
  pthread_mutex_unlock(&registry.mutex);
  td_emit_thread_id(); /* a ring of our own before the strings' mutex is taken */
  td_intern_repeat();
  emit_known(n_devices, devices, n_threads, threads);
  free(devices);
  free(threads);
}

void
td_emit_disable(void) {
  atomic_store_explicit(&td_emit_session_now, 0, memory_order_release);
}

uint32_t
td_emit_n_lost_threads(void) {
  return atomic_load_explicit(&registry.n_lost_threads, memory_order_relaxed);
}

void
td_emit_wait_wanted(uint64_t timeout_ns) {
  pthread_once(&registry.once, make_key_cb);
  uint64_t until = td_clock_timespec_ns(CLOCK_REALTIME) + timeout_ns;
  struct timespec deadline = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
  sem_timedwait(&registry.wanted, &deadline);
}

void
td_emit_call_recorder(void) {
  pthread_once(&registry.once, make_key_cb);
  sem_post(&registry.wanted);
}

/* Is the ring's thread gone and everything it said taken? */
static bool
is_finished(td_ring *ring) {
  const unsigned char *bytes;
  return atomic_load_explicit(&ring->ended, memory_order_acquire) &&
         td_ring_peek(ring, &bytes) == 0 &&
         (!td_emit_session() || !atomic_load_explicit(&ring->n_dropped, memory_order_relaxed));
}

/* If other rings have come in front meanwhile, the first one stays until the next visit. */
static void
free_finished(td_ring *first) {
  for (td_ring **link = &first->next; *link;) {
    td_ring *ring = *link;
    if (is_finished(ring)) {
      *link = ring->next;
      td_ring_free(ring);
    } else {
      link = &ring->next;
    }
  }
  td_ring *front = first;
  if (is_finished(first) && atomic_compare_exchange_strong(&registry.rings, &front, first->next))
    td_ring_free(first);
}

/* New rings are put in front, and only this function takes rings out. So the list from `first` on
 * is its own, and it needs no mutex: a dying thread may hold that. */
void
td_emit_each_ring(void (*visit)(td_ring *ring, void *data), void *data) {
  td_ring *first = atomic_load(&registry.rings);
  for (td_ring *ring = first; ring; ring = ring->next)
    visit(ring, data);
  if (first) free_finished(first);
}
