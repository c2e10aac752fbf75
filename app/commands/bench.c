/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/figure.h"
#include "app/bench/scale.h"
#include "app/bench/torch.h"
#include "app/bench/walks.h"
#include "app/command.h"

#include "engine/base/json.h"

#include <math.h>

static const td_figure figures[] = {
#define TD_FIGURE(name, what, unit, floor, judged_by, must, aim)                                   \
  {#name, what, unit, floor, judged_by, must, aim, td_bench_##name},
#include "app/bench/figures.def"
#undef TD_FIGURE
};

/* The distance of a figure from its bounds, in the terms of the bounds. */
static double
judged_value(const td_figure *figure, const td_measured *measured) {
  switch (figure->judged_by) {
  case TD_BY_RATIO:
  case TD_AS_PEER:
    return measured->value / measured->floor_value;
  case TD_BY_INCREASE:
    return measured->value - measured->floor_value;
  case TD_BY_VALUE:
    return measured->value;
  }
  return NAN;
}

/* Bounds are for the sizes that the rows name. */
static bool
is_judged(const td_figure *figure) {
  return figure->judged_by != TD_AS_PEER && !td_bench_is_small();
}

static void
print_spread_json(td_json *json, const td_spread *spread) {
  td_json_key(json, "rounds");
  td_json_u64(json, spread->n_rounds);
  td_json_key(json, "ratio_quartiles");
  td_json_begin_array(json);
  td_json_double(json, spread->low);
  td_json_double(json, spread->median);
  td_json_double(json, spread->high);
  td_json_end_array(json);
}

static void
print_string_json(td_json *json, const char *key, const char *value) {
  td_json_key(json, key);
  td_json_string(json, value);
}

static void
print_head_json(td_json *json, const char *name, const char *what, const char *unit) {
  print_string_json(json, "figure", name);
  print_string_json(json, "what", what);
  print_string_json(json, "unit", unit);
  if (!td_bench_is_small()) return;
  td_json_key(json, "small");
  td_json_bool(json, true);
}

static void
print_json(td_json *json, const td_figure *figure, const td_measured *measured) {
  td_json_begin_object(json);
  print_head_json(json, figure->name, figure->what, figure->unit);
  td_json_key(json, "must");
  td_json_double(json, figure->must);
  td_json_key(json, "aim");
  td_json_double(json, figure->aim);
  if (measured->skipped) {
    print_string_json(json, "skipped", measured->skipped);
  } else {
    td_json_key(json, "value");
    td_json_double(json, measured->value);
    print_string_json(json, "floor", figure->floor);
    td_json_key(json, "floor_value");
    td_json_double(json, figure->floor ? measured->floor_value : NAN);
    td_json_key(json, "ratio");
    td_json_double(json, figure->floor ? measured->value / measured->floor_value : NAN);
    td_json_key(json, "judged");
    td_json_double(json, judged_value(figure, measured));
    if (measured->spread.n_rounds) print_spread_json(json, &measured->spread);
    if (is_judged(figure)) {
      td_json_key(json, "holds");
      td_json_bool(json, judged_value(figure, measured) <= figure->must);
    }
  }
  td_json_end_object(json);
}

static const char *
bound_unit(const td_figure *figure) {
  return figure->judged_by == TD_BY_RATIO || figure->judged_by == TD_AS_PEER ? "x" : figure->unit;
}

static const char *
verdict(const td_figure *figure, double judged) {
  if (figure->judged_by == TD_AS_PEER) return "to compare";
  if (!is_judged(figure)) return "not judged: small";
  return judged <= figure->must ? "holds" : "DOES NOT HOLD";
}

static void
print_text(const td_figure *figure, const td_measured *measured) {
  if (measured->skipped) {
    printf("%-56s skipped: %s\n", figure->what, measured->skipped);
    return;
  }
  double judged = judged_value(figure, measured);
  g_autofree char *value = g_strdup_printf("%.4g %s", measured->value, figure->unit);
  g_autofree char *floor = figure->floor
                               ? g_strdup_printf("%s %.4g", figure->floor, measured->floor_value)
                               : g_strdup("-");
  g_autofree char *bound =
      figure->judged_by == TD_AS_PEER
          ? g_strdup("-")
          : g_strdup_printf("%s%.3g %s", figure->judged_by == TD_BY_INCREASE ? "+" : "",
                            figure->must, bound_unit(figure));
  g_autofree char *seen = g_strdup_printf(
      "%s%.3g %s", figure->judged_by == TD_BY_INCREASE ? "+" : "", judged, bound_unit(figure));
  printf("%-56s %-13s %-28s %-11s must %-10s %s", figure->what, value, floor, seen, bound,
         verdict(figure, judged));
  if (measured->spread.n_rounds)
    printf(" (%u rounds: %.3g to %.3g)", measured->spread.n_rounds, measured->spread.low,
           measured->spread.high);
  putchar('\n');
}

/* A figure is measured if --figure names it. PyTorch's figures are measured with --torch too. */
static bool
is_wanted(const td_figure *figure, char **only, bool torch) {
  if (only) return g_strv_contains((const char *const *)only, figure->name);
  return !torch || g_str_has_prefix(figure->name, "torch_");
}

static void
print_doubles_json(td_json *json, const char *key, const double *values) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (int k = 0; k < TD_N_SIZES; k++)
    td_json_double(json, values[k]);
  td_json_end_array(json);
}

