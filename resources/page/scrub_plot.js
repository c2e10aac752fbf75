// SPDX-License-Identifier: LGPL-2.1-or-later
// A small picture under the slider: how many tasks lay in all ready queues, by event.

function makeScrubPlot() {
  const canvas = byId("scrub-plot"), draw = canvas.getContext("2d");
  const lengths = new Float64Array(nEvents + 1);
  let most = 1;

  function count() {
    const of = new Map();
    let now = 0;
    for (let position = 0; position <= nEvents; position++) {
      for (let at = events.start[position]; at < events.start[position + 1];) {
        const what = data.changes[at];
        if (what === QUEUE) {
          now += data.changes[at + 2] - (of.get(data.changes[at + 1]) || 0);
          of.set(data.changes[at + 1], data.changes[at + 2]);
        }
        at += lengthAt(data.changes, at);
      }
      lengths[position] = now;
      most = Math.max(most, now);
    }
  }

  function highest(from, to) {
    let value = 0;
    for (let i = Math.floor(from); i <= Math.min(nEvents, Math.max(Math.floor(to) - 1, from)); i++) value = Math.max(value, lengths[i]);
    return value;
  }

  function paint() {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.fillStyle = colour("state-queued");
    for (let x = 0; x < width; x++) {
      const value = highest((x / width) * (nEvents + 1), ((x + 1) / width) * (nEvents + 1));
      draw.globalAlpha = (x / width) * nEvents <= state.position ? 0.75 : 0.3;
      if (value) draw.fillRect(x, height - (value / most) * height, 1, (value / most) * height);
    }
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

  count();
  new ResizeObserver(update).observe(canvas);
  return {update};
}
