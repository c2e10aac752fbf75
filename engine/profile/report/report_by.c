/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/report_by.h"

static const struct {
  const char *name, *heading;
} bys[TD_N_REPORT_BYS] = {
#define X(name, heading) {#name, heading},
    TD_REPORT_BYS(X)
#undef X
};

const char *
td_report_by_name(td_report_by by) {
  return bys[by].name;
}

const char *
td_report_by_heading(td_report_by by) {
  return bys[by].heading;
}
