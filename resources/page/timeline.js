// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads, devices and queues over time. What lies after the playhead is paler: it has not happened yet.

const timeline = (() => {
  const canvas = byId("timeline"), box = byId("timeline-box"), hint = byId("timeline-hint"), draw = canvas.getContext("2d");
  const AXIS = 30, ROW = 20, PAD = 7, QUEUE_HEIGHT = 40, RIGHT = 14;
  const [SPAN_NODE, SPAN_LOCK, SPAN_KERNEL, , SPAN_CALLBACK, SPAN_SYNCHRONIZE, SPAN_COLLECTIVE, SPAN_HOOK] = [0, 1, 2, 3, 4, 5, 6, 7];
  const WAITS = {[SPAN_LOCK]: "waits for a lock", [SPAN_SYNCHRONIZE]: "waits for a stream", [SPAN_COLLECTIVE]: "waits for other processes"};
  const duration = Math.max(1, events.time[nEvents]);
  const self = {from: 0, to: duration, selected: -1};
  const places = [];
  let gutter = 132, width = 0, height = 0;

  function placeLanes() {
    let y = AXIS;
    for (const lane of data.lanes) {
      const rows = lane.rows.length;
      const rowHeight = rows > 8 ? 160 / rows : ROW;
      const laneHeight = lane.kind === "queue" ? QUEUE_HEIGHT : 2 * PAD + (lane.kind === "thread" ? 8 : 0) + rows * rowHeight;
      places.push({lane, y, height: laneHeight, rowHeight, first: y + PAD + (lane.kind === "thread" ? 8 : 0)});
      y += laneHeight;
    }
    height = y + 6;
  }

  const xOf = (ns) => gutter + ((ns - self.from) / (self.to - self.from)) * (width - gutter - RIGHT);
  const nsOf = (x) => self.from + ((x - gutter) / (width - gutter - RIGHT)) * (self.to - self.from);

  function mixed(name, share) {
    return `color-mix(in srgb, ${colour(name)} ${Math.round(100 * (1 - share))}%, ${colour("card")})`;
  }

  const colours = new Map();
  function spanColour(lane, kind, node) {
    if (kind in WAITS) return colour("warning");
    if (kind >= SPAN_CALLBACK) return colour("state-captured");
    const base = kind === SPAN_KERNEL ? `device-${lane.device < 0 ? 0 : 1 + (lane.device % 7)}` : "activity-processing";
    let hash = 5381;
    for (const letter of node < 0 ? "" : data.nodes[node].name) hash = (hash * 33 + letter.charCodeAt(0)) >>> 0;
    const key = `${base} ${(hash >>> 4) % 5}`;
    if (!colours.has(key)) colours.set(key, mixed(base, ((hash >>> 4) % 5) * 0.085));
    return colours.get(key);
  }

  function spanTitle(kind, node) {
    if (kind === SPAN_CALLBACK) return "final callback";
    if (kind >= SPAN_HOOK) return `${spaced(data.hook_kinds[kind - SPAN_HOOK] || "")} hook`;
    if (kind in WAITS) return WAITS[kind];
    return node < 0 ? "a node that is not on this page" : isLeaf(node) ? nodeText(node) : data.nodes[node].title;
  }

  /* ---- drawing ---- */

  function drawSpan(place, y, begin, length, kind, node) {
    const x = xOf(begin), w = Math.max(1, xOf(begin + length) - x - (length ? 0.6 : 0)), h = place.rowHeight > 10 ? place.rowHeight - 3 : place.rowHeight * 0.85;
    const later = begin > events.time[state.position];
    draw.globalAlpha = (later ? 0.38 : 1) * (kind >= SPAN_CALLBACK || kind in WAITS ? 0.8 : 1);
    draw.fillStyle = spanColour(place.lane, kind, node);
    draw.beginPath();
    if (w >= 4 && draw.roundRect) draw.roundRect(x, y, w, h, 3);
    else draw.rect(x, y, w, h);
    draw.fill();
    if (kind >= SPAN_CALLBACK || kind in WAITS) hatch(x, y, w, h);
    draw.globalAlpha = 1;
    if (w > 24 && h > 12) drawName(spanTitle(kind, node), x, y, w, !later && kind < SPAN_CALLBACK && !(kind in WAITS));
    if (node === self.selected && node >= 0) {
      draw.strokeStyle = colour("foreground");
      draw.lineWidth = 2;
      draw.strokeRect(x - 1, y - 1, w + 2, h + 2);
    }
  }

  /* Hooks and waits differ from nodes in more than colour. */
  function hatch(x, y, w, h) {
    if (w < 4) return;
    draw.save();
    draw.beginPath();
    draw.rect(x, y, w, h);
    draw.clip();
    draw.beginPath();
    for (let at = x - h; at < x + w; at += 5) {
      draw.moveTo(at, y + h);
      draw.lineTo(at + h, y);
    }
    draw.strokeStyle = colour("card");
    draw.lineWidth = 1.2;
    draw.stroke();
    draw.restore();
  }

  function drawName(text, x, y, w, isWhite) {
    draw.font = `11px ${FONT}`;
    const room = w - 8, shown = draw.measureText(text).width <= room ? text : w > 48 ? cutText(text, 11, false, room) : "";
    draw.fillStyle = isWhite ? "#fff" : colour("foreground");
    if (shown) draw.fillText(shown, x + 5, y + 12.5);
  }

  function drawRows(place) {
    let y = place.first;
    for (const row of place.lane.rows) {
      let last = -1;
      for (let i = 0; i < row.length; i += 4) {
        const [begin, length, kind, node] = [row[i], row[i + 1], row[i + 2], row[i + 3] === null ? -1 : row[i + 3]];
        if (begin + length < self.from || begin > self.to) continue;
        const x = Math.floor(xOf(begin));
        if (x === last && xOf(begin + length) - xOf(begin) < 0.5 && node !== self.selected) continue;
        last = x;
        drawSpan(place, y, begin, length, kind, node);
      }
      y += place.rowHeight;
    }
  }

  function drawActivity(place) {
    const row = place.lane.activity, idle = ["outside", "idle", "ended"];
    for (let i = 0; i < row.length; i += 4) {
      const x = xOf(row[i]), w = xOf(row[i] + row[i + 1]) - x, name = data.activities[row[i + 2]];
      if (row[i] + row[i + 1] < self.from || row[i] > self.to) continue;
      draw.globalAlpha = row[i] > events.time[state.position] ? 0.4 : 1;
      draw.fillStyle = colour(`activity-${name}`);
      idle.includes(name) ? draw.fillRect(x, place.y + PAD + 2, Math.max(w, 0.8), 1) : draw.fillRect(x, place.y + PAD, Math.max(w, 0.8), 5);
    }
    draw.globalAlpha = 1;
  }

  function pathLength(place, upTo) {
    const {lengths} = place.lane, most = Math.max(1, ...lengths.filter((_, i) => i % 2)), base = place.y + place.height - 5, unit = (place.height - 14) / most;
    let x = xOf(0), value = 0;
    draw.beginPath();
    draw.moveTo(x, base);
    for (let i = 0; i < lengths.length && lengths[i] <= upTo; i += 2) {
      x = xOf(lengths[i]);
      draw.lineTo(x, base - value * unit);
      value = lengths[i + 1];
      draw.lineTo(x, base - value * unit);
    }
    draw.lineTo(xOf(upTo), base - value * unit);
    draw.lineTo(xOf(upTo), base);
    return most;
  }

  function drawLengths(place) {
    let most = 0;
    for (const [upTo, alpha] of [[duration, 0.4], [events.time[state.position], 1]]) {
      most = pathLength(place, upTo);
      draw.globalAlpha = 0.35 * alpha;
      draw.fillStyle = draw.strokeStyle = colour("state-queued");
      draw.fill();
      draw.globalAlpha = alpha;
      draw.lineWidth = 1.2;
      draw.stroke();
    }
    draw.globalAlpha = 1;
    place.note = `length, at most ${most}`;
  }

  /* What went wrong is red over all lanes. */
  function drawProblems() {
    draw.fillStyle = colour("error");
    for (const position of problems) {
      const x = xOf(events.time[position]);
      if (x < gutter || x > width) continue;
      draw.globalAlpha = 0.5;
      draw.fillRect(x - 0.5, AXIS - 8, 1, height - AXIS + 8);
      draw.globalAlpha = 1;
      draw.beginPath();
      draw.moveTo(x - 4, AXIS - 12);
      draw.lineTo(x + 4, AXIS - 12);
      draw.lineTo(x, AXIS - 4);
      draw.fill();
    }
  }

  function drawAxis() {
    const wanted = (self.to - self.from) / Math.max(2, (width - gutter) / 110), power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
    draw.font = `10.5px ${FONT}`;
    for (let ns = Math.ceil(self.from / step) * step; ns <= self.to; ns += step) {
      const x = Math.round(xOf(ns)) + 0.5, text = nsText(ns);
      draw.fillStyle = colour("line");
      draw.globalAlpha = 0.5;
      draw.fillRect(x, AXIS - 8, 1, height - AXIS + 8);
      draw.globalAlpha = 1;
      draw.fillStyle = colour("dim");
      if (x + draw.measureText(text).width < width) draw.fillText(text, x + 4, 15);
    }
  }

  function drawTitles() {
    draw.fillStyle = colour("card");
    draw.fillRect(0, 0, gutter - 1, height);
    for (const place of places) {
      const {lane} = place, dot = lane.kind !== "thread" || lane.device >= 0;
      draw.fillStyle = colour("foreground");
      draw.font = `600 12px ${FONT}`;
      draw.fillText(cutText(lane.title, 12, true, gutter - 24), 12, place.y + PAD + 10);
      draw.fillStyle = colour("dim");
      draw.font = `10.5px ${FONT}`;
      if (place.height > 32) draw.fillText(cutText(place.note || lane.note || "", 10.5, false, gutter - 24), 12, place.y + PAD + 24);
      if (dot) {
        draw.fillStyle = colour(`device-${lane.device < 0 ? 0 : 1 + (lane.device % 7)}`);
        draw.fillRect(3, place.y + PAD, 3, Math.min(28, place.height - 2 * PAD));
      }
      draw.fillStyle = colour("line");
      draw.globalAlpha = 0.6;
      draw.fillRect(0, place.y, width, 1);
      draw.globalAlpha = 1;
    }
  }

  function drawPlayhead() {
    const x = xOf(events.time[state.position]);
    if (x < gutter - 1 || x > width) return;
    draw.fillStyle = colour("accent");
    draw.fillRect(x - 0.75, 18, 1.5, height);
    draw.beginPath();
    draw.arc(x, 21, 5, 0, 2 * Math.PI);
    draw.fill();
  }

  function paint() {
    const ratio = window.devicePixelRatio || 1;
    gutter = box.clientWidth < 560 ? 104 : 140;
    width = box.clientWidth;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    drawAxis();
    for (const place of places) {
      if (place.lane.kind === "queue") drawLengths(place);
      if (place.lane.kind === "thread") drawActivity(place);
      drawRows(place);
    }
    drawProblems();
    drawTitles();
    drawPlayhead();
  }

  let isWaiting = false;
  function update() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      paint();
    });
  }

  /* ---- the view ---- */

  function zoom(factor, at = (self.from + self.to) / 2) {
    const span = Math.max(20, Math.min(duration, (self.to - self.from) * factor));
    const from = Math.max(0, Math.min(duration - span, at - ((at - self.from) * span) / (self.to - self.from)));
    [self.from, self.to] = [from, from + span];
    update();
  }

  function reveal() {
    const now = events.time[state.position], span = self.to - self.from;
    if (now >= self.from && now <= self.to) return;
    self.from = Math.max(0, Math.min(duration - span, now - span * 0.1));
    self.to = self.from + span;
  }

  function spanAt(x, y) {
    const place = places.find((candidate) => y >= candidate.y && y < candidate.y + candidate.height);
    if (!place || x < gutter || place.lane.kind === "queue") return null;
    const row = place.lane.rows[Math.floor((y - place.first) / place.rowHeight)];
    const slack = ((self.to - self.from) / (width - gutter)) * 2, ns = nsOf(x);
    for (let i = 0; row && i < row.length; i += 4)
      if (ns >= row[i] - slack && ns <= row[i] + row[i + 1] + slack)
        return {begin: row[i], length: row[i + 1], kind: row[i + 2], node: row[i + 3] === null ? -1 : row[i + 3]};
    return null;
  }

  let isScrubbing = false;

  function onDown(event) {
    const span = spanAt(event.offsetX, event.offsetY);
    if (event.button > 0 || event.offsetX < gutter) return;
    if (span && span.node >= 0) return self.onspan(span.node, span.begin);
    isScrubbing = true;
    canvas.setPointerCapture(event.pointerId);
    self.ontime(nsOf(event.offsetX));
  }

  function onMove(event) {
    if (isScrubbing) return self.ontime(nsOf(event.offsetX));
    const span = spanAt(event.offsetX, event.offsetY);
    canvas.style.cursor = span ? "pointer" : "col-resize";
    hint.textContent = span ? `${spanTitle(span.kind, span.node)}: ${nsText(span.length)}, from ${nsText(span.begin)}` : hint.dataset.text;
  }

  function listen() {
    hint.dataset.text = hint.textContent;
    canvas.addEventListener("pointerdown", onDown);
    canvas.addEventListener("pointermove", onMove);
    canvas.addEventListener("pointerup", () => (isScrubbing = false));
    canvas.addEventListener("pointerleave", () => (hint.textContent = hint.dataset.text));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(event.deltaY * 0.01), nsOf(event.offsetX));
    }, {passive: false});
    new ResizeObserver(update).observe(box);
  }

  placeLanes();
  listen();
  return Object.assign(self, {update, zoom, reveal, all: () => zoom(Infinity), forget: () => colours.clear()});
})();
