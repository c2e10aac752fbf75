/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Packing: an *unpacked* tape becomes a tape. A fuzzer that changes bytes of a real tape breaks a
 * checksum or a compressed frame, and the reader refuses the tape at once. So fuzzers change an
 * unpacked tape instead. Every byte string is one, and `td_pack` adds checksums and compression.
 *
 *   flags (1), then sections, each: "CHNK" · kind (1) · lies (1) · thread (2) · ticks (4) ·
 * contents
 *
 * Contents reach to the next "CHNK". td_pack counts their events and adds up their times. `ticks`
 * passed since the thread's last event; a gap leads over so many bytes. In a chunk of a keyframe,
 * `ticks` is the number of its events, and `thread` its segment; 65535 is the outline. Bits of
 * `lies` make td_pack write what is not so. Without a schema section, the tape gets the schema of
 * this build. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* flags: no index and trailer; policy `drop`; the trailer of a recording that was not ended */
enum { TD_PACK_CUT = 1, TD_PACK_DROPS = 2, TD_PACK_LATE = 4 };

enum {
  TD_LIE_COUNT = 1,    /* one event more than there is */
  TD_LIE_LAST = 2,     /* the last event is one tick later */
  TD_LIE_NUMBER = 4,   /* the chunk follows 1000 lost events */
  TD_LIE_CHECKSUM = 8, /* the header's checksum does not hold */
  TD_FAR_THREAD = 16,  /* no lie: both bytes of `thread` count, not the first alone */
  TD_LIE_TIME = 32,    /* `ticks` counts from the tape's start */
  TD_LIE_CONTENT = 64, /* a byte of the compressed content is another */
  TD_LIE_THREAD = 128, /* the thread's number is 256 times as great */
};

typedef struct td_bytes {
  unsigned char *at; /* (owned) */
  size_t n, capacity;
} td_bytes;

void td_bytes_add(td_bytes *bytes, const void *from, size_t n);
void td_bytes_fini(td_bytes *bytes);

/* td_pack appends the tape that the unpacked bytes describe. Bytes that begin as a tape does are
 * one already, and stay as they are. */
void td_pack(const unsigned char *unpacked, size_t n, td_bytes *tape);

/* td_unpack appends the unpacked form of a tape. False if the bytes are not a whole tape. */
bool td_unpack(const unsigned char *tape, size_t n, td_bytes *unpacked);
