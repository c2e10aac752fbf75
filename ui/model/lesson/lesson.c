/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson.h"

#include <string.h>

#define HEAD "Lesson"
#define STEP "Step "
#define SUFFIX ".lesson"

typedef enum key_kind { PLAIN, TEXT, WANTED_TEXT } key_kind;

typedef struct key {
  const char *name;
  key_kind kind;
} key;

static const key head_keys[] = {
    {"number", PLAIN}, {"title", WANTED_TEXT}, {"about", WANTED_TEXT}, {"run", PLAIN}, {NULL, 0}};
static const key step_keys[] = {
    {"text", WANTED_TEXT}, {"hint", TEXT},    {"at", PLAIN}, {"ask", PLAIN},
    {"show", PLAIN},       {"claims", PLAIN}, {NULL, 0}};

static void
step_free(gpointer data) {
  td_lesson_step *step = data;
  g_free(step->name);
  g_free(step->text);
  g_free(step->at);
  g_free(step->ask);
  g_free(step->hint);
  g_strfreev(step->show);
  g_strfreev(step->claims);
  g_free(step);
}

void
td_lesson_free(td_lesson *lesson) {
  if (!lesson) return;
  g_free(lesson->name);
  g_free(lesson->title);
  g_free(lesson->about);
  g_free(lesson->path);
  g_free(lesson->script);
  g_strfreev(lesson->run);
  g_ptr_array_unref(lesson->steps);
  g_free(lesson);
}

/* ---- what a file may have ---- */

/* Of a group; NULL: a lesson has no such group. */
static const key *
keys_of(const char *group) {
  if (strcmp(group, HEAD) == 0) return head_keys;
  return g_str_has_prefix(group, STEP) && group[strlen(STEP)] ? step_keys : NULL;
}

/* `name` may be a translation: text[zh_CN]. */
static gboolean
is_known(const key *keys, const char *name) {
  gsize length = strcspn(name, "[");
  for (; keys->name; keys++)
    if (strlen(keys->name) == length && strncmp(keys->name, name, length) == 0)
      return keys->kind != PLAIN || name[length] == '\0';
  return FALSE;
}

/* GKeyFile has no value for what is not UTF-8. */
static gboolean
check_keys(GKeyFile *file, const char *group, const key *keys, GError **error) {
  g_auto(GStrv) names = g_key_file_get_keys(file, group, NULL, NULL);
  for (guint i = 0; names && names[i]; i++) {
    g_autofree char *value = g_key_file_get_value(file, group, names[i], NULL);
    gboolean knows = is_known(keys, names[i]);
    if (knows && g_utf8_validate(value, -1, NULL)) continue;
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                knows ? "[%s]: '%s' is not UTF-8" : "[%s]: no key '%s' is known", group, names[i]);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_group(GKeyFile *file, const char *group, GError **error) {
  const key *keys = keys_of(group);
  if (!keys) {
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                "[%s]: must be [" HEAD "] or [" STEP "NAME]", group);
    return FALSE;
  }
  if (!check_keys(file, group, keys, error)) return FALSE;
  for (; keys->name; keys++) {
    if (keys->kind != WANTED_TEXT || g_key_file_has_key(file, group, keys->name, NULL)) continue;
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND, "[%s]: needs '%s'", group,
                keys->name);
    return FALSE;
  }
  return TRUE;
}

static GKeyFile *
read_file(const char *path, GError **error) {
  g_autoptr(GKeyFile) file = g_key_file_new();
  if (!g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_TRANSLATIONS, error)) return NULL;
  g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
  if (!groups[0] || strcmp(groups[0], HEAD) != 0 || !groups[1]) {
    g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                "a lesson begins with [" HEAD "], and has a [" STEP "NAME]");
    return NULL;
  }
  for (guint i = 0; groups[i]; i++)
    if (!check_group(file, groups[i], error)) return NULL;
  g_autoptr(GError) no_number = NULL;
  g_key_file_get_integer(file, HEAD, "number", &no_number);
  if (no_number) {
    g_propagate_error(error, g_steal_pointer(&no_number));
    return NULL;
  }
  return g_steal_pointer(&file);
}

/* ---- reading ---- */

static char *
read_text(GKeyFile *file, const char *group, const char *name, const char *language) {
  return language ? g_key_file_get_locale_string(file, group, name, language, NULL)
                  : g_key_file_get_string(file, group, name, NULL);
}

/* Without blanks around the items. */
static char **
read_list(GKeyFile *file, const char *group, const char *name) {
  char **items = g_key_file_get_string_list(file, group, name, NULL, NULL);
  for (guint i = 0; items && items[i]; i++)
    g_strstrip(items[i]);
  return items ? items : g_new0(char *, 1);
}

static td_lesson_step *
read_step(GKeyFile *file, const char *group, const char *language) {
  td_lesson_step *step = g_new0(td_lesson_step, 1);
  step->name = g_strdup(group + strlen(STEP));
  step->text = read_text(file, group, "text", language);
  step->hint = read_text(file, group, "hint", language);
  step->at = g_key_file_get_string(file, group, "at", NULL);
  step->ask = g_key_file_get_string(file, group, "ask", NULL);
  step->show = read_list(file, group, "show");
  step->claims = read_list(file, group, "claims");
  return step;
}

td_lesson *
td_lesson_load(const char *path, const char *language, GError **error) {
  g_autoptr(GKeyFile) file = read_file(path, error);
  if (!file) return NULL;
  g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(path);
  g_autofree char *script = NULL;
  td_lesson *lesson = g_new0(td_lesson, 1);
  lesson->name = g_str_has_suffix(base, SUFFIX) ? g_strndup(base, strlen(base) - strlen(SUFFIX))
                                                : g_strdup(base);
  lesson->path = g_strdup(path);
  script = g_strconcat(lesson->name, ".py", NULL);
  lesson->script = g_build_filename(folder, script, NULL);
  lesson->title = read_text(file, HEAD, "title", language);
  lesson->about = read_text(file, HEAD, "about", language);
  lesson->run = read_list(file, HEAD, "run");
  lesson->number = g_key_file_get_integer(file, HEAD, "number", NULL);
  lesson->steps = g_ptr_array_new_with_free_func(step_free);
  g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
  for (guint i = 1; groups[i]; i++)
    g_ptr_array_add(lesson->steps, read_step(file, groups[i], language));
  return lesson;
}

guint
td_lesson_count_questions(const td_lesson *lesson) {
  guint n = 0;
  for (guint i = 0; i < lesson->steps->len; i++)
    n += ((td_lesson_step *)lesson->steps->pdata[i])->ask != NULL;
  return n;
}

static char *
find_in_group(GKeyFile *file, const char *group, const char *language) {
  for (const key *key = keys_of(group); key && key->name; key++) {
    g_autofree char *translated = g_strdup_printf("%s[%s]", key->name, language);
    if (key->kind != PLAIN && g_key_file_has_key(file, group, key->name, NULL) &&
        !g_key_file_has_key(file, group, translated, NULL))
      return g_strdup_printf("[%s] %s", group, key->name);
  }
  return NULL;
}

char *
td_lesson_find_untranslated(const char *path, const char *language) {
  g_autoptr(GKeyFile) file = read_file(path, NULL);
  g_auto(GStrv) groups = file ? g_key_file_get_groups(file, NULL) : NULL;
  char *found = NULL;
  for (guint i = 0; groups && groups[i] && !found; i++)
    found = find_in_group(file, groups[i], language);
  return found;
}
