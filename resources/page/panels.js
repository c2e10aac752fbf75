// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands beside the graph: the event and its reason, the chosen node, queues and threads.

const POP = kindNumber("queue_pop");
const lives = new Map();
for (const life of data.times.lives) {
  if (!lives.has(life[0])) lives.set(life[0], []);
  lives.get(life[0]).push(life);
}
const WHY_UNKNOWN = {
  dependency_wait: "the arrival of gradients was not observed on this tape",
  queue_wait: "pushes and pops were not observed on this tape",
  lock_wait: "waits for locks were not observed on this tape",
  pre_hooks: "hooks were not observed on this tape",
  post_hooks: "hooks were not observed on this tape",
  no_core: "whether threads had a core was not observed on this tape",
  apply: "the ends of nodes are not on this tape",
  push: data.times.parts.some(([name, isKnown]) => name === "accumulate" && isKnown) && "the probe counts pushes as a part of accumulation",
};
const PART_NAMES = {dependency_wait: "waits for gradients", queue_wait: "waits in the queue", lock_wait: "waits for locks", pre_hooks: "hooks before",
  apply: "function", post_hooks: "hooks after", accumulate: "accumulation", release: "release", push: "pushes", no_core: "without a core"};
const whyUnknown = (part) => WHY_UNKNOWN[part] || "the probe did not time it on this tape";

/* ---- buttons and chips ---- */

function nodeButton(node, text) {
  if (node < 0 || node === null) return make("span", {class: "dim"}, "no node");
  return make("button", {type: "button", class: "link", "data-go": data.nodes[node].id, onclick: () => player.pin(node)}, text || nodeText(node));
}

function stateChip(node) {
  const name = stateName(node), now = nowOf(node), share = now.expected ? now.arrived / now.expected : 0;
  return make("span", {class: "state", "data-state": name},
    makeSvg("svg", {viewBox: "-6 -6 12 12", class: "sign", "aria-hidden": "true"}, makeSvg("path", {class: "mark", d: markPath(name, share)})), spaced(name));
}

/* ---- the event ---- */

const nowPanel = (() => {
  function sentence(event) {
    if (event.says) return event.says.charAt(0).toUpperCase() + event.says.slice(1) + (/[.!?]$/.test(event.says) ? "" : ".");
    return `${kindName(state.position)}${event.node < 0 ? "" : `: ${nodeText(event.node)}`}`;
  }

  function whyText() {
    const position = lastOf(POP, state.position);
    if (position < 0) return [];
    const pop = eventAt(position), isNow = position === state.position;
    const head = isNow ? "Why this one: " : `The last pop was event ${countText(pop.number)}. Why ${pop.node < 0 ? "that task" : nodeText(pop.node)}: `;
    const text = (pop.why || "this page has no reason for that pop.").replace(/^Event \d+: /, "");
    return [make("b", {}, head), text];
  }

  function nearRow(position) {
    const event = eventAt(position), isNow = position === state.position;
    const text = event.says || kindName(position);
    return make("li", {class: isNow ? "here" : "", "aria-current": isNow ? "true" : null},
      make("button", {type: "button", class: "row", onclick: () => player.go(position)},
        make("span", {class: "dim number"}, countText(event.number)), make("span", {}, text)));
  }

  function near() {
    const first = Math.max(1, Math.min(state.position - 3, nEvents - 6)), rows = [];
    for (let at = first; at <= Math.min(nEvents, first + 6); at++) rows.push(nearRow(at));
    fill(byId("near-list"), ...rows);
  }

  function update() {
    const event = eventAt(state.position), known = data.kinds[event.kind];
    if (state.position === 0) {
      fill(byId("now-head"), "Before the pass");
      fill(byId("now"), "Nothing of this pass has happened yet. Press play.");
      fill(byId("caption"), "Press play.");
    } else {
      fill(byId("now-head"), `Event ${countText(event.number)} `, known && knownChip(known[2]));
      fill(byId("now"), sentence(event));
      fill(byId("caption"), sentence(event));
    }
    fill(byId("why"), ...whyText());
    if (byId("near").open) near();
  }

  byId("near").addEventListener("toggle", near);
  return {update};
})();

/* ---- the chosen node ---- */

