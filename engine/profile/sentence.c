/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/sentence.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"

#include <string.h>

static const struct {
  const char *one, *many; /* many: NULL if the sentence has no count */
} sentences[TD_N_SENTENCES] = {
#define TD_SENTENCE(name, text) [TD_SAY_##name] = {text, NULL},
#define TD_SENTENCE_OF(name, one, many) [TD_SAY_##name] = {one, many},
#include "engine/profile/sentence.def"
#undef TD_SENTENCE
#undef TD_SENTENCE_OF
};

typedef struct filling {
  FILE *out;
  const td_catalog *catalog;
  const td_blank *blanks;
} filling;

static const td_blank *
find_blank(const td_blank *blanks, const char *name, size_t length) {
  for (; blanks->name; blanks++)
    if (strncmp(blanks->name, name, length) == 0 && blanks->name[length] == '\0') return blanks;
  return NULL;
}

/* A translation with a field that does not exist shows its name. */
static void
write_blank(void *data, const char *name, size_t length) {
  const filling *self = data;
  const td_blank *blank = find_blank(self->blanks, name, length);
  if (!blank)
    fprintf(self->out, "{%.*s}", (int)length, name);
  else if (blank->text)
    fputs(blank->text, self->out);
  else if (blank->words)
    blank->words(self->out, self->catalog, (uint32_t)blank->number);
  else if (blank->is_ns)
    fprintf(self->out, "%.3f", (double)blank->number / 1e6);
  else
    td_words_number(self->out, blank->number);
}

void
td_sentence_expand(FILE *out, const char *text,
                   void (*write)(void *data, const char *name, size_t length), void *data) {
  for (const char *at = text; *at; at++) {
    size_t length = *at == '{' ? strcspn(at + 1, "}") : 0;
    if (length == 0) {
      putc(*at, out);
      continue;
    }
    write(data, at + 1, length);
    at += length + 1;
  }
}

const char *
td_sentence_text(td_sentence sentence) {
  return td_translate(sentences[sentence].one);
}

static const char *
form_of(td_sentence sentence, const td_blank *blanks) {
  const td_blank *n = sentences[sentence].many ? find_blank(blanks, "n", 1) : NULL;
  return n ? dngettext(TD_TEXT_DOMAIN, sentences[sentence].one, sentences[sentence].many, n->number)
           : td_sentence_text(sentence);
}

char *
td_sentence_make(const td_catalog *catalog, td_sentence sentence, const td_blank *blanks) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) td_out_of_memory();
  filling self = {out, catalog, blanks};
  td_sentence_expand(out, form_of(sentence, blanks), write_blank, &self);
  fclose(out);
  return text;
}

/* What stands between two sentences is in a translation too. */
void
td_say_text(FILE *out, char *text) {
  bool is_first = ftell(out) <= 0;
  char *next = *text && !is_first ? td_said(NULL, TD_SAY_then, td_with_text("text", ""),
                                            td_with_text("sentence", text))
                                  : NULL;
  fputs(next ? next : text, out);
  free(next);
  free(text);
}

void
td_say_plain(FILE *out, td_sentence sentence) {
  td_say_text(out, td_dup_string(td_sentence_text(sentence)));
}

char *
td_list_add(char *list, td_sentence next, char *item) {
  if (!list) return item;
  char *longer = td_said(NULL, next, td_with_text("list", list), td_with_text("item", item));
  free(list);
  free(item);
  return longer;
}

char *
td_list_more(char *list, td_sentence more, uint64_t n) {
  if (n == 0) return list;
  char *longer = td_said(NULL, more, td_with_text("list", list), td_with_number("n", n));
  free(list);
  return longer;
}
