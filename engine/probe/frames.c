/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/frames.h"

#include "engine/base/number_map.h"
#include "engine/events/emit.h"
#include "engine/probe/source_lines.h"

#include <stdio.h>
#include <string.h>

#define FRAMES_MAX 128

typedef struct frames {
  void *codes[FRAMES_MAX]; /* (owned) innermost first */
  int at[FRAMES_MAX];      /* the instruction, or the line where Python does not tell */
  int lines[FRAMES_MAX];   /* for a text alone */
  size_t n;
  bool cut;
} frames;

/* The texts of the stacks seen, by the hash of their chain. Guarded by the GIL. */
static td_number_map texts;

/* Walks the stack. With lines: for a text. The frame on top is borrowed, those below are owned. */
static void
walk(const td_python *python, frames *self, bool with_lines) {
  void *frame = python->PyEval_GetFrame(), *held = NULL;
  for (self->n = 0; frame && self->n < FRAMES_MAX; self->n++) {
    self->codes[self->n] = python->PyFrame_GetCode(frame);
    self->at[self->n] = python->PyFrame_GetLasti ? python->PyFrame_GetLasti(frame)
                                                 : python->PyFrame_GetLineNumber(frame);
    if (with_lines) self->lines[self->n] = python->PyFrame_GetLineNumber(frame);
    void *back = python->PyFrame_GetBack(frame);
    if (held) python->Py_DecRef(held);
    frame = held = back;
  }
  self->cut = frame != NULL;
  if (held) python->Py_DecRef(held);
}

static uint64_t
hash_of(const frames *self) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < self->n; i++) {
    hash = (hash ^ (uint64_t)(uintptr_t)self->codes[i]) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 33) ^ (uint32_t)self->at[i]) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 29;
  }
  return hash;
}

static void
print_attribute(const td_python *python, FILE *out, void *code, const char *name) {
  void *value = td_python_slot_named(code, name);
  const char *text = td_python_text(python, value);
  fputs(text ? text : "?", out);
  if (value) python->Py_DecRef(value);
}

static void
note_line(const td_python *python, void *code, int line) {
  void *file = td_python_slot_named(code, "co_filename");
  const char *path = td_python_text(python, file);
  if (path) td_source_lines_note(path, line);
  if (file) python->Py_DecRef(file);
}

static uint32_t
make_text(const td_python *python, const frames *self) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return 0;
  if (self->cut) fputs("...\n", out);
  for (size_t i = self->n; i-- > 0;) {
    print_attribute(python, out, self->codes[i], "co_filename");
    fprintf(out, ":%d ", self->lines[i]);
    print_attribute(python, out, self->codes[i], "co_name");
    if (i > 0) putc('\n', out);
    note_line(python, self->codes[i], self->lines[i]);
  }
  fclose(out);
  uint32_t id = td_intern(text);
  free(text);
  return id;
}

/* The chain's codes stay referenced once it is known. */
static uint32_t
learn(const td_python *python, uint64_t hash) {
  frames self;
  walk(python, &self, true);
  uint32_t text = make_text(python, &self);
  *td_number_map_put(&texts, hash) = text;
  return text;
}

uint32_t
td_frames_text(const td_python *python) {
  frames self;
  walk(python, &self, false);
  if (self.n == 0) return 0;
  uint64_t hash = hash_of(&self);
  const uint64_t *known = td_number_map_find(&texts, hash);
  uint32_t text = known ? (uint32_t)*known : learn(python, hash);
  for (size_t i = 0; i < self.n; i++)
    python->Py_DecRef(self.codes[i]);
  return text;
}
