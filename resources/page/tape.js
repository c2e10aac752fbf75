// SPDX-License-Identifier: LGPL-2.1-or-later
// The tape: events, and the state after any of them. The page computes no state by itself: it
// applies and takes back the changes that the replay found.

const data = JSON.parse(byId("data").textContent);
const FIELDS_OF_EVENT = 7;
const [NODE, EDGE, QUEUE, THREAD, PASS, PAIR] = [0, 1, 2, 3, 4, 5];
const LENGTH = [7, 3, 6, 5, 5, 8]; // of a change; a queue's has the tasks that came too
const lengthAt = (words, at) => LENGTH[words[at]] + (words[at] === QUEUE ? words[at + 5] : 0);

const nEvents = data.events.length / FIELDS_OF_EVENT - 1;
const edges = data.graphs.flatMap((graph, at) => graph.edges.map((points) => ({graph: at, from: points[0], to: points[1], points})));

/* Positions: 0 is before the first event, p is after event data.first + p - 1. */
const events = (() => {
  const made = {time: new Float64Array(nEvents + 1), start: new Int32Array(nEvents + 2)};
  for (let i = 0; i <= nEvents; i++) {
    made.time[i] = (i ? made.time[i - 1] : 0) + data.events[i * FIELDS_OF_EVENT];
    made.start[i + 1] = made.start[i] + data.events[i * FIELDS_OF_EVENT + 6];
  }
  return made;
})();

function eventAt(position) {
  const at = position * FIELDS_OF_EVENT;
  const [, thread, kind, node, says, why] = data.events.slice(at, at + FIELDS_OF_EVENT);
  return {number: data.first + position - 1, time: events.time[position], thread: thread - 1, kind, node: node - 1,
    says: data.says[says], why: data.whys[why]};
}

const kindAt = (position) => data.events[position * FIELDS_OF_EVENT + 2];
const kindName = (position) => (data.kinds[kindAt(position)] || ["unreadable", "an event that cannot be read", ""])[0];
const kindNumber = (name) => Number(Object.keys(data.kinds).find((kind) => data.kinds[kind][0] === name) || -1);

const state = {
  position: -1,
  nodes: data.nodes.map(() => ({state: data.states.indexOf("absent"), arrived: 0, expected: 0, thread: -1, flags: 0})),
  pairs: data.graphs.map(() => new Map()), // what nodes of several graphs do in each
  moved: new Uint8Array(edges.length),
  queues: new Map(data.queues.map((queue) => [queue.id, {length: 0, first: []}])),
  threads: new Map(data.threads.map((thread) => [thread.id, {activity: 0, node: -1, lock: -1}])),
  passes: data.passes.map(() => ({status: 0, outstanding: 0, done: 0})),
};

/* What the last seek changed, for those who show it. */
const changed = {nodes: new Set(), edges: new Set()};

/* Each applies one change of `words` at `at`, and pushes the change that takes it back. */
const appliers = {
  [NODE](words, at, undo) {
    const node = words[at + 1], now = state.nodes[node];
    undo.push([NODE, node, now.state, now.arrived, now.expected, now.thread + 1, now.flags]);
    state.nodes[node] = {state: words[at + 2], arrived: words[at + 3], expected: words[at + 4], thread: words[at + 5] - 1,
      flags: words[at + 6]};
    changed.nodes.add(node);
  },
  [PAIR](words, at, undo) {
    const node = words[at + 1], pairs = state.pairs[words[at + 2]], now = pairs.get(node) || state.nodes[node];
    undo.push([PAIR, node, words[at + 2], now.state, now.arrived, now.expected, now.thread + 1, now.flags]);
    pairs.set(node, {state: words[at + 3], arrived: words[at + 4], expected: words[at + 5], thread: words[at + 6] - 1,
      flags: words[at + 7]});
    changed.nodes.add(node);
  },
  [EDGE](words, at, undo) {
    const edge = words[at + 1];
    undo.push([EDGE, edge, state.moved[edge]]);
    state.moved[edge] = words[at + 2];
    changed.edges.add(edge);
  },
  [QUEUE](words, at, undo) {
    const [id, length, place, nLeft, nCame] = words.slice(at + 1, at + 6), queue = state.queues.get(id);
    const left = queue.first.splice(place, nLeft, ...words.slice(at + 6, at + 6 + nCame));
    undo.push([QUEUE, id, queue.length, place, nCame, nLeft, ...left]);
    queue.length = length;
  },
  [THREAD](words, at, undo) {
    const id = words[at + 1], now = state.threads.get(id);
    undo.push([THREAD, id, now.activity, now.node + 1, now.lock + 1]);
    state.threads.set(id, {activity: words[at + 2], node: words[at + 3] - 1, lock: words[at + 4] - 1});
  },
  [PASS](words, at, undo) {
    const pass = words[at + 1], now = state.passes[pass];
    undo.push([PASS, pass, now.status, now.outstanding, now.done]);
    state.passes[pass] = {status: words[at + 2], outstanding: words[at + 3], done: words[at + 4]};
  },
};

const undos = [];

function forward() {
  const position = ++state.position, undo = [];
  for (let at = events.start[position]; at < events.start[position + 1];) {
    const what = data.changes[at];
    appliers[what](data.changes, at, undo);
    at += lengthAt(data.changes, at);
  }
  undos[position] = undo;
}

function back() {
  const undo = undos[state.position--], ignored = [];
  for (let i = undo.length - 1; i >= 0; i--) appliers[undo[i][0]](undo[i], 0, ignored);
}

function seek(position) {
  const wanted = Math.max(0, Math.min(nEvents, Math.round(position)));
  while (state.position < wanted) forward();
  while (state.position > wanted) back();
}

/* The last position whose event is of a kind and not after `position`, or -1. */
function lastOf(kind, position) {
  while (position > 0 && kindAt(position) !== kind) position--;
  return position > 0 ? position : -1;
}

function nextOf(kind, position) {
  while (position <= nEvents && kindAt(position) !== kind) position++;
  return position <= nEvents ? position : -1;
}

function positionAtTime(ns) {
  let low = 0, high = nEvents;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (events.time[middle] <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* What a node does in the pass of the graph that is shown. */
const nowOf = (node) => state.pairs[graph.number]?.get(node) || state.nodes[node];
const stateName = (node) => data.states[nowOf(node).state];
const isLeaf = (node) => /AccumulateGrad$/.test(data.nodes[node].name);
const nodeText = (node) => (isLeaf(node) ? data.nodes[node].title : `${data.nodes[node].title} #${data.nodes[node].id}`);

/* "NaN", "Inf", or "" where every value is finite. "Σ NaN" was born in a sum. */
function anomalyText(node) {
  const {flags} = nowOf(node), kind = (flags >> 1) & 7;
  const word = {nan: "NaN", inf: "Inf"}[data.anomalies[kind - 1]] || data.anomalies[kind - 1];
  return kind ? `${data.births[flags >> 4] === "sum" ? "Σ " : ""}${word}` : "";
}

/* What went wrong in this pass: positions of events. */
const PROBLEMS = ["anomaly", "error", "version_conflict", "stream_conflict", "warning"];
const problems = [];
for (let position = 1; position <= nEvents; position++) if (PROBLEMS.includes(kindName(position))) problems.push(position);
const threadName = (id) => (data.threads.find((thread) => thread.id === id) || {name: `thread ${id}`}).name;

const edgesFrom = data.nodes.map(() => []), edgesTo = data.nodes.map(() => []);
edges.forEach((edge, i) => {
  edgesFrom[edge.from].push(i);
  edgesTo[edge.to].push(i);
});
