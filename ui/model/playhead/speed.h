/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How fast a tape plays: so many events a second, a backward pass in so many seconds, or so much
 * slower than the program was. A speed is a row of one table. Main thread. */
#pragma once

#include "ui/model/document/document.h"

typedef enum TdSpeedUnit {
  TD_SPEED_EVENTS, /* events a second */
  TD_SPEED_PASS,   /* seconds for the pass at the playhead */
  TD_SPEED_TIME    /* how many times as long as the program took; pauses take no time */
} TdSpeedUnit;

/* td_speed_count returns how many speeds there are. td_speed_find returns the speed with this unit
 * and value, or td_speed_count. td_speed_dup_text returns its name: "30/s". */
guint td_speed_count(void);
guint td_speed_find(TdSpeedUnit unit, double value);
char *td_speed_dup_text(guint speed);

/* What is carried from one moment of playing to the next. All 0: playing begins. */
typedef struct TdSpeedCarry {
  double events;     /* a part of an event */
  double place_ns;   /* on the time axis */
  uint64_t position; /* where place_ns is right */
} TdSpeedCarry;

/* td_speed_advance returns the position after so many seconds of playing from another one. It may
 * be beyond the end. */
uint64_t td_speed_advance(guint speed, TdDocument *document, uint64_t position, double seconds,
                          TdSpeedCarry *carry);
