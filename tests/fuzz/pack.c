/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/fuzz/pack.h"

#include "engine/base/alloc.h"
#include "engine/trace/encoder.h"
#include "engine/trace/segment.h"

#include <zstd.h>

#define MARK "CHNK"
#define MARK_BYTES 4
#define SECTION_BYTES 12 /* the mark and what stands before the contents */
#define N_THREADS 256    /* that td_pack keeps apart */
#define N_KINDS 256      /* that it can count */
#define OUTLINE 0xffffu  /* stands for TD_SEGMENT_OUTLINE, which needs four bytes */

typedef struct section {
  unsigned kind, lies;
  uint32_t thread;
  uint64_t ticks;
  const unsigned char *at;
  size_t n;
} section;

typedef struct kind {
  bool on_tape;
  unsigned n_fields;
  unsigned char wires[TD_FIELDS_MAX];
} kind;

typedef struct packer {
  td_bytes *tape;
  size_t start; /* of the tape in it */
  kind kinds[N_KINDS];
  uint64_t last_ticks[N_THREADS], n_events[N_THREADS];
  uint64_t offsets[TD_CHUNK_RAW_MAX / 8];
  size_t n_chunks;
} packer;

void
td_bytes_add(td_bytes *bytes, const void *from, size_t n) {
  if (bytes->n + n > bytes->capacity) {
    bytes->capacity = 2 * (bytes->n + n);
    bytes->at = td_realloc(bytes->at, bytes->capacity, 1);
  }
  if (n) memcpy(bytes->at + bytes->n, from, n);
  bytes->n += n;
}

void
td_bytes_fini(td_bytes *bytes) {
  free(bytes->at);
  *bytes = (td_bytes){0};
}

static const unsigned char *
skip_text(const unsigned char *at, const unsigned char *end) {
  uint64_t length;
  at = td_varint_get(at, end, &length);
  return at && length <= (size_t)(end - at) ? at + length : NULL;
}

/* Remembers how the events of this schema are written, as far as it makes sense. */
static void
learn_schema(packer *packer, const unsigned char *at, size_t n) {
  const unsigned char *end = at + n;
  uint64_t number, n_fields, wire;
  memset(packer->kinds, 0, sizeof packer->kinds);
  while (at < end) {
    kind kind = {.on_tape = true};
    if (!(at = td_varint_get(at, end, &number)) || number >= N_KINDS) return;
    if (!(at = skip_text(at, end)) || !(at = td_varint_get(at, end, &n_fields))) return;
    if (n_fields > TD_FIELDS_MAX) return;
    kind.n_fields = (unsigned)n_fields;
    for (unsigned i = 0; i < kind.n_fields; i++) {
      if (!(at = td_varint_get(at, end, &wire)) || !(at = skip_text(at, end))) return;
      kind.wires[i] = (unsigned char)wire;
    }
    packer->kinds[number] = kind;
  }
}

/* Counts whole events and adds up their times; returns the end of the last. */
static const unsigned char *
count_events(const packer *packer, const section *section, td_chunk_header *header) {
  const unsigned char *whole = section->at, *at = whole, *end = at + section->n;
  uint64_t number, delta, value;
  while (at < end) {
    if (!(at = td_varint_get(at, end, &number)) || number >= N_KINDS) break;
    const kind *kind = &packer->kinds[number];
    if (!kind->on_tape || !(at = td_varint_get(at, end, &delta))) break;
    for (unsigned i = 0; at && i < kind->n_fields; i++)
      at = kind->wires[i] == TD_WIRE_TEXT ? skip_text(at, end) : td_varint_get(at, end, &value);
    if (!at) break;
    whole = at;
    header->n_events++;
    header->last_ticks += delta;
  }
  return whole;
}

static void
write_chunk(packer *packer, td_chunk_header header, const void *raw, size_t n, unsigned lies) {
  static ZSTD_CCtx *zstd;
  static unsigned char stored[ZSTD_COMPRESSBOUND(TD_CHUNK_RAW_MAX)];
  if (!zstd) {
    zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, -5);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
  }
  header.magic = TD_CHUNK_MAGIC;
  header.raw_bytes = (uint32_t)n;
  header.stored_bytes = (uint32_t)ZSTD_compress2(zstd, stored, sizeof stored, raw, n);
  header.clock_ticks = header.clock_monotonic_ns = header.last_ticks + 1;
  header.checksum = td_format_checksum(&header, offsetof(td_chunk_header, checksum));
  if (lies & TD_LIE_CHECKSUM) header.checksum++;
  if (lies & TD_LIE_CONTENT) stored[header.stored_bytes / 2] ^= 1;
  if (packer->n_chunks < TD_N_ELEMENTS(packer->offsets))
    packer->offsets[packer->n_chunks++] = packer->tape->n - packer->start;
  td_bytes_add(packer->tape, &header, sizeof header);
  td_bytes_add(packer->tape, stored, header.stored_bytes);
}

