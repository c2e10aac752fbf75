/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/geometry/format.h"
#include "ui/geometry/peaks.h"
#include "ui/geometry/spans.h"
#include "ui/geometry/ticks.h"
#include "ui/geometry/time_cuts.h"

#include <glib.h>
#include <math.h>

static void
assert_text(char *text, const char *expected) {
  g_assert_cmpstr(text, ==, expected);
  free(text);
}

static void
test_ns(void) {
  static const struct {
    double ns;
    const char *text;
  } cases[] = {{0, "0 ns"},       {1, "1 ns"},        {999, "999 ns"},      {1000, "1 µs"},
               {1840, "1.84 µs"}, {12340, "12.3 µs"}, {1834021, "1.83 ms"}, {999960, "1 ms"},
               {1.5e8, "150 ms"}, {999999999, "1 s"}, {12.34e9, "12.3 s"},  {-2500, "-2.5 µs"},
               {4e6, "4 ms"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_text(td_format_ns(cases[i].ns), cases[i].text);
}

static void
test_bytes_and_counts(void) {
  assert_text(td_format_bytes(0), "0 B");
  assert_text(td_format_bytes(512), "512 B");
  assert_text(td_format_bytes(4096), "4 KiB");
  assert_text(td_format_bytes(1572864), "1.5 MiB");
  assert_text(td_format_bytes(3ull << 40), "3 TiB");
  assert_text(td_format_count(7), "7");
  assert_text(td_format_count(1797), "1\u202f797");
  assert_text(td_format_count(12345678), "12\u202f345\u202f678");
  assert_text(td_format_many(0, "node", "nodes"), "0 nodes");
  assert_text(td_format_many(1, "node", "nodes"), "1 node");
  assert_text(td_format_many(1797, "pass", "passes"), "1\u202f797 passes");
  assert_text(td_format_count(UINT64_MAX),
              "18\u202f446\u202f744\u202f073\u202f709\u202f551\u202f615");
}

static void
test_op_names(void) {
  assert_text(td_format_op("AddmmBackward0"), "Addmm");
  assert_text(td_format_op("MeanBackward1"), "Mean·1");
  assert_text(td_format_op("ReluBackward"), "Relu");
  assert_text(td_format_op("AccumulateGrad"), "AccumulateGrad");
  assert_text(td_format_op("MyFunction2"), "MyFunction2");
  assert_text(td_format_op("Backward0"), "Backward0");
  assert_text(td_format_op(""), "");
}

static guint
count_digits(const char *text) {
  guint n = 0;
  for (; *text; text++)
    n += g_ascii_isdigit(*text) ? 1 : 0;
  return n;
}

/* However long the tape is and however near one looks: no two labels are equal, and none has more
 * than four digits. */
static void
test_tick_texts(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  for (int i = 0; i < 20000; i++) {
    double from = pow(10, g_rand_double_range(random, 0, 13));
    double to = from + pow(10, g_rand_double_range(random, 1, 13));
    if (i % 4 == 0) from = i % 8 ? 0 : -to / 3;
    td_ticks ticks = td_ticks_choose(from, to, (uint32_t)g_rand_int_range(random, 2, 21));
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t tick = 0; tick < ticks.n; tick++) {
      char *text = td_ticks_text(&ticks, tick);
      g_assert_cmpuint(count_digits(text), <=, 4);
      g_assert_true(g_str_has_suffix(text, "s") || g_str_has_suffix(text, " h"));
      g_assert_true(g_hash_table_add(seen, text));
    }
  }
}

static void
test_ticks(void) {
  td_ticks ticks = td_ticks_choose(0, 1e6, 10);
  g_assert_cmpfloat_with_epsilon(ticks.step, 1e5, 1e-6);
  g_assert_cmpuint(ticks.n, ==, 11);
  for (double length = 3; length < 1e12; length *= 3.7)
    for (uint32_t most = 1; most < 20; most++) {
      double from = length * 0.37, to = from + length;
      ticks = td_ticks_choose(from, to, most);
      double lead = ticks.step / pow(10, floor(log10(ticks.step) + 1e-9));
      g_assert_cmpuint(ticks.n, <=, most + 1);
      g_assert_true(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6);
      if (!ticks.n) continue;
      g_assert_cmpfloat(ticks.first, >=, from - ticks.step * 1e-6);
      g_assert_cmpfloat(ticks.first + (ticks.n - 1) * ticks.step, <=, to + ticks.step * 1e-6);
    }
  g_assert_cmpuint(td_ticks_choose(5, 5, 10).n, ==, 0);
  g_assert_cmpuint(td_ticks_choose(0, 10, 0).n, ==, 0);
}

/* Against looking at every moment. Some samples have the same time: the last of them counts from
 * then on, but all of them were there. */
static void
test_peaks(void) {
  enum { LENGTH = 3000, N = 4000 };
  td_sample samples[N];
  uint32_t after[LENGTH] = {0}, most_at[LENGTH] = {0};
  GRand *random = g_rand_new_with_seed(4);
  uint64_t time = 7;
  for (int i = 0; i < N; i++) {
    samples[i] = (td_sample){time, (uint32_t)g_rand_int_range(random, 0, 1000)};
    time += time < LENGTH - 9 ? (uint64_t)g_rand_int_range(random, 0, 2) : 0;
  }
  for (int t = 0, i = 0; t < LENGTH; t++) {
    after[t] = most_at[t] = i ? samples[i - 1].value : 0;
    for (; i < N && samples[i].time == (uint64_t)t; i++) {
      most_at[t] = MAX(most_at[t], samples[i].value);
      after[t] = samples[i].value;
    }
  }
  uint32_t *peaks = td_peaks_new(samples, N);
  for (int i = 0; i < 3000; i++) {
    int from = g_rand_int_range(random, 0, LENGTH - 1),
        to = g_rand_int_range(random, from + 1, LENGTH);
    uint32_t most = after[from];
    for (int t = from + 1; t < to; t++)
      most = MAX(most, most_at[t]);
    g_assert_cmpuint(td_peaks_most(samples, peaks, N, from, to), ==, most);
  }
  g_assert_cmpuint(td_peaks_most(samples, peaks, 0, 0, LENGTH), ==, 0);
  g_rand_free(random);
  free(peaks);
}

/* Against counting every unit of time. */
static void
test_spans(void) {
  enum { LENGTH = 2000 };
  td_spans row = {0};
  uint8_t covered[LENGTH] = {0};
  GRand *random = g_rand_new_with_seed(3);
  for (uint64_t t = 5; t < LENGTH - 40;) {
    uint64_t length = (uint64_t)g_rand_int_range(random, 1, 12);
    td_spans_push(&row, (td_span){t, t + length, 0, (uint32_t)row.n});
    for (uint64_t k = t; k < t + length; k++)
      covered[k] = 1;
    t += length + (uint64_t)g_rand_int_range(random, 0, 15);
  }
  td_spans_seal(&row);
  for (int i = 0; i < 3000; i++) {
    uint64_t from = (uint64_t)g_rand_int_range(random, 0, LENGTH - 1);
    uint64_t to = (uint64_t)g_rand_int_range(random, (gint32)from + 1, LENGTH), n = 0;
    for (uint64_t k = from; k < to; k++)
      n += covered[k];
    g_assert_cmpfloat_with_epsilon(td_spans_share(&row, from, to), (double)n / (double)(to - from),
                                   1e-9);
    const td_span *hit = td_spans_at(&row, from, 0);
    if (covered[from]) g_assert_true(hit && hit->begin <= from && from <= hit->end);
    if (hit) g_assert_true(covered[from] || hit->end == from || hit->begin == from);
  }
  g_assert_null(td_spans_at(&row, 0, 2));
  g_assert_true(td_spans_at(&row, 3, 2) == row.spans);
  g_rand_free(random);
  td_spans_fini(&row);
}

/* A clock may run back: spans never overlap nor end before they begin. */
static void
test_spans_in_disorder(void) {
  td_spans row = {0};
  td_spans_push(&row, (td_span){10, 20, 0, 0});
  td_spans_push(&row, (td_span){15, 18, 0, 1});
  td_spans_push(&row, (td_span){19, 30, 0, 2});
  td_spans_seal(&row);
  for (size_t i = 0; i < row.n; i++) {
    g_assert_cmpuint(row.spans[i].begin, <=, row.spans[i].end);
    if (i) g_assert_cmpuint(row.spans[i].begin, >=, row.spans[i - 1].end);
  }
  g_assert_cmpuint(row.busy[row.n], ==, 20);
  td_spans_fini(&row);
}

/* Random cuts, some of them over the end of the one before, against a count of what is left. */
static void
test_time_cuts(void) {
  enum { LENGTH = 400 };
  for (guint32 seed = 0; seed < 200; seed++) {
    GRand *random = g_rand_new_with_seed(seed);
    gboolean is_cut[LENGTH] = {0};
    td_time_cuts cuts = {0};
    for (int from = 0; from < LENGTH; from += g_rand_int_range(random, 0, 60)) {
      int length = g_rand_int_range(random, 0, 50), end = MIN(from + length, LENGTH);
      td_time_cuts_add(&cuts, from, end);
      for (int i = from; i < end; i++)
        is_cut[i] = TRUE;
    }
    int place = 0;
    for (int i = 0; i < LENGTH; place += !is_cut[i++]) {
      g_assert_cmpfloat(td_time_cuts_place(&cuts, i), ==, place);
      if (!is_cut[i]) g_assert_cmpfloat(td_time_cuts_time(&cuts, place), ==, i);
      const td_time_cut *next = td_time_cuts_next(&cuts, i);
      if (is_cut[i]) g_assert_true(next && next->begin_ns <= i && next->end_ns > i);
      if (next) g_assert_true(is_cut[(int)next->begin_ns] && next->end_ns > i);
    }
    td_time_cuts_fini(&cuts);
    g_rand_free(random);
  }
  g_assert_cmpfloat(td_time_cuts_time(NULL, td_time_cuts_place(NULL, 7)), ==, 7);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/format/ns", test_ns);
  g_test_add_func("/ui/format/bytes-and-counts", test_bytes_and_counts);
  g_test_add_func("/ui/format/op-names", test_op_names);
  g_test_add_func("/ui/ticks/steps", test_ticks);
  g_test_add_func("/ui/ticks/texts", test_tick_texts);
  g_test_add_func("/ui/time-cuts", test_time_cuts);
  g_test_add_func("/ui/peaks/most", test_peaks);
  g_test_add_func("/ui/spans/share-and-hit", test_spans);
  g_test_add_func("/ui/spans/disorder", test_spans_in_disorder);
  return g_test_run();
}
