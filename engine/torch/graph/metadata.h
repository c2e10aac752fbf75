/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metadata of a node: what users note there, and what anomaly mode needs. Anomaly mode stores the
 * stack of the forward call that made the node, and its parent: the node that ran then. The
 * embedding language keeps metadata in a form that its users can read; this file decides when. They
 * are made on first use, live with their node, and keep its parent alive. */
#pragma once

#include "engine/torch/graph/edge.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What the embedding language offers. Called by any thread that holds no lock of the engine but
 * perhaps a node's mutex. */
typedef struct td_metadata_class {
  void *(*make)(void);
  void (*free)(void *metadata);
  /* store_stack remembers where the calling thread is; stack_text returns it, a frame a line,
   * FILE:LINE FUNCTION, the innermost last (the caller frees), or NULL. */
  void (*store_stack)(void *metadata);
  char *(*stack_text)(void *metadata);
  void (*set_parent)(void *metadata, td_node *parent);
  /* print_stacks warns, by td_warn, of an error in the node: where it was made, and its parents. */
  void (*print_stacks)(void *metadata, td_node *node);
} td_metadata_class;

/* td_metadata_set_class: while the program starts. */
void td_metadata_set_class(const td_metadata_class *klass);

/* td_metadata_at returns the metadata at a node's place for them (borrowed), made on first use;
 * NULL without a class. td_metadata_free takes what was there; NULL is fine. */
void *td_metadata_at(_Atomic(void *) *place);
void td_metadata_free(void *metadata);

/* td_metadata_note_birth stores the stack, and the node that the calling thread runs as the parent.
 * For a node that was just made, in anomaly mode. May wait for the GIL. */
void td_metadata_note_birth(_Atomic(void *) *place);

/* td_metadata_print_stacks warns of an error in the node that the metadata are of; false without a
 * class. */
bool td_metadata_print_stacks(_Atomic(void *) *place, td_node *node);

/* td_metadata_stack returns the number of the string that is a node's forward stack, or 0. */
uint32_t td_metadata_stack(_Atomic(void *) *place);
