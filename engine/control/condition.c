/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/condition.h"

#include "engine/base/alloc.h"
#include "engine/base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum argument {
  ARGUMENT_none,
  ARGUMENT_number,
  ARGUMENT_pattern,
  ARGUMENT_amount,
  ARGUMENT_time,
  ARGUMENT_maybe_number,
  ARGUMENT_maybe_pattern,
} argument;

typedef enum test {
  TEST_any,
  TEST_number,
  TEST_name,
  TEST_module,
  TEST_label,
  TEST_amount,
  TEST_others,
  TEST_trouble,
} test;

static const struct {
  td_condition_words words;
  argument argument;
  test test;
  unsigned event; /* or troubles */
  bool live;
} rows[] = {
#define TD_CONDITION(name, word, argument, test, event, live, help)                                \
  {{word, help, ARGUMENT_##argument != ARGUMENT_none},                                             \
   ARGUMENT_##argument,                                                                            \
   TEST_##test,                                                                                    \
   event,                                                                                          \
   live},
#include "engine/control/condition.def"
#undef TD_CONDITION
};

static bool
read_number(const char *digits, uint32_t *number) {
  size_t length = strlen(digits);
  if (length == 0 || length > 10 || strspn(digits, "0123456789") != length) return false;
  unsigned long long value = strtoull(digits, NULL, 10);
  *number = (uint32_t)value;
  return value < TD_NONE;
}

static bool
read_amount(const char *digits, double *amount, const char **rest) {
  char *end;
  if (!strchr("0123456789.", *digits) || !*digits || strpbrk(digits, "xX")) return false;
  *amount = strtod(digits, &end);
  *rest = end;
  return end != digits && isfinite(*amount);
}

static bool
read_time(const char *text, double *ns) {
  static const struct {
    const char *unit;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const char *unit;
  if (!read_amount(text, ns, &unit)) return false;
  for (size_t i = 0; i < TD_N_ELEMENTS(units); i++) {
    if (strcmp(unit, units[i].unit) != 0) continue;
    *ns *= units[i].ns;
    return true;
  }
  return false;
}

static bool
read_argument(td_condition *made, argument kind) {
  const char *rest = "", *text = made->argument;
  bool may_lack = kind == ARGUMENT_none || kind >= ARGUMENT_maybe_number;
  if (!text) return may_lack;
  switch (kind) {
  case ARGUMENT_number:
  case ARGUMENT_maybe_number:
    return read_number(text, &made->number);
  case ARGUMENT_pattern:
  case ARGUMENT_maybe_pattern:
    return *text != '\0';
  case ARGUMENT_amount:
    return read_amount(text, &made->amount, &rest) && *rest == '\0';
  case ARGUMENT_time:
    return read_time(text, &made->amount);
  default:
    return false;
  }
}

/* Which kind the word of `text` names, or TD_N_CONDITIONS. */
static td_condition_kind
find_kind(const char *text) {
  size_t length = strcspn(text, ":");
  td_condition_kind kind = 0;
  while (kind < TD_N_CONDITIONS && (strlen(rows[kind].words.word) != length ||
                                    strncmp(rows[kind].words.word, text, length) != 0))
    kind++;
  return kind;
}

static const char *const forms[] = {
    [ARGUMENT_none] = "%s",
    [ARGUMENT_number] = "%s:NUMBER",
    [ARGUMENT_pattern] = "%s:NAME",
    [ARGUMENT_amount] = "%s:AMOUNT",
    [ARGUMENT_time] = "%s:TIME",
    [ARGUMENT_maybe_number] = "%s:NUMBER",
    [ARGUMENT_maybe_pattern] = "%s:NAME",
};

/* Names what may be written instead. */
static td_status
refuse_word(const char *text, bool live_only, td_error *error) {
  char words[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < TD_N_CONDITIONS; i++) {
    if (live_only && !rows[i].live) continue;
    used += (size_t)snprintf(words + used, sizeof words - used, used ? ", " : "");
    used += (size_t)snprintf(words + used, sizeof words - used, forms[rows[i].argument],
                             rows[i].words.word);
    assert(used < sizeof words);
  }
  return td_error_set(error, TD_INVALID, "'%s': must be %s", text, words);
}

static td_status
refuse_argument(const char *text, td_condition_kind kind, td_error *error) {
  static const char *const wanted[] = {
      [ARGUMENT_none] = "%s",
      [ARGUMENT_number] = "%s:NUMBER",
      [ARGUMENT_pattern] = "%s:NAME",
      [ARGUMENT_amount] = "%s:AMOUNT, as in %s:100",
      [ARGUMENT_time] = "%s:TIME, as in %s:2ms",
      [ARGUMENT_maybe_number] = "%s or %s:NUMBER",
      [ARGUMENT_maybe_pattern] = "%s or %s:NAME",
  };
  const char *word = rows[kind].words.word;
  char right[64];
  snprintf(right, sizeof right, wanted[rows[kind].argument], word, word);
  return td_error_set(error, TD_INVALID, "'%s': must be %s", text, right);
}

static td_status
parse(const char *text, bool live_only, td_condition *condition, td_error *error) {
  td_condition made = {.kind = find_kind(text), .number = TD_NONE};
  if (made.kind == TD_N_CONDITIONS) return refuse_word(text, live_only, error);
  if (live_only && !rows[made.kind].live)
    return td_error_set(error, TD_INVALID, "'%s': only a tape knows it, not a running program",
                        text);
  made.text = td_dup_string(text);
  const char *colon = strchr(made.text, ':');
  made.argument = colon ? colon + 1 : NULL;
  if (!read_argument(&made, rows[made.kind].argument)) {
    td_condition_fini(&made);
    return refuse_argument(text, made.kind, error);
  }
  *condition = made;
  return TD_OK;
}

td_status
td_condition_parse(const char *text, td_condition *condition, td_error *error) {
  return parse(text, false, condition, error);
}

td_status
td_condition_parse_live(const char *text, td_condition *condition, td_error *error) {
  return parse(text, true, condition, error);
}

void
td_condition_fini(td_condition *condition) {
  free(condition->text);
  condition->text = NULL;
}

bool
td_condition_is_live(const td_condition *condition) {
  return rows[condition->kind].live;
}

const td_condition_words *
td_condition_words_of(td_condition_kind kind) {
  return &rows[kind].words;
}

/* A byte that is no UTF-8 counts as a character. */
static size_t
character_length(const char *text) {
  int length = td_utf8_length((const unsigned char *)text);
  return length > 0 ? (size_t)length : 1;
}

/* After a star that was tried too short, the text goes on one character later. */
static bool
matches(const char *pattern, const char *text) {
  const char *star = NULL, *retry = NULL;
  if (!text) return false;
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      retry = text;
    } else if (*pattern == '?') {
      pattern++;
      text += character_length(text);
    } else if (*pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star + 1;
      text = retry += character_length(retry);
    } else {
      return false;
    }
  }
  return pattern[strspn(pattern, "*")] == '\0';
}