static void
write_events(packer *packer, const section *section) {
  uint64_t *last_ticks = &packer->last_ticks[section->thread % N_THREADS];
  uint64_t *n_events = &packer->n_events[section->thread % N_THREADS];
  unsigned lies = section->lies;
  td_chunk_header header = {.kind = section->kind, .thread = section->thread};
  header.first_ticks = (lies & TD_LIE_TIME ? 0 : *last_ticks) + section->ticks;
  header.last_ticks = header.first_ticks;
  header.first_number = *n_events + (lies & TD_LIE_NUMBER ? 1000 : 0);
  const unsigned char *end = count_events(packer, section, &header);
  *last_ticks = header.last_ticks;
  *n_events = header.first_number + header.n_events;
  header.n_events += lies & TD_LIE_COUNT ? 1 : 0;
  header.last_ticks += lies & TD_LIE_LAST ? 1 : 0;
  header.thread *= lies & TD_LIE_THREAD ? 256 : 1;
  write_chunk(packer, header, section->at, (size_t)(end - section->at), lies);
}

static void
write_own_schema(packer *packer) {
  td_encoder encoder;
  td_encoder_init(&encoder);
  td_encoder_schema(&encoder);
  learn_schema(packer, encoder.bytes, encoder.n_bytes);
  write_chunk(packer, (td_chunk_header){.kind = TD_CHUNK_SCHEMA}, encoder.bytes, encoder.n_bytes,
              0);
  td_encoder_fini(&encoder);
}

/* The gap leads over `ticks` bytes of what follows. */
static void
write_gap(packer *packer, const section *section) {
  uint64_t behind = packer->tape->n - packer->start + sizeof(td_chunk_header);
  td_gap gap = {.next = section->lies & TD_LIE_NUMBER ? section->ticks : behind + section->ticks};
  if (section->lies & TD_LIE_TIME) gap.start_ticks = gap.start_monotonic_ns = section->thread;
  td_chunk_header header;
  td_gap_init(&header, &gap);
  td_bytes_add(packer->tape, &header, sizeof header);
}

static void
write_keyframe(packer *packer, const section *section) {
  uint32_t segment = section->thread == OUTLINE ? TD_SEGMENT_OUTLINE : section->thread;
  td_chunk_header header = {.kind = section->kind, .thread = segment};
  const unsigned char *at = section->at, *end = at + section->n;
  uint64_t value;
  for (uint64_t i = 0; i < 2 * section->ticks && at; i++)
    at = td_varint_get(at, end, &value);
  struct section events = *section;
  events.at = at ? at : end;
  events.n = (size_t)(end - events.at);
  count_events(packer, &events, &header);
  header.n_events = (uint32_t)section->ticks + (section->lies & TD_LIE_COUNT ? 1 : 0);
  header.last_ticks += section->lies & TD_LIE_LAST ? 1 : 0;
  write_chunk(packer, header, section->at, section->n, section->lies);
}

static void
write_section(packer *packer, const section *section) {
  if (packer->n_chunks == 0 && section->kind != TD_CHUNK_SCHEMA) write_own_schema(packer);
  if (section->kind == TD_CHUNK_EVENTS) {
    write_events(packer, section);
    return;
  }
  if (section->kind == TD_CHUNK_GAP) {
    write_gap(packer, section);
    return;
  }
  if (section->kind == TD_CHUNK_KEYFRAME) {
    write_keyframe(packer, section);
    return;
  }
  if (section->kind == TD_CHUNK_SCHEMA) learn_schema(packer, section->at, section->n);
  write_chunk(packer, (td_chunk_header){.kind = section->kind, .thread = section->thread},
              section->at, section->n, section->lies);
}

/* Sets *section to the next one at or after `at`; NULL at the end. Returns where to go on. */
static const unsigned char *
next_section(const unsigned char *at, const unsigned char *end, section *section) {
  at = memmem(at, (size_t)(end - at), MARK, MARK_BYTES);
  if (!at || end - at < SECTION_BYTES) return NULL;
  const unsigned char *contents = at + SECTION_BYTES;
  const unsigned char *next = memmem(contents, (size_t)(end - contents), MARK, MARK_BYTES);
  if (!next) next = end;
  *section = (struct section){.kind = at[4], .lies = at[5], .at = contents};
  memcpy(&section->thread, at + 6, section->lies & TD_FAR_THREAD ? 2 : 1);
  memcpy(&section->ticks, at + 8, 4);
  section->n = TD_MIN((size_t)(next - contents), (size_t)TD_CHUNK_RAW_MAX);
  return next;
}

