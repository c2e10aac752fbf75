// SPDX-License-Identifier: LGPL-2.1-or-later
// How nodes and edges look: the window's cards, ports, signs and curves, as SVG.

/* Signs of the states, around (0, 0) and 11 wide: the second way to tell states apart. */
const MARKS = {
  waiting: "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0",
  queued: "M-4.4-3.6H4.4M-4.4 0H2.5M-4.4 3.6H.6",
  running: "M-3.3-4.7L4.7 0L-3.3 4.7Z",
  done: "M-4.7.3L-1.4 3.6L5-3.6",
  skipped: "M4.7 0A4.7 4.7 0 1 1-4.7 0A4.7 4.7 0 1 1 4.7 0M-3 3L3-3",
  captured: "M-4.7.8V4.7H4.7V.8M0-5V2M-2.2 0L0 2.2L2.2 0",
  failed: "M-3.9-3.9L3.9 3.9M3.9-3.9L-3.9 3.9",
  released: "M2.2 0A2.2 2.2 0 1 1-2.2 0A2.2 2.2 0 1 1 2.2 0",
};

/* A ring, and as much of a pie in it as has arrived. */
function partialMark(share) {
  const angle = 2 * Math.PI * Math.min(share, 0.999), x = 5 * Math.sin(angle), y = -5 * Math.cos(angle);
  return `${MARKS.waiting}M0 0V-5A5 5 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(1)} ${y.toFixed(1)}Z`;
}

const markPath = (name, share) => (name === "partial" ? partialMark(share) : MARKS[name] || "");

/* ---- edges ---- */

const tenth = (value) => (Math.round(value) / 10).toString();

function pointsOf(edge) {
  const points = [];
  for (let i = 4; i < edge.points.length; i += 2) points.push([edge.points[i], edge.points[i + 1]]);
  return points;
}

function curveTo([x0, y0], [x1, y1], sideways) {
  const dx = x1 - x0, dy = y1 - y0;
  if (sideways) return `C${tenth(x0 + dx / 2)} ${tenth(y0)} ${tenth(x0 + dx / 2)} ${tenth(y1)} ${tenth(x1)} ${tenth(y1)}`;
  if (Math.abs(dx) < 1 || Math.abs(dy) < 1) return `L${tenth(x1)} ${tenth(y1)}`;
  return `C${tenth(x0)} ${tenth(y0 + dy * 0.45)} ${tenth(x1)} ${tenth(y0 + dy * 0.55)} ${tenth(x1)} ${tenth(y1)}`;
}

const isLevel = (a, b) => Math.abs(a[1] - b[1]) < 1 && Math.abs(a[0] - b[0]) >= 1;

const isUpright = (a, b) => Math.abs(a[0] - b[0]) < 1;

function isCorner(before, at, after) {
  const into = isLevel(before, at), out = isLevel(at, after);
  return into !== out && (into || isUpright(before, at)) && (out || isUpright(at, after));
}

/* A round corner where an edge that is led around turns. */
function corner(before, at, after) {
  const into = Math.hypot(at[0] - before[0], at[1] - before[1]), out = Math.hypot(after[0] - at[0], after[1] - at[1]);
  const r = Math.min(90, into / 2, out / 2);
  if (into < 1 || out < 1) return "";
  const begin = at.map((value, i) => value + ((before[i] - value) * r) / into);
  const end = at.map((value, i) => value + ((after[i] - value) * r) / out);
  return `L${begin.map(tenth).join(" ")}Q${at.map(tenth).join(" ")} ${end.map(tenth).join(" ")}`;
}

function edgePath(edge) {
  const points = pointsOf(edge), sideways = edge.points[2] === 1;
  const end = points.length - 1;
  if (!sideways) points[end] = [points[end][0], points[end][1] + (points[end - 1][1] > points[end][1] ? 90 : -90)];
  let path = `M${points[0].map(tenth).join(" ")}`;
  for (let k = 1; k <= end; k++) {
    path += k < end && isCorner(points[k - 1], points[k], points[k + 1]) ? corner(points[k - 1], points[k], points[k + 1]) : curveTo(points[k - 1], points[k], sideways);
  }
  return path;
}

function drawEdge(edge, i) {
  const kind = ["", "port", "around"][edge.points[2]];
  return makeSvg("path", {class: `edge ${kind}`, d: edgePath(edge), "data-edge": i});
}

function arrowHead(id) {
  return makeSvg("marker", {id, markerUnits: "userSpaceOnUse", markerWidth: 12, markerHeight: 10, refX: 0, refY: 4, orient: "auto"},
    makeSvg("path", {d: "M0 0L8.5 4L0 8Z"}));
}

/* ---- nodes ---- */

