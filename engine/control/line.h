/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lines that targets, hub and viewers say to each other: `word key=value key=value\n`. Words
 * and keys are made of a-z and _. In values everything but plain printable characters stands as
 * %XX. A key may come several times. A line comes from another process, so the reader trusts
 * nothing: it refuses a line that is too long or malformed. No state of its own; any thread.
 *
 * Target to hub:
 *   hello pid= program= torch=|engine=tapedeck rank=
 *   tape path= level=             recording has begun
 *   stopped thread= kind= node= name= graph_task= reason=first|pause|step|break|hold condition=
 *   running thread=               that thread goes on
 *   gate paused=0|1 break=... hold=...   what the gate waits for, after each change
 *   chosen queue= node=           that task is popped next from that queue
 *   refused queue= node= reason=  it may not, and why: a sentence
 *   where text= held=0|1 problem=   what each thread does in Python, if the hub asked
 *   over status= whole= problem= steps= passes= nan=0|1   `problem`: why the tape is not whole
 * Hub to target, once:
 *   record level=1|2 observer= reason= tape= policy= anomaly= stats= stacks= live=0|1 break=...
 *          steps= from= to= every= until=nan   `steps` in words: the rest is there only with it
 *          away=1   nobody looks: a live target does not stop before a viewer says so
 *   ignore reason=
 * and later: `where`
 * and to a live one:
 *   pause   continue   step [thread=]   hold thread=   release thread=
 *   break add=COND | remove=COND | clear=1   detach
 *   choose queue= node= [graph_task=]   to Tapedeck's engine alone: see choose.h
 * Viewer to hub: `view pid=`, then commands as above, with pid= for one target or without for all.
 * `interrupt pid=` has the hub send that target SIGINT.
 * Hub to viewer: the targets' lines with pid= added. A new viewer gets the lines that still hold.
 * Asker to hub: `list`. The hub answers with a line for each target, and then with `listed`:
 *   target pid= path= live=0|1 stopped=   no `path`: its tape has not begun. `live`: it has a gate
 * or `where pid=`. The hub asks that target, and passes on what it says.
 * A new viewer gets these lines too, before all others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_LINE_BYTES_MAX 65536
#define TD_LINE_FIELDS_MAX 128

typedef struct td_line_field {
  const char *key, *value; /* (borrowed) from the line's text */
} td_line_field;

typedef struct td_line {
  char *text; /* (owned) */
  const char *word;
  td_line_field fields[TD_LINE_FIELDS_MAX];
  unsigned n_fields;
} td_line;

/* td_line_parse reads n bytes, without the newline. False: they are no line, and nothing is to be
 * freed. */
bool td_line_parse(td_line *line, const char *bytes, size_t n_bytes);
void td_line_fini(td_line *line);

bool td_line_is(const td_line *line, const char *word);

/* td_line_find returns the first value of that key, or NULL. td_line_find_u32 reads it as a decimal
 * number: false, and *value unchanged, where there is none. td_line_flag tells whether it is "1".
 */
const char *td_line_find(const td_line *line, const char *key);
bool td_line_find_u32(const td_line *line, const char *key, uint32_t *value);
bool td_line_flag(const td_line *line, const char *key);

/* A line being written. Begin, add, send the bytes (the newline is always there), fini. Adding a
 * NULL value adds nothing. */
typedef struct td_line_text {
  char *bytes; /* (owned) ends in "\n", NUL-terminated */
  size_t n_bytes, capacity;
} td_line_text;

void td_line_begin(td_line_text *text, const char *word);
void td_line_add(td_line_text *text, const char *key, const char *value);
void td_line_add_number(td_line_text *text, const char *key, int64_t value);
void td_line_text_fini(td_line_text *text);

/* td_line_copy begins `text` as a copy of a line that was read, to be passed on with more fields.
 */
void td_line_copy(td_line_text *text, const td_line *line);

/* Cuts a stream of bytes into lines. Zero-initialise. */
typedef struct td_line_reader {
  char *bytes; /* (owned) */
  size_t n_bytes, capacity;
} td_line_reader;

typedef enum td_line_result {
  TD_LINE_NONE,  /* no whole line yet */
  TD_LINE_READY, /* *line is to be finished */
  TD_LINE_BAD,   /* the other side does not keep to the protocol: hang up */
} td_line_result;

void td_line_reader_add(td_line_reader *reader, const void *bytes, size_t n_bytes);
td_line_result td_line_reader_take(td_line_reader *reader, td_line *line);
void td_line_reader_fini(td_line_reader *reader);
