/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The modules and the source lines that made nodes of a document, each once. A module has the nodes
 * of the modules in it. Main thread only. */
#pragma once

#include "ui/model/document/document.h"

typedef enum TdPlaceKind { TD_PLACE_MODULE, TD_PLACE_LINE } TdPlaceKind;

typedef struct TdPlace {
  TdPlaceKind kind;
  uint32_t n_nodes;
  char *text; /* (owned) "layers.0" or "net.py:7" */
} TdPlace;

typedef struct TdPlaces TdPlaces;

/* td_places_new keeps a reference to the document, and reads nothing yet. */
TdPlaces *td_places_new(TdDocument *document);
void td_places_free(TdPlaces *self);
TdDocument *td_places_get_document(TdPlaces *self); /* (borrowed) */

/* td_places_read reads nodes until all are read or until a moment of g_get_monotonic_time. TRUE if
 * all are read: then the places are complete, in the order of their first nodes. */
gboolean td_places_read(TdPlaces *self, gint64 until_us);
guint td_places_n(TdPlaces *self);
const TdPlace *td_places_get(TdPlaces *self, guint i); /* (borrowed) */

/* td_places_dup_nodes returns the nodes of a place (uint32_t, ascending); the caller unrefs. It
 * looks at each node of the document once. */
GArray *td_places_dup_nodes(TdPlaces *self, const TdPlace *place);
