/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The JSON writer: commas, nesting, escapes, and what it does with numbers and bytes JSON cannot
 * hold. */
#include "engine/base/json.h"

#include <glib.h>
#include <math.h>

typedef struct sink {
  td_json json;
  FILE *file;
  char *text;
  size_t length;
} sink;

static void
sink_open(sink *out) {
  *out = (sink){0};
  out->file = open_memstream(&out->text, &out->length);
  td_json_init(&out->json, out->file);
}

static void
sink_assert(sink *out, const char *expected) {
  fclose(out->file);
  g_assert_cmpstr(out->text, ==, expected);
  free(out->text);
}

static void
test_nesting(void) {
  sink out;
  sink_open(&out);
  td_json *json = &out.json;
  td_json_begin_object(json);
  td_json_key(json, "empty");
  td_json_begin_array(json);
  td_json_end_array(json);
  td_json_key(json, "pairs");
  td_json_begin_array(json);
  for (int i = 0; i < 2; i++) {
    td_json_begin_object(json);
    td_json_key(json, "i");
    td_json_i64(json, -i);
    td_json_key(json, "odd");
    td_json_bool(json, i % 2 == 1);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
  sink_assert(
      &out, "{\"empty\": [], \"pairs\": [{\"i\": 0, \"odd\": false}, {\"i\": -1, \"odd\": true}]}");
}

static void
test_lines(void) {
  sink out;
  sink_open(&out);
  for (int i = 0; i < 2; i++) {
    td_json_begin_array(&out.json);
    td_json_null(&out.json);
    td_json_end_array(&out.json);
    td_json_newline(&out.json);
  }
  sink_assert(&out, "[null]\n[null]\n");
}

static void
test_strings(void) {
  static const struct {
    const char *bytes, *json;
  } cases[] = {
      {"plain", "\"plain\""},
      {"a\"b\\c", "\"a\\\"b\\\\c\""},
      {"tab\tline\n", "\"tab\\u0009line\\n\""},
      {"\xe7\xa3\x81\xe5\xb8\xa6", "\"\xe7\xa3\x81\xe5\xb8\xa6\""},
      {"\xff", "\"\\ufffd\""},
      {"cut \xe7\xa3", "\"cut \\ufffd\\ufffd\""},
      {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
      {"\xc0\x80", "\"\\ufffd\\ufffd\""},            /* an overlong zero */
      {NULL, "null"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    sink out;
    sink_open(&out);
    td_json_string(&out.json, cases[i].bytes);
    sink_assert(&out, cases[i].json);
  }
}

static void
test_numbers(void) {
  sink out;
  sink_open(&out);
  td_json_begin_array(&out.json);
  td_json_u64(&out.json, UINT64_MAX);
  td_json_i64(&out.json, INT64_MIN);
  td_json_double(&out.json, 0.5);
  td_json_double(&out.json, INFINITY);
  td_json_double(&out.json, NAN);
  td_json_id(&out.json, 7);
  td_json_id(&out.json, UINT32_MAX);
  td_json_end_array(&out.json);
  sink_assert(&out, "[18446744073709551615, -9223372036854775808, 0.5, null, null, 7, null]");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/json/nesting", test_nesting);
  g_test_add_func("/engine/json/lines", test_lines);
  g_test_add_func("/engine/json/strings", test_strings);
  g_test_add_func("/engine/json/numbers", test_numbers);
  return g_test_run();
}
