/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whole sentences of commands, with named fields. sentences.def is their table. They are English:
 * what commands say of a tape in the reader's language is in engine/profile/sentence.h. Any thread.
 */
#pragma once

typedef enum td_printed {
#define TD_PRINTED(name, text) TD_PRINTED_##name,
#include "app/print/sentences.def"
#undef TD_PRINTED
  TD_N_PRINTED
} td_printed;

/* What stands for {name}. Both are borrowed. */
typedef struct td_printed_field {
  const char *name, *text;
} td_printed_field;

/* td_printed_dup returns a sentence. Its fields follow, each a pair of name and text in braces. A
 * sentence may use some of them. The caller frees. td_printed_print prints a sentence. */
#define td_printed_dup(sentence, ...)                                                              \
  td_printed_make(sentence, (const td_printed_field[]){__VA_ARGS__, {0}})
char *td_printed_make(td_printed sentence, const td_printed_field *fields);
#define td_printed_print(sentence, ...)                                                            \
  td_printed_put(sentence, (const td_printed_field[]){__VA_ARGS__, {0}})
void td_printed_put(td_printed sentence, const td_printed_field *fields);