const ruler = document.createElement("canvas").getContext("2d");
const FONT = "Cantarell, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

function textWidth(text, size, bold) {
  ruler.font = `${bold ? 700 : 400} ${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

/* As much of a text as there is room for. */
function cutText(text, size, bold, room) {
  if (textWidth(text, size, bold) <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(text.slice(0, middle) + "…", size, bold) <= room) low = middle;
    else high = middle - 1;
  }
  return low ? text.slice(0, low) + "…" : "";
}

function deviceStripe(height, device) {
  const d = `M5 .6A8 8 0 0 0 0 8V${height - 8}A8 8 0 0 0 5 ${height - 0.6}Z`;
  return makeSvg("path", {class: "stripe", d, style: `fill:var(--device-${device < 0 ? 0 : 1 + (device % 7)})`});
}

/* The parts of a card that change: kept beside the element, so that nobody searches for them. */
function drawCard([node, x, y, w, h, port, name, number], i) {
  const width = w / 10, height = h / 10;
  const self = {node, index: i, x: x / 10, y: y / 10, width, height, port: port === 1, name, number};
  self.card = makeSvg("rect", {class: "card-back", width, height, rx: port ? height / 2 : 8});
  self.share = makeSvg("rect", {class: "share", width: 0, height, rx: port ? height / 2 : 8});
  self.title = makeSvg("text", {class: "name"});
  self.sub = port ? null : makeSvg("text", {class: "sub"});
  self.count = makeSvg("text", {class: "count", x: width - (port ? 8 : 9), y: port ? 14 : 36, "text-anchor": "end"});
  self.mark = makeSvg("path", {class: "mark", transform: port ? `translate(12 ${height / 2}) scale(.8)` : `translate(${width - 15} 15)`});
  self.element = makeSvg("g", {class: `node ${port ? "leaf" : ""}`, id: `node-${data.nodes[node].id}`, role: "option", "aria-selected": "false",
    "data-node": data.nodes[node].id, transform: `translate(${self.x} ${self.y})`},
  self.card, self.share, port ? null : deviceStripe(height, data.nodes[node].device), self.title, self.sub, self.count, self.mark);
  return self;
}

/* How much a card says at a scale: nothing, its name, its name and module, or all. */
const LEVELS = [[0.62, "near"], [0.34, "middle"], [0.26, "small"], [0, "far"]];
const levelOf = (scale) => LEVELS.find(([least]) => scale >= least)[1];

/* A module's path loses its beginning: the layer and the last name tell equal modules apart. */
function cutPath(text, size, room) {
  if (textWidth(text, size, false) <= room) return text;
  const tail = text.replace(/^.* · /, "");
  for (let at = 0; at < tail.length; at++) if (textWidth(`…${tail.slice(at)}`, size, false) <= room) return `…${tail.slice(at)}`;
  return "";
}

function placeText(text, x, y, size, shown) {
  setAttributes(text, {x, y, "font-size": size.toFixed(1)});
  text.textContent = shown;
}

/* Near, a card has all its texts; farther away fewer and larger ones. */
function drawName(self, level) {
  const isNear = level === "near", bold = !self.port, left = self.port ? (isNear ? 22 : 8) : 14;
  const hasModule = self.sub && level === "middle" && data.nodes[self.node].module;
  const room = self.width - left - (isNear && !self.port ? 24 : 7);
  let size = isNear ? (self.port ? 11 : 13) : self.port ? 13 : hasModule ? 16 : 18;
  if (!isNear) size = Math.max(12, Math.min(size, (size * room) / Math.max(1, textWidth(self.name, size, bold))));
  const y = isNear && bold ? 19 : hasModule ? 18.5 : self.height / 2 + size * 0.36;
  placeText(self.title, left, y, size, cutText(self.name, size, bold, room));
  if (!self.sub) return;
  if (isNear) placeText(self.sub, 14, 36, 11, cutText(self.number, 11, false, self.width - 55));
  else placeText(self.sub, 14, 38, 14.5, hasModule ? cutPath(self.number, 14.5, room) : "");
}

/* A NaN or Inf that was born here. */
function drawBadge(self, text) {
  if (self.badge) self.badge.remove();
  self.badge = null;
  if (!text) return;
  const width = textWidth(text, 12, true) + 12, x = text.startsWith("Σ") ? self.width / 2 - width / 2 - 30 : self.width - width + 6;
  self.badge = makeSvg("g", {class: "badge", transform: `translate(${x} -10)`}, makeSvg("rect", {width, height: 18, rx: 9}),
    makeSvg("text", {x: width / 2, y: 13, "text-anchor": "middle"}, text));
  self.element.append(self.badge);
}