static void
print_scale_json(td_json *json, const td_scale *scale, const td_scaled *measured) {
  td_json_begin_object(json);
  print_head_json(json, scale->name, scale->what, scale->unit);
  print_string_json(json, "things", scale->things);
  if (measured->skipped) {
    print_string_json(json, "skipped", measured->skipped);
  } else {
    td_json_key(json, "sizes");
    td_json_begin_array(json);
    for (int k = 0; k < TD_N_SIZES; k++)
      td_json_u64(json, measured->n[k]);
    td_json_end_array(json);
    print_doubles_json(json, "values", measured->value);
    td_json_key(json, "exponent");
    td_json_double(json, measured->exponent);
    print_doubles_json(json, "memory_mb", measured->memory_mb);
    td_json_key(json, "memory_exponent");
    td_json_double(json, measured->memory_exponent);
  }
  td_json_end_object(json);
}

static void
print_growth(const char *what, const char *unit, const double *values, double exponent) {
  printf("%-44s %-3s", what, unit);
  for (int k = 0; k < TD_N_SIZES; k++)
    printf(" %10.3g", values[k]);
  printf("   grows as n^%.2f\n", exponent);
}

static void
print_scale_text(const td_scale *scale, const td_scaled *measured) {
  if (measured->skipped) {
    printf("%-48s skipped: %s\n", scale->what, measured->skipped);
    return;
  }
  printf("%-48s", scale->what);
  for (int k = 0; k < TD_N_SIZES; k++)
    printf(" %10u", measured->n[k]);
  printf("   %s\n", scale->things);
  print_growth("  time", scale->unit, measured->value, measured->exponent);
  print_growth("  most memory", "MB", measured->memory_mb, measured->memory_exponent);
}

static gboolean
small_cb(const char *option, const char *value, void *data, GError **error) {
  td_bench_choose_small();
  return TRUE;
}

static gboolean torch_wanted;

static gboolean
torch_cb(const char *option, const char *value, void *data, GError **error) {
  torch_wanted = TRUE;
  td_bench_torch_choose(value ? g_intern_string(value) : NULL);
  return TRUE;
}

static void
measure_figures(td_json *json, char **only) {
  for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++) {
    if (!is_wanted(&figures[i], only, torch_wanted)) continue;
    td_measured measured = {0};
    figures[i].measure(&measured);
    if (json)
      print_json(json, &figures[i], &measured);
    else
      print_text(&figures[i], &measured);
    fflush(stdout);
    g_free(measured.skipped);
  }
}

static void
measure_scales(td_json *json, char **only) {
  unsigned n;
  const td_scale *scales = td_bench_scales(&n);
  for (unsigned i = 0; i < n; i++) {
    if (only && !g_strv_contains((const char *const *)only, scales[i].name)) continue;
    td_scaled measured = {0};
    td_bench_scale_measure(&scales[i], &measured);
    if (json)
      print_scale_json(json, &scales[i], &measured);
    else
      print_scale_text(&scales[i], &measured);
    fflush(stdout);
    g_free(measured.skipped);
  }
}

static bool
is_figure(const char *name, bool scaled) {
  if (scaled) {
    unsigned n;
    const td_scale *scales = td_bench_scales(&n);
    for (unsigned i = 0; i < n; i++)
      if (g_str_equal(scales[i].name, name)) return true;
    return false;
  }
  for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++)
    if (g_str_equal(figures[i].name, name)) return true;
  return false;
}

static int
walk_tapes(char **paths) {
  for (; *paths; paths++) {
    g_autofree char *trouble = td_bench_walk(*paths);
    if (trouble) return td_command_fail(*paths, "%s", trouble);
  }
  return TD_EXIT_OK;
}

int
td_command_bench(int argc, char **argv) {
  gboolean as_json = FALSE, scaled = FALSE;
  g_auto(GStrv) only = NULL;
  g_auto(GStrv) tapes = NULL;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      {"figure", 0, 0, G_OPTION_ARG_STRING_ARRAY, &only,
       "Measure only this figure; may be repeated", "NAME"},
      {"scale", 0, 0, G_OPTION_ARG_NONE, &scaled,
       "Measure how time and memory grow: each figure at four sizes", NULL},
      {"small", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (void *)small_cb,
       "Try every figure with little work, in moments; nothing is judged", NULL},
      {"window", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &tapes,
       "Measure how long each action in the window keeps its main loop, as text; may be repeated",
       "TAPE"},
      {"torch", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (void *)torch_cb,
       "Measure the cost of recording PyTorch, and training beside it, in this Python (default: "
       "python3)",
       "PYTHON"},
      {0}};
  int status;
  if (!td_command_parse("bench", entries, false, 0, 0, &argc, &argv, &status)) return status;
  for (char **name = only; name && *name; name++)
    if (!is_figure(*name, scaled))
      return td_command_bad_usage("bench", "--figure '%s': `tapedeck bench%s` prints the names",
                                  *name, scaled ? " --scale --json" : " --json");
  if (tapes) return walk_tapes(tapes);
  td_json json;
  td_json_init(&json, stdout);
  if (as_json) td_json_begin_array(&json);
  (scaled ? measure_scales : measure_figures)(as_json ? &json : NULL, only);
  if (as_json) {
    td_json_end_array(&json);
    td_json_newline(&json);
  }
  return TD_EXIT_OK;
}