static void
write_end(packer *packer, bool is_late) {
  td_trailer trailer = {.index_offset = packer->tape->n - packer->start, .magic = TD_TRAILER_MAGIC};
  if (is_late) memcpy(trailer.magic, TD_TRAILER_MAGIC_CUT_OFF, sizeof trailer.magic);
  write_chunk(packer, (td_chunk_header){.kind = TD_CHUNK_INDEX}, packer->offsets,
              packer->n_chunks * sizeof *packer->offsets, 0);
  td_bytes_add(packer->tape, &trailer, sizeof trailer);
}

void
td_pack(const unsigned char *unpacked, size_t n, td_bytes *tape) {
  const size_t magic = sizeof TD_TAPE_MAGIC - 1;
  if (n >= magic && memcmp(unpacked, TD_TAPE_MAGIC, magic) == 0) {
    td_bytes_add(tape, unpacked, n);
    return;
  }
  unsigned flags = n ? unpacked[0] : 0;
  packer *packer = TD_NEW(struct packer);
  packer->tape = tape;
  packer->start = tape->n;
  td_tape_header header = {.version = TD_TAPE_VERSION, .header_bytes = sizeof header};
  memcpy(header.magic, TD_TAPE_MAGIC, sizeof header.magic);
  header.policy = flags & TD_PACK_DROPS ? 1 : 0;
  header.checksum = td_format_checksum(&header, offsetof(td_tape_header, checksum));
  td_bytes_add(tape, &header, sizeof header);
  section section;
  const unsigned char *at = unpacked, *end = unpacked + n;
  while (at && (at = next_section(at, end, &section)))
    write_section(packer, &section);
  if (packer->n_chunks == 0) write_own_schema(packer);
  if (!(flags & TD_PACK_CUT)) write_end(packer, flags & TD_PACK_LATE);
  free(packer);
}

static bool
is_own_schema(const unsigned char *raw, size_t n) {
  td_encoder encoder;
  td_encoder_init(&encoder);
  td_encoder_schema(&encoder);
  bool same = encoder.n_bytes == n && memcmp(encoder.bytes, raw, n) == 0;
  td_encoder_fini(&encoder);
  return same;
}

static void
add_section(const td_chunk_header *header, uint64_t ticks, const unsigned char *raw,
            td_bytes *unpacked) {
  uint32_t thread = header->thread == TD_SEGMENT_OUTLINE ? OUTLINE : header->thread;
  unsigned char head[SECTION_BYTES] = {
      'C', 'H', 'N', 'K', (unsigned char)header->kind, thread > 0xff ? TD_FAR_THREAD : 0};
  memcpy(head + 6, &thread, 2);
  memcpy(head + 8, &(uint32_t){(uint32_t)TD_MIN(ticks, (uint64_t)UINT32_MAX)}, 4);
  td_bytes_add(unpacked, head, sizeof head);
  td_bytes_add(unpacked, raw, header->raw_bytes);
}

/* What the head of a section has in the place of `ticks`. */
static uint64_t
ticks_of(const td_chunk_header *header, uint64_t last_ticks) {
  if (header->kind == TD_CHUNK_EVENTS) return header->first_ticks - last_ticks;
  return header->kind == TD_CHUNK_KEYFRAME ? header->n_events : 0;
}

bool
td_unpack(const unsigned char *tape, size_t n, td_bytes *unpacked) {
  uint64_t last_ticks[N_THREADS] = {0};
  static unsigned char raw[TD_CHUNK_RAW_MAX];
  td_chunk_header header;
  td_tape_header first;
  if (n < sizeof first) return false;
  memcpy(&first, tape, sizeof first);
  td_bytes_add(unpacked, &(unsigned char){first.policy ? TD_PACK_DROPS : 0}, 1);
  for (size_t at = sizeof first; at + sizeof header <= n;
       at += sizeof header + header.stored_bytes) {
    memcpy(&header, tape + at, sizeof header);
    if (header.magic != TD_CHUNK_MAGIC || header.stored_bytes > n - at - sizeof header)
      return false;
    if (header.kind == TD_CHUNK_GAP) {
      add_section(&header, 0, raw, unpacked);
      at = td_gap_of(&header).next - sizeof header;
      continue;
    }
    size_t found = ZSTD_decompress(raw, sizeof raw, tape + at + sizeof header, header.stored_bytes);
    if (ZSTD_isError(found) || found != header.raw_bytes) return false;
    uint64_t *last = &last_ticks[header.thread % N_THREADS];
    uint64_t ticks = ticks_of(&header, *last ? *last : first.start_ticks);
    if (header.kind == TD_CHUNK_EVENTS) *last = header.last_ticks;
    bool implied = header.kind == TD_CHUNK_INDEX || header.kind == TD_CHUNK_LIST ||
                   (header.kind == TD_CHUNK_SCHEMA && is_own_schema(raw, found));
    if (!implied) add_section(&header, ticks, raw, unpacked);
  }
  return true;
}
