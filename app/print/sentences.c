/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/sentences.h"

#include "engine/base/alloc.h"
#include "engine/profile/sentence.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[TD_N_PRINTED] = {
#define TD_PRINTED(name, text) [TD_PRINTED_##name] = text,
#include "app/print/sentences.def"
#undef TD_PRINTED
};

typedef struct filling {
  FILE *out;
  const td_printed_field *fields;
} filling;

static void
write_field(void *data, const char *name, size_t length) {
  const filling *self = data;
  const td_printed_field *field = self->fields;
  while (field->name && (strncmp(field->name, name, length) != 0 || field->name[length] != '\0'))
    field++;
  assert(field->name);
  fputs(field->text, self->out);
}

void
td_printed_put(td_printed sentence, const td_printed_field *fields) {
  filling self = {stdout, fields};
  td_sentence_expand(stdout, texts[sentence], write_field, &self);
}

char *
td_printed_make(td_printed sentence, const td_printed_field *fields) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  filling self = {out, fields};
  td_sentence_expand(out, texts[sentence], write_field, &self);
  fclose(out);
  return text;
}
