/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/language.h"

#include "app/common/paths.h"
#include "engine/base/translate.h"

#include <locale.h>

void
td_language_begin(void) {
  setlocale(LC_MESSAGES, "");
  bindtextdomain(TD_TEXT_DOMAIN, td_path_translations());
  bind_textdomain_codeset(TD_TEXT_DOMAIN, "UTF-8");
  textdomain(TD_TEXT_DOMAIN);
}
