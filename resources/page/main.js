// SPDX-License-Identifier: LGPL-2.1-or-later
// The page around the player: its title, what it leaves out, its legend and its theme.

function listWords(words) {
  return words.length ? words.join(", ") : NONE;
}

function showHead() {
  const {tape} = data, pass = data.passes[0], name = tape.source || tape.file;
  byId("lesson-keys").hidden = !lesson.isOn;
  const [title, more] = lesson.isOn ? [data.lesson.title, name] : [name, `backward pass ${pass.id}`];
  document.title = lesson.isOn ? `${title} · Tapedeck` : `${name}, pass ${pass.id} · Tapedeck`;
  fill(byId("title"), `${title} `, make("span", {class: "dim"}, more));
  const engine = [tape.engine, tape.version].filter(Boolean).join(" ");
  const facts = [engine, many(data.graphs[0].cards.length, "node", "nodes"), many(nEvents, "event", "events"), nsText(events.time[nEvents])];
  fill(byId("facts"), facts.filter(Boolean).join(" · "));
}

function showLeftOut() {
  const sentences = [...data.left_out];
  if (data.tape.dropped) sentences.push(`The recorder lost ${many(data.tape.dropped, "event", "events")} of this tape.`);
  if (data.tape.damage) sentences.push(`The tape is damaged: ${data.tape.damage}.`);
  fill(byId("left-out"), ...sentences.map((text) => make("li", {}, text)));
  byId("left-out").hidden = sentences.length === 0;
}

/* The button of an event that this page has; of another one its number. */
function placeOf({seq, line}) {
  const position = seq - data.first + 1, isHere = position >= 1 && position <= nEvents, text = `event ${countText(seq)}`;
  const place = isHere ? make("button", {type: "button", class: "link", "data-seq": seq, title: "Go there", onclick: () => player.go(position)}, text)
    : make("span", {title: "Not on this page"}, text);
  return make("span", {class: "dim"}, place, line && `, ${line}`);
}

/* What is wrong with the whole program, as `tapedeck findings` tells it. */
function showFindings() {
  const {findings} = data, SHOWN = 3;
  if (!findings) return;
  const card = (one) => make("li", {"data-kind": one.kind}, make("b", {}, one.n > 1 ? `${one.title}, ${countText(one.n)} times` : one.title), " · ", placeOf(one),
    make("p", {}, `${one.text.replace(/\.$/, "")}.`), one.advice && make("p", {class: "dim"}, one.advice));
  const cards = findings.items.map(card), rest = cards.length - SHOWN;
  const more = rest > 0 && make("li", {}, make("details", {}, make("summary", {}, many(rest, "more finding", "more findings")), make("ul", {}, ...cards.slice(SHOWN))));
  const limit = findings.left_out > 0 && make("li", {class: "dim"}, `${many(findings.left_out, "more finding is", "more findings are")} left out.`);
  fill(byId("problems"), ...cards.slice(0, SHOWN), more, limit);
  byId("problems").hidden = cards.length === 0;
}

/* Answers about the whole program, as `tapedeck answers` tells them. What is wrong has cards of its own. */
function showAnswers() {
  const {answers, findings} = data;
  if (!answers) return;
  const shareOf = ({share}) => share !== undefined && make("span", {class: "number"}, `${(100 * share).toFixed(0)} % `);
  const barOf = ({share}) => share !== undefined && make("i", {class: "bar-of", style: `width:${(100 * Math.min(share, 1)).toFixed(1)}%`, "aria-hidden": "true"});
  const detailOf = ({text, detail}) => (detail ? make("details", {}, make("summary", {}, text), detail) : make("span", {}, text));
  const row = (one) => make("li", {}, barOf(one), one.figure && make("b", {class: "number"}, one.figure, " "), shareOf(one), detailOf(one), " ", one.seq !== undefined && placeOf(one));
  const topic = ({topic: name, title, items, left_out: rest}) => make("section", {"data-topic": name}, make("h3", {}, title),
    make("ul", {}, ...items.map(row), rest > 0 && make("li", {class: "dim"}, `${many(rest, "more is", "more are")} left out.`)));
  fill(byId("answers"), ...answers.filter(({topic: name}) => name !== "wrong" || !findings.items.length).map(topic));
  byId("answers").hidden = false;
}

function showPasses() {
  const option = (pass, i) => make("option", {value: i},
    `${pass.id}${pass.caller !== null ? `, inside ${nodeText(pass.caller)}` : i && !lesson.isOn ? ", meanwhile" : ""}`);
  fill(byId("pass"), ...data.passes.map(option));
  byId("pass-label").hidden = data.passes.length < 2;
}

function showLegend() {
  const words = {waiting: "waits for gradients", partial: "some gradients arrived", queued: "in a ready queue", running: "running", done: "done",
    skipped: "not run", captured: "gradient kept", failed: "failed", released: "released"};
  const occurs = new Set(["waiting", "partial", "queued", "running", "done"]);
  for (let at = 0; at < data.changes.length;) {
    const what = data.changes[at];
    if (what === NODE) occurs.add(data.states[data.changes[at + 2]]);
    at += lengthAt(data.changes, at);
  }
  const item = ([name, text]) => make("li", {class: "state", "data-state": name},
    makeSvg("svg", {viewBox: "-7 -7 14 14", class: "sign", "aria-hidden": "true"}, makeSvg("path", {class: "mark", d: markPath(name, 0.4)})), text);
  fill(byId("legend"), ...Object.entries(words).filter(([name]) => occurs.has(name)).map(item));
}

function showKnown() {
  const by = (how) => Object.values(data.kinds).filter((kind) => kind[2] === how).map(([name]) => name).sort();
  const row = (how, text) => by(how).length > 0 && make("p", {}, knownChip(how), ` ${text} `, make("span", {class: "dim"}, listWords(by(how))));
  const {tape} = data;
  fill(byId("known"),
    tape.level && make("p", {}, "Recorded by: ", make("b", {}, tape.level), tape.reason ? ` (${tape.reason})` : "", "."),
    row("observed", "The recording saw each of these events:"), row("reconstructed", "These follow from the engine's rules:"),
    make("p", {}, `A dash (${NONE}) stands for what cannot be known here. It says why if you point at it.`),
    make("p", {}, "All states come from Tapedeck's replay of the tape. This page only shows them."));
  byId("made").textContent = `Made by Tapedeck ${data.program} from ${data.tape.file}. This page needs no network and sends nothing.`;
}

/* What is shown beside the graph may follow from events that nobody saw. */
function showHowKnown() {
  for (const [id, name] of [["queues-head", "queue_push"], ["threads-head", "thread_state"]]) {
    const kind = Object.values(data.kinds).find((one) => one[0] === name);
    if (kind) byId(id).append(knownChip(kind[2]));
  }
}

const THEMES = ["auto", "light", "dark"];
function changeTheme() {
  const root = document.documentElement, now = THEMES[(THEMES.indexOf(root.dataset.theme || "auto") + 1) % THEMES.length];
  if (now === "auto") delete root.dataset.theme;
  else root.dataset.theme = now;
  byId("theme").textContent = `Theme: ${now}`;
  repaint();
}

/* Pictures on a canvas do not follow the style sheet by themselves. */
function repaint() {
  colourCache.clear();
  timeline.forget();
  timeline.update();
  scrubPlot.update();
}

showHead();
showLeftOut();
showFindings();
showAnswers();
showPasses();
showLegend();
showKnown();
showHowKnown();
report.start();
player.start();
lesson.start();
byId("theme").addEventListener("click", changeTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
