/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A weak reference to a node, for what must know a node and not keep it alive. Any thread. */
#pragma once

#include "engine/base/refcount.h"

#include <stdatomic.h>

typedef struct td_weak_node td_weak_node;
typedef _Atomic(td_weak_node *) td_weak_slot; /* in the node: (owned reference) or NULL */

/* td_weak_node_of returns a new reference to the one weak reference to a node, which has this slot
 * and counts its references there. The caller holds the node. td_weak_node_get returns a new
 * reference to the node, or NULL if it is gone. */
td_weak_node *td_weak_node_of(td_weak_slot *slot, void *node, td_refcount *refs);
void *td_weak_node_get(td_weak_node *weak);
void td_weak_node_unref(td_weak_node *weak); /* NULL is fine */

/* td_weak_node_clear is for a node that dies: it drops the node's own reference. */
void td_weak_node_clear(td_weak_slot *slot);
