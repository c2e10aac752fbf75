/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One search over the modules, source lines, nodes and events of a document. It runs in slices of a
 * few milliseconds between frames. It ends when it has MOST_PALETTE_HITS of each kind, or has seen
 * all. Main thread only. */
#pragma once

#include "ui/model/palette/places.h"

#define MOST_PALETTE_HITS 8 /* of each kind */

typedef enum TdPaletteKind {
  TD_PALETTE_ACTION,
  TD_PALETTE_ANSWER,
  TD_PALETTE_MODULE,
  TD_PALETTE_LINE,
  TD_PALETTE_NODE,
  TD_PALETTE_EVENT
} TdPaletteKind;

typedef struct TdPaletteHit {
  TdPaletteKind kind;   /* one of the last four */
  const char *text;     /* (borrowed) */
  const TdPlace *place; /* (borrowed) of a module or line */
  uint32_t node;        /* of a node */
  uint64_t seq;         /* of an event */
} TdPaletteHit;

typedef void (*TdPaletteFound)(const TdPaletteHit *hit, gpointer data);

typedef void (*TdPaletteOver)(gpointer data);

typedef struct TdPaletteSearch TdPaletteSearch;

/* td_palette_search_new begins a search for what was typed. Events are looked at from `seq` to the
 * end, then from the beginning. The places must live as long as the search. `found` is called for
 * each hit, then `over` once; neither after td_palette_search_free. */
TdPaletteSearch *td_palette_search_new(TdPlaces *places, const char *typed, uint64_t seq,
                                       TdPaletteFound found, TdPaletteOver over, gpointer data);
void td_palette_search_free(TdPaletteSearch *self);
gboolean td_palette_search_is_over(TdPaletteSearch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TdPaletteSearch, td_palette_search_free)
