/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The words that a person types to find nodes. Each must occur in a node: in its name, number,
 * label, module path or the lines of the model that made it. One thread at a time. */
#pragma once

#include "engine/replay/catalog.h"

#include <glib.h>

typedef struct TdNodeWords TdNodeWords;

/* td_node_words_new cuts what was typed into words. They remember texts by their addresses. So use
 * them for one tape alone, while it is open. */
TdNodeWords *td_node_words_new(const char *typed);
void td_node_words_free(TdNodeWords *self);
gboolean td_node_words_is_empty(const TdNodeWords *self);

/* td_node_words_in returns which words a text holds, as bits. */
uint32_t td_node_words_in(const TdNodeWords *self, const char *text);

/* td_node_words_are_in tells whether a text holds all words. */
gboolean td_node_words_are_in(const TdNodeWords *self, const char *text);

/* td_node_words_match tells whether a node has all words, or the `also` has those that are missing.
 */
gboolean td_node_words_match(TdNodeWords *self, const td_catalog_node *node, uint32_t also);

/* td_node_words_describe returns what people read of a node that was found, "MulBackward0 #6 ·
 * Linear · layers.0 · net.py:7 · running". `state` may be NULL. The caller frees. */
char *td_node_words_describe(const td_catalog *catalog, const td_catalog_node *node,
                             const char *state);

/* td_node_words_may_match tells whether nodes of a tape can match at all: each word is a number or
 * occurs in one of the [n] texts. */
gboolean td_node_words_may_match(TdNodeWords *self, const td_tape *tape, uint32_t n_strings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TdNodeWords, td_node_words_free)
