/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A made-up language has the fields of each sentence in the opposite order, and nothing else. */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/why.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#define FIELDS_MAX 8
#define EVENT "{thread} created {node} with sequence_nr {sequence_nr}"

static const struct {
  const char *one, *many;
} sentences[] = {
#define TD_SENTENCE(name, text) {text, NULL},
#define TD_SENTENCE_OF(name, one, many) {one, many},
#include "engine/profile/sentence.def"
#undef TD_SENTENCE
#undef TD_SENTENCE_OF
};

/* The names of a text's fields, in its order, NULL after the last. */
static char **
fields_of(const char *text) {
  g_auto(GStrv) pieces = g_strsplit(text, "{", -1);
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 1; pieces[0] && pieces[i]; i++) {
    char *end = strchr(pieces[i], '}');
    g_assert_nonnull(end);
    *end = '\0';
    g_strv_builder_add(names, pieces[i]);
  }
  return g_strv_builder_end(names);
}

/* "<{b}{a}>" of "{a} and {b}" */
static char *
dup_reversed(const char *text) {
  g_auto(GStrv) names = fields_of(text);
  GString *reversed = g_string_new("<");
  for (guint n = g_strv_length(names); n > 0; n--)
    g_string_append_printf(reversed, "{%s}", names[n - 1]);
  return g_string_free(g_string_append_c(reversed, '>'), FALSE);
}

static void
add_entry(GString *po, const char *one, const char *many) {
  g_autofree char *msgid = g_strescape(one, "“”"), *msgstr = dup_reversed(many ? many : one);
  g_autofree char *plural = many ? g_strescape(many, NULL) : NULL;
  if (many)
    g_string_append_printf(po, "msgid \"%s\"\nmsgid_plural \"%s\"\nmsgstr[0] \"%s\"\n\n", msgid,
                           plural, msgstr);
  else
    g_string_append_printf(po, "msgid \"%s\"\nmsgstr \"%s\"\n\n", msgid, msgstr);
}

static char *
dup_catalogue(void) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  GString *po = g_string_new("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n"
                             "Plural-Forms: nplurals=1; plural=0;\\n\"\n\n");
  for (size_t i = 0; i < G_N_ELEMENTS(sentences); i++)
    if (g_hash_table_add(seen, (gpointer)sentences[i].one))
      add_entry(po, sentences[i].one, sentences[i].many);
  add_entry(po, EVENT, NULL);
  return g_string_free(po, FALSE);
}

static gboolean
make_language(const char *folder) {
  g_autofree char *home = g_build_filename(folder, "xx", "LC_MESSAGES", NULL);
  g_autofree char *po = g_build_filename(folder, "xx.po", NULL);
  g_autofree char *mo = g_build_filename(home, TD_TEXT_DOMAIN ".mo", NULL);
  g_autofree char *text = dup_catalogue();
  const char *const command[] = {"msgfmt", "-o", mo, po, NULL};
  int status;
  g_assert_no_errno(g_mkdir_with_parents(home, 0700));
  g_assert_true(g_file_set_contents(po, text, -1, NULL));
  if (!g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                    &status, NULL))
    return FALSE;
  g_assert_cmpint(status, ==, 0);
  g_setenv("LC_ALL", "C.UTF-8", TRUE); /* in the locale C, gettext translates nothing */
  g_setenv("LANGUAGE", "xx", TRUE);
  setlocale(LC_ALL, "");
  bindtextdomain(TD_TEXT_DOMAIN, folder);
  bind_textdomain_codeset(TD_TEXT_DOMAIN, "UTF-8");
  return TRUE;
}

/* Each field is filled with its name, and {n} with 2. */
static void
check_sentence(td_sentence sentence) {
  const char *text = sentences[sentence].many ? sentences[sentence].many : sentences[sentence].one;
  g_auto(GStrv) names = fields_of(text);
  td_blank blanks[FIELDS_MAX + 1] = {{0}};
  GString *expected = g_string_new("<");
  guint n = g_strv_length(names);
  g_assert_cmpint(n, <=, FIELDS_MAX);
  for (guint i = 0; i < n; i++) {
    bool is_count = strcmp(names[i], "n") == 0;
    blanks[i] = is_count ? td_with_number(names[i], 2) : td_with_text(names[i], names[i]);
    g_string_append(expected, strcmp(names[n - 1 - i], "n") == 0 ? "2" : names[n - 1 - i]);
  }
  g_string_append_c(expected, '>');
  g_autofree char *made = td_sentence_make(NULL, sentence, blanks);
  g_assert_cmpstr(made, ==, expected->str);
  g_string_free(expected, TRUE);
}

/* A field that a translation has and its sentence does not shows its name. */
static void
check_unknown_fields(td_sentence sentence) {
  g_autofree char *shown =
      dup_reversed(sentences[sentence].many ? sentences[sentence].many : sentences[sentence].one);
  g_autofree char *made = td_sentence_make(NULL, sentence, (td_blank[]){{0}});
  g_assert_cmpstr(made, ==, shown);
}

static void
check_event(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "one.tape", NULL);
  td_tape_script script = {0};
  td_replay *replay = NULL;
  td_any_event event;
  uint64_t seq = 0;
  TELL(&script, node_new, .node = 7, .sequence_nr = 5, .device = TD_DEVICE_CPU);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, NULL), ==, TD_OK);
  while (td_replay_event(replay, seq, &event, NULL) == TD_OK &&
         event.event.kind != TD_EVENT_node_new)
    seq++;
  g_autofree char *text =
      td_why_describe(td_replay_catalog(replay), td_replay_tape(replay), &event);
  g_assert_true(g_str_has_prefix(text, "<5node #7"));
  td_replay_close(replay);
  td_tape_script_fini(&script);
  g_unlink(path);
}

static void
test_fields_in_another_order(void) {
  g_autofree char *folder = g_dir_make_tmp("tapedeck-sentence-XXXXXX", NULL);
  if (!make_language(folder)) {
    g_test_skip("msgfmt is not there");
    return;
  }
  for (td_sentence sentence = 0; sentence < TD_N_SENTENCES; sentence++) {
    check_sentence(sentence);
    check_unknown_fields(sentence);
  }
  check_event(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/sentence/fields-in-another-order", test_fields_in_another_order);
  return g_test_run();
}
