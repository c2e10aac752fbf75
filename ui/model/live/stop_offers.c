/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop_offers.h"

#include "engine/control/condition.h"

#include <glib/gi18n.h>

static void
offer_free(gpointer data) {
  TdStopOffer *offer = data;
  g_free(offer->title);
  g_free(offer->condition);
  g_free(offer);
}

static void
add(GPtrArray *offers, const char *title, const char *word, const char *argument) {
  TdStopOffer *offer = g_new(TdStopOffer, 1);
  *offer = (TdStopOffer){g_strdup(title), g_strconcat(word, argument ? ":" : "", argument, NULL)};
  g_ptr_array_add(offers, offer);
}

static void
add_named(GPtrArray *offers, const char *title, const char *word, const char *name) {
  if (name && *name) add(offers, title, word, name);
}

GPtrArray *
td_stop_offers_of_node(TdPlayhead *playhead) {
  GPtrArray *offers = g_ptr_array_new_with_free_func(offer_free);
  TdDocument *document = td_playhead_get_document(playhead);
  uint32_t node = td_playhead_get_selection(playhead);
  const td_catalog_node *facts =
      document ? td_catalog_node_find(td_document_get_catalog(document), node) : NULL;
  if (!facts) return offers;
  g_autofree char *number = g_strdup_printf("%u", node);
  add_named(offers, _("This node runs"), "node", number);
  add_named(offers, _("A node of its name runs"), "op", facts->name);
  add_named(offers, _("A node of its module runs"), "module", facts->module);
  add_named(offers, _("It is ready"), "ready", number);
  return offers;
}

GPtrArray *
td_stop_offers_of_kinds(void) {
  GPtrArray *offers = g_ptr_array_new_with_free_func(offer_free);
  for (td_condition_kind kind = 0; kind < TD_N_CONDITIONS; kind++) {
    const td_condition_words *words = td_condition_words_of(kind);
    add(offers, _(words->help), words->word, words->has_argument ? "" : NULL);
  }
  return offers;
}