static bool
matches_argument(const td_condition *condition, const char *text) {
  return !condition->argument || matches(condition->argument, text);
}

bool
td_condition_holds(const td_condition *condition, const td_condition_moment *moment) {
  test test = rows[condition->kind].test;
  if (test == TEST_trouble) return (rows[condition->kind].event & moment->troubles) != 0;
  if (rows[condition->kind].event != moment->event) return false;
  switch (test) {
  case TEST_number:
    return !condition->argument || condition->number == moment->number;
  case TEST_name:
    return matches_argument(condition, moment->name);
  case TEST_module:
    return matches_argument(condition, moment->module);
  case TEST_label:
    return matches_argument(condition, moment->label);
  case TEST_others:
    return moment->has_others;
  case TEST_amount:
    return moment->amount > condition->amount && !(moment->before > condition->amount);
  default:
    return true;
  }
}

unsigned
td_condition_troubles(const td_condition *condition) {
  return rows[condition->kind].test == TEST_trouble ? rows[condition->kind].event : 0;
}

td_event_kind
td_condition_event(const td_condition *condition) {
  unsigned troubles = td_condition_troubles(condition);
  if (troubles) return troubles == TD_TROUBLE_ERROR ? TD_EVENT_error : TD_EVENT_anomaly;
  return rows[condition->kind].event;
}
