/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whole sentences with named fields, in the reader's language. sentence.def is their table. Private
 * to engine/profile; app/print has a table of its own, and calls td_sentence_expand. Any thread. */
#pragma once

#include "engine/profile/words.h"

typedef enum td_sentence {
#define TD_SENTENCE(name, text) TD_SAY_##name,
#define TD_SENTENCE_OF(name, one, many) TD_SAY_##name,
#include "engine/profile/sentence.def"
#undef TD_SENTENCE
#undef TD_SENTENCE_OF
  TD_N_SENTENCES
} td_sentence;

/* What stands for {name}: a text, a number, or a thing that `words` names. */
typedef struct td_blank {
  const char *name;
  const char *text; /* (borrowed) or NULL */
  void (*words)(FILE *out, const td_catalog *catalog, uint32_t id);
  uint64_t number;
  bool is_ns; /* shown as milliseconds */
} td_blank;

/* td_with_text fills a field with a text, td_with_number with a number, td_with_ms with so many ns
 * as milliseconds. td_with_node names a node with its module, td_with_node_whole also with the line
 * that made it, and td_with_node_again by its name alone. td_with_thread names a thread,
 * td_with_queue a queue, and td_with_pass a graph task. */
static inline td_blank
td_with_text(const char *name, const char *text) {
  return (td_blank){.name = name, .text = text};
}

static inline td_blank
td_with_ms(const char *name, uint64_t ns) {
  return (td_blank){.name = name, .number = ns, .is_ns = true};
}

#define TD_BLANK(kind, write)                                                                      \
  static inline td_blank td_with_##kind(const char *name, uint64_t number) {                       \
    return (td_blank){.name = name, .words = write, .number = number};                             \
  }

TD_BLANK(number, NULL)
TD_BLANK(node, td_words_node)
TD_BLANK(node_whole, td_words_node_whole)
TD_BLANK(node_again, td_words_node_again)
TD_BLANK(thread, td_words_thread)
TD_BLANK(queue, td_words_queue)
TD_BLANK(pass, td_words_graph_task)

/* td_sentence_expand writes `text`. For each {name} it calls `write` with the name, which does not
 * end with 0. */
void td_sentence_expand(FILE *out, const char *text,
                        void (*write)(void *data, const char *name, size_t length), void *data);

/* td_said returns a sentence, whose blanks follow. The caller frees. td_sentence_text returns a
 * sentence without fields. The string is constant. */
#define td_said(catalog, sentence, ...)                                                            \
  td_sentence_make(catalog, sentence, (const td_blank[]){__VA_ARGS__, {0}})
char *td_sentence_make(const td_catalog *catalog, td_sentence sentence, const td_blank *blanks);
const char *td_sentence_text(td_sentence sentence);

/* td_say writes a sentence after what `out` has, which is a text in memory. td_say_plain writes one
 * without fields. td_say_text writes a ready text, which it frees, and nothing of "". */
#define td_say(out, catalog, sentence, ...)                                                        \
  td_say_text(out, td_said(catalog, sentence, __VA_ARGS__))
void td_say_plain(FILE *out, td_sentence sentence);
void td_say_text(FILE *out, char *text);

/* td_list_add adds an item to a list by a sentence with {list} and {item}. It takes both, and
 * returns the new list. NULL is the empty list. td_list_more adds "and n more", unless n is 0. */
char *td_list_add(char *list, td_sentence next, char *item);
char *td_list_more(char *list, td_sentence more, uint64_t n);
