// SPDX-License-Identifier: LGPL-2.1-or-later
// A lesson: its steps, and its questions. All answers and reasons came with the page.

const lesson = (() => {
  const steps = data.lesson ? data.lesson.steps : [];
  const given = steps.map(() => null); // what was answered: {values, isRight}, or values null: shown unasked
  let at = 0, picked = [];

  const step = () => steps[at];
  const isAsking = () => steps.length > 0 && step().question !== null && given[at] === null;

  /* ---- answers ---- */

  const isSame = (values, key) => values.length === key.length && values.every((value, i) => value === key[i]);

  function answer(values) {
    if (!isAsking()) return;
    given[at] = {values, isRight: values !== null && isSame(values, step().question.answer)};
    picked = [];
    show();
  }

  function pick(value) {
    const {form, choices} = step().question;
    if (form === "one") return answer([value]);
    picked = picked.includes(value) ? picked.filter((one) => one !== value) : [...picked, value];
    if (picked.length === choices.length) return answer(picked);
    show();
  }

  /* A number, or the pattern of a float32, 0x3f800000 or 1.0: what the terminal takes too. */
  function readNumber(text, form) {
    const word = text.trim();
    if (form === "number") return /^\d+$/.test(word) && Number(word) <= 0xffffffff ? Number(word) : null;
    if (/^0x[0-9a-f]{8}$/i.test(word)) return Number(word);
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) || !Number.isFinite(Math.fround(Number(word)))) return null;
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, Number(word));
    return view.getUint32(0);
  }

  /* A click on a node answers, if the node is a choice. */
  function choose(node) {
    const isNode = isAsking() && ["pop", "order"].includes(step().question.kind);
    const choice = isNode && node >= 0 && step().question.choices.find((one) => one.value === data.nodes[node].id);
    if (choice) pick(choice.value);
    else player.pin(node);
  }

  /* ---- what the card shows ---- */

  function choiceButton(choice, i) {
    const {facts, tells_choices: areFacts} = step().question, place = picked.indexOf(choice.value);
    return make("li", {}, make("button", {type: "button", class: place < 0 ? "choice" : "choice picked", onclick: () => pick(choice.value)},
      place >= 0 && make("b", {}, `${place + 1}. `), areFacts ? facts[i] : choice.text));
  }

  function entry(form) {
    const input = make("input", {type: "text", id: "answer", autocomplete: "off", size: 14,
      "aria-label": form === "number" ? "A number" : "A number, or a pattern such as 0x3f800000"});
    const send = (event) => {
      event.preventDefault();
      const value = readNumber(input.value, form);
      input.setCustomValidity(value === null ? "That is no answer." : "");
      if (value === null) input.reportValidity();
      else answer([value]);
    };
    input.addEventListener("input", () => input.setCustomValidity(""));
    return make("form", {onsubmit: send}, input, make("button", {type: "submit"}, "Answer"),
      make("span", {class: "dim"}, form === "number" ? "a number" : "a number, or a pattern such as 0x3f800000"));
  }

  function openQuestion() {
    const {form, choices, prompt, facts, tells_choices: areFacts} = step().question, {hint} = step();
    const isChoice = form === "one" || form === "order";
    return [make("p", {class: "prompt"}, prompt), !areFacts && facts.length > 0 && make("ul", {class: "facts"}, ...facts.map((fact) => make("li", {}, fact))),
      form === "order" && make("p", {class: "dim"}, "Choose all of them, first to last."),
      isChoice ? make("ul", {class: "choices"}, ...choices.map(choiceButton)) : entry(form),
      make("div", {class: "bar"}, hint && make("details", {}, make("summary", {}, "Hint"), make("p", {}, hint)),
        make("button", {type: "button", class: "link", onclick: () => answer(null)}, "Show the answer")),
      make("p", {class: "dim"}, "The queues are hidden until you answer.")];
  }

  function answered() {
    const {prompt, answer_text: right, reason, corrections} = step().question, {values, isRight} = given[at];
    const correction = values && values.length === 1 && corrections.find(([value]) => value === values[0]);
    const verdict = isRight ? "Right." : `${values ? "Wrong. " : ""}The answer is: ${right}.`;
    return [make("p", {class: "prompt"}, prompt), make("p", {class: isRight ? "right" : values ? "wrong" : ""}, make("b", {}, verdict)),
      correction && make("p", {}, correction[1]), make("p", {class: "reason"}, reason)];
  }

  function score() {
    const all = steps.filter(({question}) => question).length, right = given.filter((one) => one && one.isRight).length;
    return given.some((one) => one) ? `${right} of ${all} right` : "";
  }

  function showCard() {
    fill(byId("lesson-where"), `Step ${at + 1} of ${steps.length}`);
    fill(byId("lesson-score"), score());
    fill(byId("lesson-text"), step().text);
    fill(byId("lesson-question"), ...(!step().question ? [] : isAsking() ? openQuestion() : answered()));
    byId("lesson-back").disabled = at === 0;
    byId("lesson-next").disabled = at === steps.length - 1;
  }

  /* While a question is open, nothing beside the graph may tell the answer. The focus stays in the card. */
  function show() {
    const focused = byId("lesson-question").contains(document.activeElement), choices = [...document.querySelectorAll(".choice")];
    const place = choices.indexOf(document.activeElement);
    document.body.classList.toggle("asking", isAsking());
    graph.hidesCounts = player.isHeld = isAsking();
    if (isAsking()) graph.light(null);
    showCard();
    graph.mark(new Set(step().shown));
    player.show();
    if (focused) (document.querySelectorAll(".choice")[place] || byId("lesson-question")).focus({preventScroll: true});
  }

  function go(to) {
    if (to < 0 || to >= steps.length) return;
    at = to;
    picked = [];
    returnToStep();
    byId("lesson-text").focus({preventScroll: true});
  }

  /* The graph of the nodes that the step speaks of; else that of the latest pass. */
  function graphOfStep() {
    const has = (number) => data.graphs[number].cards.some((card) => card[0] === step().shown[0]);
    const numbers = data.graphs.map((_, number) => number), begun = numbers.filter((number) => state.passes[number].status !== 0);
    const found = step().shown.length ? numbers.find(has) : begun[begun.length - 1];
    return found === undefined ? 0 : found;
  }

  function returnToStep() {
    player.stop();
    player.go(step().position);
    player.showPass(graphOfStep());
    show();
  }

  function start() {
    if (!steps.length) return;
    byId("lesson-card").hidden = false;
    document.body.classList.add("lesson");
    byId("lesson-back").addEventListener("click", () => go(at - 1));
    byId("lesson-next").addEventListener("click", () => go(at + 1));
    byId("lesson-here").addEventListener("click", returnToStep);
    graph.onchoose = choose;
    Object.assign(player.keys, {n: () => go(at + 1), p: () => go(at - 1)});
    player.onshow = offerReturn;
    returnToStep();
  }

  /* The playhead moved: offers the way back to the step. */
  function offerReturn() {
    const isHere = state.position === Math.min(nEvents, step().position) && graph.number === graphOfStep();
    byId("lesson-here").hidden = isHere;
  }

  return {start, isOn: steps.length > 0};
})();
