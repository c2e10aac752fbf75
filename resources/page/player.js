// SPDX-License-Identifier: LGPL-2.1-or-later
// Playing: one position that all parts of the page share, and the keys, buttons and the address that move it.

const scrubPlot = makeScrubPlot();

const player = (() => {
  const BEGIN = kindNumber("node_begin") > 0 ? kindNumber("node_begin") : kindNumber("queue_pop");
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
  const SECONDS_OF_A_PASS = 25;
  /* isHeld: nobody may leave the moment. onshow: what else follows the playhead. */
  const self = {isHeld: false, onshow: () => {}};
  let pinned = -1, isPlaying = false, lastFrame = 0, due = 0;

  /* The node of an event; if it has none, that of the last event that has one. */
  function currentNode() {
    for (let at = state.position; at > 0 && at > state.position - 64; at--) {
      const {node} = eventAt(at);
      if (node >= 0) return node;
    }
    return -1;
  }

  const chosen = () => (pinned >= 0 ? pinned : currentNode());

  function showWhere() {
    const number = data.first + state.position - 1, last = data.first + nEvents - 1;
    byId("slider").value = state.position;
    byId("slider").setAttribute("aria-valuetext", state.position ? `event ${number}, ${nsText(events.time[state.position])}` : "before the first event");
    byId("where").textContent = state.position ? `event ${countText(number)} of ${countText(last)} · ${nsText(events.time[state.position])}`
      : `before event ${countText(data.first)} of ${countText(last)}`;
  }

  function show() {
    const node = chosen();
    graph.update();
    graph.choose(node, pinned >= 0);
    if (pinned < 0 && !graph.isFitted) graph.reveal(node);
    timeline.selected = pinned;
    timeline.reveal();
    timeline.update();
    nowPanel.update();
    nodePanel.update(node, pinned >= 0);
    queuePanel.update();
    threadPanel.update();
    scrubPlot.update();
    self.onshow();
    showWhere();
    changed.nodes.clear();
    changed.edges.clear();
  }

  function go(position) {
    seek(position);
    show();
    writeAddress();
  }

  /* Moves for a person, unless the moment is held. */
  function move(position) {
    pause();
    if (self.isHeld) show();
    else go(position);
  }

  const step = (by) => move(state.position + by);

  function stepNode(direction) {
    const position = direction > 0 ? nextOf(BEGIN, state.position + 1) : lastOf(BEGIN, state.position - 1);
    move(position < 0 ? (direction > 0 ? nEvents : 0) : position);
  }

  /* -1: the page follows the pass again. */
  function pin(node) {
    pinned = node;
    if (node >= 0) {
      showGraphOf(node);
      if (!graph.isFitted) graph.reveal(node);
    }
    show();
    writeAddress();
  }

  function showGraphOf(node) {
    if (graph.cards.has(node)) return;
    const number = data.graphs.findIndex((candidate) => candidate.cards.some((card) => card[0] === node));
    if (number >= 0) showGraph(number);
  }

  function showGraph(number) {
    byId("pass").value = number;
    graph.show(number);
  }

  function showPass(number) {
    showGraph(number);
    show();
    writeAddress();
  }

  /* ---- playing ---- */

  const eventsPerSecond = () => Math.max(3, nEvents / SECONDS_OF_A_PASS) * Number(byId("speed").value);

  function frame(now) {
    if (!isPlaying) return;
    due += ((now - lastFrame) / 1000) * eventsPerSecond();
    lastFrame = now;
    const whole = Math.floor(due);
    due -= whole;
    if (whole) {
      seek(state.position + whole);
      show();
    }
    if (state.position >= nEvents) pause();
    else requestAnimationFrame(frame);
  }

  function play() {
    if (self.isHeld) return;
    if (state.position >= nEvents) seek(0);
    isPlaying = true;
    due = 0;
    lastFrame = performance.now();
    setPlayButton("M4 2h3v12H4zM9 2h3v12H9z", "Pause");
    requestAnimationFrame(frame);
  }

  function pause() {
    if (!isPlaying) return;
    isPlaying = false;
    setPlayButton("M4 2l10 6-10 6z", "Play");
    show();
    writeAddress();
  }

  const toggle = () => (isPlaying ? pause() : play());

  function setPlayButton(sign, word) {
    byId("play").querySelector("path").setAttribute("d", sign);
    setAttributes(byId("play"), {"aria-label": word, title: `${word} (Space)`});
  }

  /* ---- the address: #at=412&node=7&pass=2 ---- */

  /* Browsers allow few changes of the address in a second. */
  let waiting = 0;
  function writeAddress() {
    clearTimeout(waiting);
    if (!isPlaying) waiting = setTimeout(writeAddressNow, 200);
  }

  function writeAddressNow() {
    const parts = [`at=${data.first + state.position - 1}`];
    if (pinned >= 0) parts.push(`node=${data.nodes[pinned].id}`);
    if (graph.number > 0) parts.push(`pass=${data.passes[graph.number].id}`);
    try {
      history.replaceState(null, "", `#${parts.join("&")}`);
    } catch {
      /* A frame without an address of its own. */
    }
  }

  function readAddress() {
    clearTimeout(waiting);
    const wish = new URLSearchParams(location.hash.slice(1)), at = Number(wish.get("at"));
    const pass = data.passes.findIndex(({id}) => String(id) === wish.get("pass"));
    if (pass >= 0 && pass !== graph.number) showGraph(pass);
    if (wish.has("node")) pinned = data.nodes.findIndex(({id}) => String(id) === wish.get("node"));
    if (wish.has("at") && Number.isFinite(at) && !self.isHeld) seek(at - data.first + 1);
    show();
  }

  /* ---- keys and buttons ---- */

  /* A node that a person chose stays in sight. */
  function zoom(factor) {
    graph.zoom(factor);
    if (pinned >= 0) graph.reveal(pinned);
  }

  const KEYS = {
    " ": toggle,
    ArrowLeft: (event) => (event.shiftKey ? stepNode(-1) : step(-1)),
    ArrowRight: (event) => (event.shiftKey ? stepNode(1) : step(1)),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    f: () => graph.fit(),
    "+": () => zoom(1.4),
    "-": () => zoom(1 / 1.4),
    "/": () => byId("find").focus(),
    Escape: () => pin(-1),
  };

  function onKey(event) {
    const {target} = event, isText = target.matches("input:not([type=range]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || isText) return;
    if (event.key === " " && target.matches("button, summary") && target.id !== "play") return;
    if (target.id === "graph" && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      pin(graph.neighbour(chosen(), event.key === "ArrowUp" ? -1 : 1));
      return event.preventDefault();
    }
    if (!KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](event);
  }

  function listenToButtons() {
    const actions = {first: () => step(-Infinity), "back-node": () => stepNode(-1), back: () => step(-1), play: toggle, forward: () => step(1),
      "forward-node": () => stepNode(1), last: () => step(Infinity), "zoom-in": () => zoom(1.4), "zoom-out": () => zoom(1 / 1.4),
      "zoom-fit": () => graph.fit(), "time-in": () => timeline.zoom(0.5, events.time[state.position]), "time-out": () => timeline.zoom(2), "time-fit": () => timeline.all()};
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    byId("slider").addEventListener("input", (event) => move(Number(event.target.value)));
    byId("pass").addEventListener("change", (event) => showPass(Number(event.target.value)));
  }

  let found = [], foundAt = 0;
  function listenToSearch() {
    byId("find").addEventListener("input", (event) => {
      found = graph.find(event.target.value);
      foundAt = 0;
      graph.light(event.target.value.trim() ? new Set(found) : null);
    });
    byId("find").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && found.length) pin(found[foundAt++ % found.length]);
      if (event.key !== "Escape") return;
      event.target.value = "";
      graph.light(null);
      byId("graph").focus();
    });
  }

  function start() {
    setAttributes(byId("slider"), {max: nEvents});
    fill(byId("speed"), ...SPEEDS.map((speed) => make("option", {value: speed, selected: speed === 1}, `${speed}×`)));
    graph.onchoose = pin;
    timeline.ontime = (ns) => move(positionAtTime(ns));
    timeline.onspan = (node, begin) => {
      pinned = node;
      showGraphOf(node);
      move(positionAtTime(begin));
    };
    listenToButtons();
    listenToSearch();
    document.addEventListener("keydown", onKey);
    addEventListener("hashchange", readAddress);
    seek(0);
    showGraph(data.graph || 0);
    readAddress();
  }

  return Object.assign(self, {start, stop: pause, go, show, pin, showPass, keys: KEYS});
})();
