/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/compare/side_by_side.h"

struct _TdSideBySide {
  GObject parent_instance;
  TdPlayhead *playheads[2]; /* (owned) */
  TdAligned *aligned;       /* (owned) or NULL */
  int lead;
  gboolean is_apart; /* both stand at the first difference, until the lead goes on */
};

G_DEFINE_FINAL_TYPE(TdSideBySide, td_side_by_side, G_TYPE_OBJECT)

static guint lead_signal, shown_signal;

static gboolean
leads(TdSideBySide *self, TdPlayhead *playhead) {
  return self->aligned && self->playheads[self->lead] == playhead;
}

/* The node of the other side that goes with the selected one. */
static uint32_t
find_partner(TdSideBySide *self) {
  TdPlayhead *lead = self->playheads[self->lead];
  uint32_t node = td_playhead_get_selection(lead);
  if (self->is_apart && node == self->aligned->node[self->lead])
    return self->aligned->node[!self->lead];
  const td_alignment_pair *pair = node == TD_NONE
                                      ? NULL
                                      : td_alignment_find(self->aligned->alignment, self->lead,
                                                          node, td_playhead_get_target(lead));
  return pair ? pair->node[!self->lead] : TD_NONE;
}

static void
select_partner(TdSideBySide *self) {
  TdPlayhead *other = self->playheads[!self->lead];
  if (!td_playhead_is_travelling(other)) td_playhead_set_selection(other, find_partner(self));
}

static void
selection_changed(TdSideBySide *self, GParamSpec *spec, TdPlayhead *playhead) {
  if (leads(self, playhead)) select_partner(self);
}

static void
follow(TdSideBySide *self) {
  uint64_t target = td_playhead_get_target(self->playheads[self->lead]);
  self->is_apart = self->is_apart && target == self->aligned->position[self->lead];
  if (!self->is_apart)
    td_playhead_set_position(self->playheads[!self->lead],
                             td_alignment_map(self->aligned->alignment, self->lead, target));
  select_partner(self);
}

/* A pass ends on its side. */
static gboolean
keep_inside(TdSideBySide *self, TdPlayhead *playhead) {
  const td_alignment *alignment = self->aligned->alignment;
  uint64_t target = td_playhead_get_target(playhead);
  uint64_t inside = CLAMP(target, td_alignment_first(alignment, self->lead),
                          td_alignment_last(alignment, self->lead));
  if (inside == target) return FALSE;
  td_playhead_set_playing(playhead, FALSE);
  td_playhead_set_position(playhead, inside);
  return TRUE;
}

static void
position_changed(TdSideBySide *self, GParamSpec *spec, TdPlayhead *playhead) {
  if (leads(self, playhead) && !keep_inside(self, playhead)) follow(self);
}

/* A side that arrives selects the node there. Then its partner is selected again. */
static void
travelling_changed(TdSideBySide *self, GParamSpec *spec, TdPlayhead *playhead) {
  if (leads(self, playhead))
    position_changed(self, spec, playhead);
  else if (self->aligned)
    select_partner(self);
}

static void
td_side_by_side_finalize(GObject *object) {
  TdSideBySide *self = TD_SIDE_BY_SIDE(object);
  for (int side = 0; side < 2; side++) {
    g_signal_handlers_disconnect_by_data(self->playheads[side], self);
    g_clear_object(&self->playheads[side]);
  }
  g_clear_pointer(&self->aligned, td_aligned_free);
  G_OBJECT_CLASS(td_side_by_side_parent_class)->finalize(object);
}

static void
td_side_by_side_class_init(TdSideBySideClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_side_by_side_finalize;
  lead_signal = g_signal_new("lead-changed", TD_TYPE_SIDE_BY_SIDE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                             NULL, G_TYPE_NONE, 0);
  shown_signal = g_signal_new("shown", TD_TYPE_SIDE_BY_SIDE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                              G_TYPE_NONE, 0);
}

static void
td_side_by_side_init(TdSideBySide *self) {
  for (int side = 0; side < 2; side++) {
    TdPlayhead *playhead = self->playheads[side] = td_playhead_new();
    g_signal_connect_swapped(playhead, "notify::position", G_CALLBACK(position_changed), self);
    g_signal_connect_swapped(playhead, "notify::selection", G_CALLBACK(selection_changed), self);
    g_signal_connect_swapped(playhead, "notify::travelling", G_CALLBACK(travelling_changed), self);
  }
}

TdSideBySide *
td_side_by_side_new(void) {
  return g_object_new(TD_TYPE_SIDE_BY_SIDE, NULL);
}

TdPlayhead *
td_side_by_side_get_playhead(TdSideBySide *self, int side) {
  return self->playheads[side];
}

const TdAligned *
td_side_by_side_get_aligned(TdSideBySide *self) {
  return self->aligned;
}

void
td_side_by_side_show(TdSideBySide *self, TdDocument *a, TdDocument *b, TdAligned *aligned) {
  g_assert(!self->aligned);
  td_playhead_set_document(self->playheads[0], a);
  td_playhead_set_document(self->playheads[1], b);
  self->aligned = aligned;
  g_signal_emit(self, shown_signal, 0);
  td_playhead_select_current(self->playheads[0]);
  if (!keep_inside(self, self->playheads[0])) follow(self);
}

void
td_side_by_side_set_lead(TdSideBySide *self, int side) {
  if (side == self->lead) return;
  td_playhead_set_playing(self->playheads[self->lead], FALSE);
  self->lead = side;
  g_signal_emit(self, lead_signal, 0);
}

int
td_side_by_side_get_lead(TdSideBySide *self) {
  return self->lead;
}

void
td_side_by_side_play(TdSideBySide *self) {
  TdPlayhead *lead = self->playheads[self->lead];
  gboolean begins = self->aligned && !td_playhead_get_playing(lead);
  if (begins &&
      td_playhead_get_target(lead) >= td_alignment_last(self->aligned->alignment, self->lead))
    td_playhead_set_position(lead, td_alignment_first(self->aligned->alignment, self->lead));
  td_playhead_set_playing(lead, begins);
}

gboolean
td_side_by_side_go_to_difference(TdSideBySide *self) {
  const TdAligned *aligned = self->aligned;
  if (!aligned || !aligned->has_difference) return FALSE;
  td_playhead_set_playing(self->playheads[self->lead], FALSE);
  self->is_apart = TRUE;
  for (int side = 0; side < 2; side++)
    td_playhead_show_node(self->playheads[side], aligned->position[side], aligned->node[side]);
  return TRUE;
}
