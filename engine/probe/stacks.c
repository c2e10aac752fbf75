/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Forward stacks]
 * Problem: where a node is made must be read when it is made, and text for each stack costs too
 * much.
 *
 * Constraint: the thread that makes a node calls at::sequence_number::get_and_increment, mostly
 * without the GIL. So the GIL is taken here to walk the frames; the module is known without it. The
 * node has no address yet. Its thread and sequence number are known, and the node will have both.
 *
 * Trick: most nodes are made at lines that have made nodes before. So the chain of (code,
 * instruction) is hashed, and its text is made once. A reference to each code object ensures that
 * an address means one code for ever.
 *
 * Each thread keeps the numbers of its last STACKS_KEPT nodes. Numbers of older graphs are
 * forgotten. They are never mistaken, because each entry has its sequence number. Only the thread
 * writes. Readers learn of a node after it was made. */
#include "engine/probe/stacks.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/creation.h"
#include "engine/probe/frames.h"
#include "engine/probe/leaves.h"
#include "engine/probe/module_labels.h"
#include "engine/probe/modules.h"
#include "engine/probe/own_time.h"
#include "engine/probe/python.h"
#include "engine/probe/source_lines.h"
#include "engine/probe/steps.h"

#include <pthread.h>

#define STACKS_KEPT (1u << 20)
#define PAGE 4096u

typedef struct note {
  uint32_t number; /* sequence number + 1, its low bits; 0: none */
  td_forward forward;
} note;

typedef struct notes {
  uint64_t thread_id;
  _Atomic uint64_t n_numbers;                /* sequence numbers that the thread took */
  _Atomic(note *) pages[STACKS_KEPT / PAGE]; /* (owned) NULL until used */
  struct notes *next;
} notes;

static const td_python *python;
static uint64_t (*current_thread_id)(void); /* set before is_on */
static uint64_t (*original)(void);
static _Atomic bool is_on; /* modules and parameters are named */
static _Atomic bool with_stacks;
static _Atomic(notes *) all_notes; /* (owned) threads are added, never taken away */
static _Thread_local notes *own_notes;

static notes *
make_own_notes(void) {
  notes *made = TD_NEW(notes);
  made->thread_id = current_thread_id();
  notes *first = atomic_load_explicit(&all_notes, memory_order_relaxed);
  do
    made->next = first;
  while (!atomic_compare_exchange_weak_explicit(&all_notes, &first, made, memory_order_release,
                                                memory_order_relaxed));
  return made;
}

static void
note_number(uint64_t sequence_nr) {
  if (!own_notes) own_notes = make_own_notes();
  atomic_store_explicit(&own_notes->n_numbers, sequence_nr + 1, memory_order_release);
}

static void
keep(uint64_t sequence_nr, td_forward forward) {
  _Atomic(note *) *slot = &own_notes->pages[sequence_nr % STACKS_KEPT / PAGE];
  note *page = atomic_load_explicit(slot, memory_order_relaxed);
  if (!page) {
    page = TD_NEW_N(note, PAGE);
    atomic_store_explicit(slot, page, memory_order_release);
  }
  page[sequence_nr % PAGE] = (note){(uint32_t)sequence_nr + 1, forward};
}

static uint32_t
stack_now(void) {
  int had_gc = python->PyGC_Disable ? python->PyGC_Disable() : 0;
  uint32_t stack = td_frames_text(python);
  if (had_gc) python->PyGC_Enable();
  return stack;
}

uint32_t
td_stacks_here(void) {
  td_python_hold hold;
  if (!td_stacks_has_names() || !td_python_enter(python, &hold)) return 0;
  uint32_t stack = stack_now();
  td_python_leave(python, hold);
  return stack;
}

static void
note_names(uint64_t sequence_nr, bool with_modules) {
  td_python_hold hold;
  bool is_missing = td_creation_is_missing();
  bool wants_gil = with_stacks || is_missing || (with_modules && td_modules_want_gil());
  if (wants_gil && !td_python_enter(python, &hold)) return;
  if (is_missing) td_creation_enter();
  td_module_name module = with_modules ? td_modules_now(python) : (td_module_name){0};
  td_forward forward = {
      .module = module.name,
      .module_class = module.class_name,
      .stack = with_stacks ? stack_now() : 0,
  };
  if (wants_gil) td_python_leave(python, hold);
  if (forward.stack || forward.module) keep(sequence_nr, forward);
}

