// SPDX-License-Identifier: LGPL-2.1-or-later
// The graph of one pass: it follows the state, and people move, zoom, choose and find nodes in it.

const graph = (() => {
  const svg = byId("graph"), box = byId("graph-box");
  const layer = {edges: makeSvg("g", {class: "edges", "aria-hidden": "true"}), cards: makeSvg("g", {class: "nodes", role: "presentation"}),
    over: makeSvg("g", {class: "over", "aria-hidden": "true"})};
  const view = makeSvg("g", {role: "presentation"}, layer.edges, layer.over, layer.cards);
  const ring = makeSvg("rect", {class: "ring", hidden: true}), hoverRing = makeSvg("rect", {class: "ring hover", hidden: true});
  const dot = makeSvg("circle", {class: "moving", r: 6, hidden: true});
  const self = {cards: new Map(), edges: new Map(), number: -1, x: 0, y: 0, scale: 1, isFitted: true, level: "", marked: new Set(), hidesCounts: false};
  fill(svg, makeSvg("defs", {}, arrowHead("head"), arrowHead("head-moved"), arrowHead("head-chosen")), view, layers.element);

  function show(number) {
    self.number = number;
    const byId = (a, b) => data.nodes[a[0]].id - data.nodes[b[0]].id; // the order of the layout is that of running
    self.cards = new Map([...data.graphs[number].cards].sort(byId).map((card, i) => [card[0], drawCard(card, i)]));
    self.edges = new Map();
    edges.forEach((edge, i) => {
      if (edge.graph === number) self.edges.set(i, drawEdge(edge, i));
    });
    fill(layer.edges, ...self.edges.values());
    fill(layer.cards, ...[...self.cards.values()].map((card) => card.element));
    fill(layer.over, ring, hoverRing, dot);
    self.level = "";
    self.isFitted = true;
    fit();
    for (const node of self.cards.keys()) updateNode(node);
    for (const edge of self.edges.keys()) updateEdge(edge);
    mark(self.marked);
  }

  /* ---- the state ---- */

  function nodeLabel(node) {
    const now = nowOf(node), counts = now.expected && !self.hidesCounts ? `, ${now.arrived} of ${now.expected} gradients` : "";
    return `${nodeText(node)}, ${stateName(node)}${counts}`;
  }

  function updateNode(node) {
    const card = self.cards.get(node), now = nowOf(node), name = stateName(node);
    if (!card) return;
    const share = now.expected ? now.arrived / now.expected : 0;
    const counts = now.expected && ["waiting", "partial", "queued"].includes(name) && (!card.port || now.expected > 1);
    setAttributes(card.element, {"data-state": name, "aria-label": nodeLabel(node)});
    const wrong = anomalyText(node);
    card.element.classList.toggle("wrong", wrong !== "");
    if (wrong || card.badge) drawBadge(card, wrong);
    card.share.setAttribute("width", name === "partial" ? (card.width * share).toFixed(1) : 0);
    card.mark.setAttribute("d", markPath(card.port && ["created", "absent"].includes(name) ? "waiting" : name, share));
    card.count.textContent = counts && !self.hidesCounts ? `${now.arrived}/${now.expected}` : "";
    if (name === "running" || wrong) layer.cards.append(card.element);
  }

  function updateEdge(edge) {
    const path = self.edges.get(edge);
    if (!path || path.classList.contains("moved") === Boolean(state.moved[edge])) return;
    path.classList.toggle("moved", Boolean(state.moved[edge]));
    if (state.moved[edge]) layer.edges.append(path);
  }

  /* A dot on the edge along which this event moved a gradient. */
  function updateDot() {
    let moving = null;
    for (let at = events.start[state.position]; state.position > 0 && at < events.start[state.position + 1];) {
      const what = data.changes[at];
      if (what === EDGE && data.changes[at + 2] && kindName(state.position) === "buffer_add") moving = self.edges.get(data.changes[at + 1]);
      at += lengthAt(data.changes, at);
    }
    dot.toggleAttribute("hidden", !moving);
    if (!moving) return;
    const middle = moving.getPointAtLength(moving.getTotalLength() / 2);
    setAttributes(dot, {cx: middle.x, cy: middle.y, r: Math.max(5, 4 / self.scale)});
  }

  function update() {
    changed.nodes.forEach(updateNode);
    changed.edges.forEach(updateEdge);
    updateDot();
  }

  /* ---- the view ---- */

  function place() {
    view.setAttribute("transform", `translate(${self.x.toFixed(2)} ${self.y.toFixed(2)}) scale(${self.scale.toFixed(5)})`);
    svg.style.setProperty("--thin", `${Math.max(1.4, 0.8 / self.scale)}px`);
    const level = levelOf(self.scale);
    if (level !== self.level) {
      self.level = level;
      svg.setAttribute("class", `${level} ${svg.classList.contains("lit") ? "lit" : ""}`);
      if (level !== "far") self.cards.forEach((card) => drawName(card, level));
    }
    layers.place(self);
  }

  function fit() {
    const {width, height} = data.graphs[self.number], margin = 22;
    const w = box.clientWidth, h = box.clientHeight;
    self.scale = Math.max(1e-4, Math.min(1.4, (w - 2 * margin) / Math.max(1, width / 10), (h - 2 * margin) / Math.max(1, height / 10)));
    self.x = (w - (self.scale * width) / 10) / 2;
    self.y = (h - (self.scale * height) / 10) / 2;
    self.isFitted = true;
    place();
  }

  function zoom(factor, x = box.clientWidth / 2, y = box.clientHeight / 2) {
    const scale = Math.max(0.01, Math.min(3, self.scale * factor));
    self.x = x - ((x - self.x) * scale) / self.scale;
    self.y = y - ((y - self.y) * scale) / self.scale;
    self.scale = scale;
    self.isFitted = false;
    place();
  }

  function pan(dx, dy) {
    self.x += dx;
    self.y += dy;
    self.isFitted = false;
    place();
  }

  /* Moves the view only if the node lies outside. */
  function reveal(node) {
    const card = self.cards.get(node);
    if (!card) return;
    const left = self.x + card.x * self.scale, top = self.y + card.y * self.scale;
    const right = left + card.width * self.scale, bottom = top + card.height * self.scale;
    if (left >= 0 && top >= 0 && right <= box.clientWidth && bottom <= box.clientHeight) return;
    self.x += box.clientWidth / 2 - (left + right) / 2;
    self.y += box.clientHeight / 2 - (top + bottom) / 2;
    place();
  }

  /* ---- choosing ---- */

  function drawRing(rect, node) {
    const card = self.cards.get(node), out = 4;
    rect.toggleAttribute("hidden", !card);
    if (!card) return;
    setAttributes(rect, {x: card.x - out, y: card.y - out, width: card.width + 2 * out, height: card.height + 2 * out,
      rx: (card.port ? card.height / 2 : 8) + out});
  }

  /* `chosen` is the node of the inspector; `isPinned` tells that a person chose it. */
  function choose(chosen, isPinned) {
    svg.querySelectorAll(".edge.chosen").forEach((path) => path.classList.remove("chosen"));
    svg.querySelectorAll("[aria-selected=true]").forEach((node) => node.setAttribute("aria-selected", "false"));
    ring.classList.toggle("pinned", isPinned);
    drawRing(ring, chosen);
    const card = self.cards.get(chosen);
    if (!card) return;
    card.element.setAttribute("aria-selected", "true");
    svg.setAttribute("aria-activedescendant", card.element.id);
    if (!isPinned) return;
    [...edgesFrom[chosen], ...edgesTo[chosen]].forEach((edge) => {
      const path = self.edges.get(edge);
      if (path) path.classList.add("chosen");
    });
  }

  /* Dims all nodes but these; null: none. */
  function light(nodes) {
    svg.classList.toggle("lit", nodes !== null);
    self.cards.forEach((card, node) => card.element.classList.toggle("on", nodes !== null && nodes.has(node)));
  }

  /* The nodes that a lesson speaks of. */
  function mark(nodes) {
    self.marked = nodes;
    self.cards.forEach((card, node) => {
      card.element.classList.toggle("marked", nodes.has(node));
      updateNode(node);
    });
  }

  function neighbour(node, step) {
    const order = [...self.cards.values()].sort((a, b) => a.y - b.y || a.x - b.x);
    const at = order.findIndex((card) => card.node === node);
    return order[Math.max(0, Math.min(order.length - 1, at + step))].node;
  }

  function find(text) {
    const wanted = text.trim().toLowerCase().replace(/^#/, "");
    const fits = (node) => [String(node.id), node.name, node.title, node.label, node.module, node.line]
      .some((word, i) => word && (i === 0 ? word === wanted : word.toLowerCase().includes(wanted)));
    return wanted ? [...self.cards.keys()].filter((node) => fits(data.nodes[node])) : [];
  }

  /* ---- pointers ---- */

  function nodeOf(target) {
    const element = target.closest && target.closest(".node");
    return element ? data.nodes.findIndex((node) => String(node.id) === element.dataset.node) : -1;
  }

  const pointers = new Map();
  let travelled = 0;

  function onDown(event) {
    if (event.button > 0) return;
    pointers.set(event.pointerId, event);
    travelled = 0;
  }

  function onMove(event) {
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (event.target.closest) drawRing(hoverRing, nodeOf(event.target));
      return;
    }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    travelled += Math.hypot(dx, dy);
    if (travelled > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    if (pointers.size === 1 && travelled > 4) pan(dx, dy);
    if (pointers.size === 2) pinch(event, before);
    pointers.set(event.pointerId, event);
  }

  function pinch(event, before) {
    const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId), at = box.getBoundingClientRect();
    const length = (a) => Math.max(1, Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY));
    zoom(length(event) / length(before), (event.clientX + other.clientX) / 2 - at.left, (event.clientY + other.clientY) / 2 - at.top);
  }

  function onUp(event) {
    const wasClick = pointers.has(event.pointerId) && travelled <= 4 && event.type === "pointerup";
    pointers.delete(event.pointerId);
    if (wasClick) self.onchoose(nodeOf(event.target));
  }

  function listen() {
    svg.addEventListener("pointerdown", onDown);
    svg.addEventListener("pointermove", onMove);
    svg.addEventListener("pointerup", onUp);
    svg.addEventListener("pointercancel", onUp);
    svg.addEventListener("pointerleave", () => drawRing(hoverRing, -1));
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && !isActive()) return;
      event.preventDefault();
      const at = box.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - at.left, event.clientY - at.top);
    }, {passive: false});
    new ResizeObserver(() => (self.isFitted ? fit() : place())).observe(box);
  }

  /* A wheel scrolls the page until somebody has taken hold of the graph. */
  const isActive = () => document.activeElement === svg;

  listen();
  return Object.assign(self, {show, update, fit, zoom, reveal, choose, light, mark, neighbour, find, nodeLabel});
})();
