/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/memory.h"

#include "ui/draw/memory_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"

#include <glib/gi18n.h>
#include <math.h>

enum { CHOICE_PEAK, CHOICE_RETAINED, CHOICE_STEPS };

static const char *const kinds[TD_N_HOLDING_GROUPS] = {
    [TD_HELD_saved] = N_("saved tensor"),
    [TD_HELD_kept] = N_("kept tensor"),
    [TD_HELD_buffer] = N_("buffer"),
    [TD_HELD_gradient] = N_("gradient"),
};

static const char *
group_name(guint group) {
  return _(td_memory_picture_group((td_holding_group)group));
}

/* ---- holders ---- */

enum { NAME, BYTES, KIND, MODULE, LINE, SHAPE, N_HOLDER_COLUMNS };

static const TdColumn holder_columns[N_HOLDER_COLUMNS] = {
    [NAME] = {N_("Holder"), TD_UNIT_TEXT, N_("node that saved it, or leaf whose gradient it is"),
              130},
    [BYTES] = {N_("Bytes"), TD_UNIT_BYTES, N_("size of the storage")},
    [KIND] = {N_("Kind"), TD_UNIT_TEXT, NULL},
    [MODULE] = {N_("Module"), TD_UNIT_TEXT, N_("module that made the node")},
    [LINE] = {N_("Line"), TD_UNIT_TEXT, N_("where the program made the node")},
    [SHAPE] = {N_("Shape"), TD_UNIT_TEXT, NULL},
};

/* Where the memory was taken up. */
static TdRowPlace
holder_place(const td_memory_holder *holder) {
  TdRowPlace place = TD_NOWHERE;
  place.node = holder->node;
  place.position = holder->since_seq + 1;
  return place;
}

static void
add_holder(TdTable *table, const td_memory_holder *holder) {
  TdTableRow *row = td_table_add(table, holder_place(holder));
  g_autofree char *shape =
      g_strdup_printf("%s%s%s", holder->dtype, *holder->dtype ? " " : "", holder->shape);
  td_table_row_set_text(row, NAME, holder->name);
  td_table_row_set_number(row, BYTES, (double)holder->bytes);
  td_table_row_set_text(row, KIND, _(kinds[holder->group]));
  td_table_row_set_text(row, MODULE, holder->module);
  td_table_row_set_text(row, LINE, holder->line);
  td_table_row_set_text(row, SHAPE, shape);
}

static TdTable *
make_holders(const td_memory_moment *moment, const char *when) {
  TdTable *table = td_table_new(holder_columns, N_HOLDER_COLUMNS, BYTES);
  g_autofree char *bytes = td_format_bytes(td_memory_total(&moment->level));
  g_autofree char *time = td_format_ns((double)moment->ns);
  for (uint32_t i = 0; i < moment->n_holders && moment->seq != UINT64_MAX; i++)
    add_holder(table, &moment->holders[i]);
  td_table_set_summary(
      table, moment->seq == UINT64_MAX
                 ? g_strdup(_("The tape shows no memory that is held."))
                 : g_strdup_printf(_("%s: %s, at %s. The ten largest:"), when, bytes, time));
  return table;
}

/* ---- steps ---- */

enum { STEP, PEAK, FIRST_GROUP, N_STEP_COLUMNS = FIRST_GROUP + TD_N_HOLDING_GROUPS };

static const TdColumn step_columns[N_STEP_COLUMNS] = {
    [STEP] = {N_("Step"), TD_UNIT_COUNT, N_("training step, or backward pass if there are none")},
    [PEAK] = {N_("Peak"), TD_UNIT_BYTES, N_("most memory since the row before")},
    [FIRST_GROUP + TD_HELD_saved] = {N_("Saved"), TD_UNIT_BYTES, N_("saved tensors at its end")},
    [FIRST_GROUP + TD_HELD_kept] = {N_("Kept"), TD_UNIT_BYTES, N_("kept by keep_graph at its end")},
    [FIRST_GROUP + TD_HELD_buffer] = {N_("Buffers"), TD_UNIT_BYTES, N_("input buffers at its end")},
    [FIRST_GROUP + TD_HELD_gradient] = {N_("Gradients"), TD_UNIT_BYTES, N_("gradients at its end")},
};

static void
add_step(TdTable *table, const td_memory *memory, const td_memory_step *step) {
  TdRowPlace place = TD_NOWHERE;
  place.position = step->seq + 1;
  TdTableRow *row = td_table_add(table, place);
  td_table_row_set_number(row, STEP, step->number);
  td_table_row_set_number(row, PEAK, (double)step->peak);
  for (guint group = 0; group < TD_N_HOLDING_GROUPS; group++)
    td_table_row_set_number(row, FIRST_GROUP + group,
                            memory->is_known[group] ? (double)step->end.bytes[group] : NAN);
}

static void
note_growth(TdTable *table, const td_memory *memory) {
  for (guint group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    double bytes;
    if (!memory->is_known[group] ||
        !td_memory_steps_growth(&memory->steps, (td_holding_group)group, &bytes))
      continue;
    g_autofree char *text = td_format_bytes((uint64_t)fabs(bytes));
    td_table_add_note(table, g_strdup_printf(_("%s: %s%s more with each step."), group_name(group),
                                             bytes < -0.5 ? "−" : "", text));
  }
}

static TdTable *
make_steps(const td_memory *memory) {
  TdTable *table = td_table_new(step_columns, N_STEP_COLUMNS, G_MAXUINT);
  for (uint32_t i = 0; i < memory->steps.n_rows; i++)
    add_step(table, memory, &memory->steps.rows[i]);
  td_table_set_summary(table, g_strdup(memory->has_steps ? _("Memory at the end of training steps.")
                                                         : _("Memory at the end of passes.")));
  note_growth(table, memory);
  return table;
}

/* ---- the whole ---- */

/* Returns how many groups the tape tells of. */
static guint
note_unknown(TdTable *table, const td_memory *memory) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint group = 0; group < TD_N_HOLDING_GROUPS; group++)
    if (!memory->is_known[group]) g_ptr_array_add(names, (gpointer)group_name(group));
  guint n_known = TD_N_HOLDING_GROUPS - names->len;
  if (!names->len) return n_known;
  g_ptr_array_add(names, NULL);
  g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
  td_table_add_note(
      table, g_strdup_printf(_("– %s: this tape does not have them, so sums lack them."), list));
  return n_known;
}

static void
add_reasons(TdTable *table, const td_memory *memory) {
  if (note_unknown(table, memory) == 0) return;
  td_table_add_note(table,
                    g_strdup(memory->is_inferred ? _("Sizes were observed. Releases of saved "
                                                     "tensors follow from the ends of their nodes.")
                                                 : _("Sizes and releases were observed.")));
}

TdTable *
td_analysis_memory(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  td_memory *memory = g_new0(td_memory, 1);
  TdTable *table = NULL;
  if (td_memory_make(tape, wish->graph_task, &wish->range, memory, error) == TD_OK) {
    table = wish->choice == CHOICE_STEPS ? make_steps(memory)
            : wish->choice == CHOICE_RETAINED
                ? make_holders(&memory->retained, _("Most that is left after a pass"))
                : make_holders(&memory->peak, _("Peak"));
    td_table_note_range(table, wish);
    add_reasons(table, memory);
    td_memory_areas *areas = g_new(td_memory_areas, 1);
    td_memory_areas_init(areas, memory);
    td_table_set_areas(table, areas);
  }
  td_memory_fini(memory);
  g_free(memory);
  return table;
}