/* Stacks are what the user asked for: the budget does not stop them. */
static void
note_forward(uint64_t sequence_nr) {
  note_number(sequence_nr);
  bool with_modules = td_own_wants(TD_recorder_work_modules);
  td_own_time time = with_stacks ? (td_own_time){0} : td_own_sample();
  note_names(sequence_nr, with_modules);
  td_own_sampled(time, TD_recorder_work_modules, 0);
}

static uint64_t
hook(void) {
  uint64_t sequence_nr = original();
  if (atomic_load_explicit(&is_on, memory_order_acquire) && td_steps_wants_this())
    note_forward(sequence_nr);
  return sequence_nr;
}

void *
td_stacks_hook(void *get_and_increment) {
  original = (uint64_t(*)(void))get_and_increment;
  return (void *)hook;
}

static td_forward
look_up(const notes *of, uint64_t sequence_nr) {
  note *page =
      atomic_load_explicit(&of->pages[sequence_nr % STACKS_KEPT / PAGE], memory_order_acquire);
  const note *found = page ? &page[sequence_nr % PAGE] : NULL;
  return found && found->number == (uint32_t)sequence_nr + 1 ? found->forward : (td_forward){0};
}

td_forward
td_stacks_find(uint64_t thread_id, uint64_t sequence_nr) {
  const notes *of = atomic_load_explicit(&all_notes, memory_order_acquire);
  while (of && of->thread_id != thread_id)
    of = of->next;
  return of ? look_up(of, sequence_nr) : (td_forward){0};
}

td_forward
td_stacks_find_any(uint64_t sequence_nr) {
  td_forward found = {0};
  int n = 0;
  for (const notes *of = atomic_load_explicit(&all_notes, memory_order_acquire); of;
       of = of->next) {
    if (atomic_load_explicit(&of->n_numbers, memory_order_acquire) <= sequence_nr) continue;
    found = look_up(of, sequence_nr);
    n++;
  }
  return n == 1 ? found : (td_forward){0};
}

void
td_stacks_emit(uint32_t node, td_forward forward) {
  if (forward.module)
    TD_EMIT_BORROWED(node_module, .node = node, .module = forward.module,
                     .module_class = forward.module_class);
}

bool
td_stacks_has_names(void) {
  return atomic_load_explicit(&is_on, memory_order_acquire);
}

uint32_t
td_stacks_label(const void *tensor) {
  if (!td_stacks_has_names()) return 0;
  uint32_t label = td_module_label_find(tensor);
  return label ? label : td_leaves_owned_label(tensor);
}

void
td_stacks_tell(void) {
  td_leaves_begin(td_stacks_has_names());
  td_source_lines_tell();
  td_knowledge how = td_stacks_has_names() ? TD_knowledge_observed : TD_knowledge_absent;
  TD_EMIT(known, .kind = td_intern_static("node_module"), .how = how);
  TD_EMIT(known, .kind = td_intern_static("node_label"), .how = how);
}

void
td_stacks_want(bool stacks) {
  atomic_store_explicit(&with_stacks, stacks, memory_order_relaxed);
}

static const char *
start_holding_gil(uint64_t (*thread_id)(void), bool (*no_hooks)(void)) {
  int had_gc = python->PyGC_Disable ? python->PyGC_Disable() : 0;
  const char *trouble = td_modules_start(python);
  if (!trouble) td_creation_start(python, no_hooks, thread_id);
  if (had_gc) python->PyGC_Enable();
  return trouble;
}

const char *
td_stacks_start(uint64_t (*thread_id)(void), bool (*no_hooks)(void), bool stacks) {
  td_python_hold hold;
  python = td_python_find();
  if (!python) return "there is no Python in this program";
  if (!thread_id) return "this PyTorch does not number its threads";
  if (!td_python_enter(python, &hold)) return "Python does not know the program's first thread";
  const char *trouble = start_holding_gil(thread_id, no_hooks);
  td_python_leave(python, hold);
  if (trouble) return trouble;
  current_thread_id = thread_id;
  with_stacks = stacks;
  atomic_store_explicit(&is_on, true, memory_order_release);
  return NULL;
}
