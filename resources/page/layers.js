// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the parts of a model, where cards are too small for names: left of their first nodes.

const layers = (() => {
  const element = makeSvg("g", {class: "layers", "aria-hidden": "true"}), SIZE = 12, GAP = 6, FAR = 0.34;
  const overlaps = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  const isNumbered = ([, path]) => /(^|\.)\d[^.]*$/.test(path);

  function boxOf([node, , name], view) {
    const card = view.cards.get(node), width = textWidth(name, SIZE, true) + 8;
    return {x: view.x + card.x * view.scale - GAP - width, y: view.y + (card.y + card.height / 2) * view.scale - 8, width, height: 16, name};
  }

  function draw({x, y, width, height, name}) {
    return makeSvg("g", {transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`}, makeSvg("rect", {width, height, rx: 4}),
      makeSvg("text", {x: 4, y: 12.5, "font-size": SIZE}, name));
  }

  /* Numbered layers go before others if there is no room for both. */
  function place(view) {
    const all = view.scale < FAR ? data.graphs[view.number].layers : [], taken = [];
    for (const layer of [...all.filter(isNumbered), ...all.filter((one) => !isNumbered(one))]) {
      const box = boxOf(layer, view);
      if (!taken.some((other) => overlaps(box, other))) taken.push(box);
    }
    fill(element, ...taken.map(draw));
  }

  return {element, place};
})();