const nodePanel = (() => {
  const fact = (name, ...value) => [make("dt", {}, name), make("dd", {}, ...value)];

  /* Why a gradient has not moved yet. */
  function stillToCome(from, isIncoming) {
    const name = stateName(from);
    if (!isIncoming) return name === "running" ? "being computed" : name === "done" ? "on its way" : name === "failed" ? "never sent: it failed" : "not sent yet";
    if (name === "done" || name === "running") return name === "done" ? "on its way" : "being computed";
    return name === "skipped" || name === "failed" ? `will not come: its sender ${name === "failed" ? "failed" : "is not run"}` : `not yet: its sender ${name === "queued" ? "is queued" : "waits"}`;
  }

  function gradientRow(edge, isIncoming) {
    const other = isIncoming ? edges[edge].from : edges[edge].to, moved = state.moved[edge] === 1;
    return make("li", {class: moved ? "moved" : ""}, make("span", {class: "tick", "aria-hidden": "true"}, moved ? "✓" : "○"), nodeButton(other),
      make("span", {class: "dim"}, moved ? (isIncoming ? "arrived" : "sent") : stillToCome(edges[edge].from, isIncoming)));
  }

  function gradients(title, list, isIncoming) {
    const here = list.filter((edge) => edges[edge].graph === graph.number), shown = here.slice(0, 8);
    if (!here.length) return null;
    const moved = here.filter((edge) => state.moved[edge]).length;
    return make("div", {}, make("h3", {}, `${title} `, make("span", {class: "dim"}, `${moved} of ${here.length}`)),
      make("ul", {class: "gradients"}, ...shown.map((edge) => gradientRow(edge, isIncoming)),
        here.length > 8 && make("li", {class: "dim"}, `and ${here.length - 8} more`)));
  }

  const partSum = (rows, part) => rows.reduce((sum, life) => sum + life[4 + part], 0);

  function lifeBar(rows, total) {
    const known = data.times.parts.map(([name, isKnown], part) => ({name, ns: isKnown ? partSum(rows, part) : 0}));
    return make("div", {class: "life", role: "img", "aria-label": "Parts of the node's life"},
      ...known.filter(({ns}) => ns > 0).map(({name, ns}) => make("span", {class: `part ${name}`, title: `${PART_NAMES[name]}: ${nsText(ns)}`,
        style: `flex-grow:${Math.max(0.01, ns / total)}`})));
  }

  const partRow = ([name, isKnown], ns) =>
    fact(PART_NAMES[name], make("i", {class: `part ${name}`, "aria-hidden": "true"}), isKnown ? nsText(ns) : unknown(whyUnknown(name)));

  function life(node) {
    const rows = lives.get(node) || [];
    if (!rows.length) return make("p", {class: "dim"}, "It did not run to its end in this pass, so it has no times here.");
    const total = data.times.parts.reduce((sum, [, isKnown], part) => sum + (isKnown ? partSum(rows, part) : 0), 0);
    const isShown = ([, isKnown], part) => !isKnown || partSum(rows, part) > 0;
    const none = data.times.parts.filter((one, part) => !isShown(one, part)).map(([name]) => PART_NAMES[name]);
    return make("div", {}, make("h3", {}, "Its life ", knownChip(data.times.known)), lifeBar(rows, total),
      make("dl", {class: "parts"}, ...data.times.parts.flatMap((one, part) => (isShown(one, part) ? partRow(one, partSum(rows, part)) : []))),
      none.length > 0 && make("p", {class: "dim small"}, `No time in: ${none.join(", ")}.`));
  }

  function place(node) {
    const facts = data.nodes[node], stack = data.stacks[facts.stack];
    if (!facts.line) return fact("made at", unknown("the tape has no stack of this node: record --stacks keeps them"));
    return fact("made at", stack ? make("details", {}, make("summary", {}, facts.line), make("pre", {}, stack)) : facts.line);
  }

  function facts(node) {
    const facts = data.nodes[node], now = nowOf(node);
    return make("dl", {}, ...fact("name", facts.name || unknown("the tape does not name it")),
      ...(facts.label ? fact("parameter", facts.label) : []),
      ...fact("module", facts.module || unknown(isLeaf(node) ? "a leaf is made outside of modules" : "the tape does not name its module")),
      ...place(node),
      ...fact("sequence_nr", facts.sequence_nr === null ? "the greatest: a leaf goes first" : countText(facts.sequence_nr)),
      ...fact("device", facts.device_name),
      ...(now.thread >= 0 ? fact("thread", threadName(now.thread)) : []),
      ...(facts.inputs.length ? fact("expects", facts.inputs.map((input) => `${shapeText(input)}, ${bytesText(input.bytes)}`).join("; ")) : []));
  }

  /* The pass that a node belongs to, if the graph is another one's, and the passes that run inside it. */
  function passes(node) {
    const inside = data.passes.map((pass, i) => ({...pass, i})).filter((pass) => pass.caller === node);
    const own = graph.cards.has(node) ? -1 : data.graphs.findIndex((one) => one.cards.some((card) => card[0] === node));
    const go = (i, text) => make("button", {type: "button", class: "link", onclick: () => player.showPass(i)}, text);
    return make("p", {}, own >= 0 && make("span", {}, `It is in pass ${data.passes[own].id}. `, go(own, "Show its graph")),
      ...inside.map((pass) => make("span", {}, ` Pass ${pass.id} ran inside it. `, go(pass.i, "Show that graph"))));
  }

  function update(node, isPinned) {
    if (node < 0) return fill(byId("node"), make("p", {class: "dim"}, "Choose a node in the graph."));
    const now = nowOf(node), flags = anomalyText(node) && chip(anomalyText(node), "wrong", "A value that is not finite was born here.");
    fill(byId("node-head"), isPinned ? "Chosen node" : "Node of this event", isPinned && make("button", {type: "button", class: "link unpin", onclick: () => player.pin(-1)}, "follow the pass"));
    const wasOpen = byId("node").querySelector("details[open]") && byId("node").dataset.node === String(node);
    fill(byId("node"), make("p", {class: "title"}, make("b", {}, nodeText(node)), " ", stateChip(node), flags,
      now.expected > 0 && make("span", {class: "dim"}, `${now.arrived}/${now.expected} gradients`)),
    passes(node), facts(node), gradients("Gradients in", edgesTo[node], true), gradients("Gradients out", edgesFrom[node], false), life(node));
    byId("node").dataset.node = node;
    if (wasOpen) byId("node").querySelector("details").open = true;
  }

  return {update};
})();

