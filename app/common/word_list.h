/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The words that an option can have: a list that ends with NULL. Pure. */
#pragma once

#include "engine/base/status.h"

/* td_word_list_dup_text returns "off, nan or nonfinite". Free it. */
char *td_word_list_dup_text(const char *const *words);

/* td_word_list_check returns TD_OK if a value is one of the words. Else TD_INVALID: which option
 * must be which. */
td_status td_word_list_check(const char *option, const char *value, const char *const *words,
                             td_error *error);