/* ---- queues and threads ---- */

const queuePanel = (() => {
  function task(place, i) {
    const text = place === 0 ? "a dummy task" : place === -1 ? "a shutdown task" : "a node that is not on this page";
    return make("li", {"data-node": place > 0 ? data.nodes[place - 1].id : "", title: i === 0 ? "the next to be popped" : null},
      place > 0 ? nodeButton(place - 1) : make("span", {class: "dim"}, text));
  }

  function queue(facts) {
    const {length, first} = state.queues.get(facts.id);
    return make("div", {class: "queue", "data-queue": facts.id},
      make("h3", {}, make("i", {class: "dot", style: `background:var(--device-${facts.number < 0 ? 0 : 1 + (facts.number % 7)})`}),
        `queue ${facts.id} · ${facts.device} `, make("span", {class: "dim"}, length ? many(length, "task", "tasks") : "empty")),
      make("ol", {}, ...first.map(task)),
      length > first.length && make("p", {class: "dim"}, `and ${countText(length - first.length)} more`));
  }

  function update() {
    const known = Object.values(data.kinds).some(([name]) => name === "queue_push");
    if (!known) fill(byId("queues"), unknown("pushes and pops are not on this tape"));
    else fill(byId("queues"), ...data.queues.map(queue));
  }

  return {update};
})();

const threadPanel = (() => {
  function thread(facts) {
    const now = state.threads.get(facts.id), activity = data.activities[now.activity];
    return make("li", {"data-thread": facts.id, "data-activity": activity},
      make("i", {class: "dot", style: `background:var(--activity-${activity})`}), make("b", {}, facts.name), make("span", {}, spaced(activity)),
      now.node >= 0 && nodeButton(now.node), now.lock >= 0 && chip(`waits for a ${data.locks[now.lock]} lock`, "wait", ""));
  }

  return {update: () => fill(byId("threads"), ...data.threads.map(thread))};
})();
