// SPDX-License-Identifier: LGPL-2.1-or-later
// The report: lives of nodes in groups, as `tapedeck report` adds them up.

const report = (() => {
  const {times} = data, partAt = Object.fromEntries(times.parts.map(([name], i) => [name, i]));
  const isKnown = (...names) => names.every((name) => times.parts[partAt[name]][1]);
  const sumOf = (life, ...names) => names.reduce((sum, name) => sum + life[4 + partAt[name]], 0);
  const SHOWN = 25;
  const GROUPS = {
    op: (life) => data.nodes[life[0]].by_op,
    module: (life) => data.nodes[life[0]].by_module,
    line: (life) => data.nodes[life[0]].by_line,
    node: (life) => data.nodes[life[0]].by_node,
    thread: (life) => (data.threads.find((thread) => thread.id === life[1]) || {key: String(life[1])}).key,
    queue: (life) => (data.queues.find((queue) => queue.id === life[2]) || {key: "(no queue)"}).key,
    pass: (life) => String(life[3]),
  };
  const WAITING = ["dependency_wait", "queue_wait"];
  const WORKING = times.parts.map(([name]) => name).filter((name) => !WAITING.includes(name));

  const COLUMNS = [
    {key: "key", title: "", text: true},
    {key: "self", title: "self", about: "time in the functions themselves", bar: true, parts: ["apply"]},
    {key: "share", title: "share", about: "of the time of the pass", parts: ["apply"]},
    {key: "n", title: "n", about: "how often"},
    {key: "p50", title: "median", parts: ["apply"]},
    {key: "p95", title: "p95", about: "95 of 100 took no longer", parts: ["apply"]},
    {key: "max", title: "max", parts: ["apply"]},
    {key: "hooks", title: "hooks", about: "time in hooks before and after the functions", parts: ["pre_hooks", "post_hooks"]},
    {key: "handing", title: "hand over", about: "accumulation, release and pushes", parts: ["accumulate", "release", "push"], needs: ["release"]},
    {key: "lock", title: "lock wait", about: "waits for locks", parts: ["lock_wait"]},
    {key: "queue", title: "queue wait", about: "from the push to the pop", parts: ["queue_wait"]},
    {key: "gradients", title: "grad wait", about: "from the first gradient to the push", parts: ["dependency_wait"]},
  ];
  const SPAN_COLUMNS = COLUMNS.slice(0, 7);

  const choice = {by: "op", sort: "self", rising: false, isWhole: false, lit: null};

  /* By nearest rank, as the command does. */
  const percentile = (sorted, percent) => sorted[Math.floor((sorted.length * percent + 99) / 100) - 1];

  function finishRow(row) {
    row.samples.sort((a, b) => a - b);
    row.n = row.samples.length;
    row.p50 = percentile(row.samples, 50);
    row.p95 = percentile(row.samples, 95);
    row.max = row.samples[row.n - 1];
    row.share = times.wall ? row.self / times.wall : 0;
    return row;
  }

  const emptyRow = (key) => ({key, self: 0, total: 0, hooks: 0, handing: 0, lock: 0, queue: 0, gradients: 0, samples: [], nodes: new Set()});

  function addLife(row, life) {
    row.self += sumOf(life, "apply");
    row.total += sumOf(life, ...WORKING);
    for (const {key, parts} of COLUMNS.slice(7)) row[key] += sumOf(life, ...parts);
    row.samples.push(sumOf(life, "apply"));
    row.nodes.add(life[0]);
  }

  function groups(by) {
    const rows = new Map();
    const rowOf = (key) => rows.get(key) || rows.set(key, emptyRow(key)).get(key);
    if (GROUPS[by]) for (const life of times.lives) if (life[0] !== null) addLife(rowOf(GROUPS[by](life)), life);
    for (const [key, ns] of (by === "hook" && times.hooks) || (by === "lock" && times.locks) || []) {
      const row = rowOf(key);
      row.self += ns;
      row.total += ns;
      row.samples.push(ns);
    }
    return [...rows.values()].map(finishRow);
  }

  function compare(a, b) {
    const {sort, rising} = choice, [left, right] = [a[sort], b[sort]];
    const order = typeof left === "string" ? left.localeCompare(right) : left - right;
    return (rising ? order : -order) || (a.key < b.key ? -1 : 1);
  }

  /* ---- the table ---- */

  const isSpans = () => choice.by === "hook" || choice.by === "lock";
  const columns = () => (isSpans() ? SPAN_COLUMNS : COLUMNS);

  /* A part that the tape does not tell may belong to another one that it tells. */
  const needs = (column) => column.needs || column.parts || [];
  const isColumnKnown = (column) => isSpans() || isKnown(...needs(column));
  const whyColumn = (column) => whyUnknown(needs(column).find((name) => !isKnown(name)));

  function sortBy(key) {
    choice.rising = choice.sort === key ? !choice.rising : key === "key";
    choice.sort = key;
    update();
    byId("report").querySelector(`[data-sort=${key}]`).focus();
  }

  function heading(column) {
    const isSorted = choice.sort === column.key;
    return make("th", {scope: "col", class: column.text ? "text" : "", "aria-sort": isSorted ? (choice.rising ? "ascending" : "descending") : null},
      make("button", {type: "button", title: column.about, "data-sort": column.key, onclick: () => sortBy(column.key)},
        column.text ? choice.by : column.title, isSorted ? (choice.rising ? " ▴" : " ▾") : ""));
  }

  function cell(row, column, most) {
    if (column.text) return make("th", {scope: "row", class: "text"}, keyButton(row));
    if (!isColumnKnown(column))
      return make("td", {}, unknown(whyColumn(column)));
    if (column.key === "n") return make("td", {}, countText(row.n));
    if (column.key === "share") return make("td", {}, `${(100 * row.share).toFixed(1)} %`);
    const bar = column.bar && make("i", {class: "bar-of", style: `width:${((100 * row.self) / Math.max(1, most)).toFixed(1)}%`, "aria-hidden": "true"});
    return make("td", {class: column.bar ? "with-bar" : ""}, bar, make("span", {}, nsText(row[column.key])));
  }

  function keyButton(row) {
    if (!row.nodes.size) return row.key;
    const isLit = choice.lit === row.key;
    return make("button", {type: "button", class: "link", "aria-pressed": String(isLit), title: "Show its nodes in the graph", onclick: () => lightRow(row)}, row.key);
  }

  function lightRow(row) {
    choice.lit = choice.lit === row.key ? null : row.key;
    graph.light(choice.lit === null ? null : row.nodes);
    if (choice.lit !== null && row.nodes.size === 1) player.pin([...row.nodes][0]);
    update();
  }

  function totals() {
    if (times.wall === null) return fill(byId("wall"), unknown("the events of this page do not have the whole pass"));
    const share = times.wall ? (100 * times.unattributed) / times.wall : 0;
    fill(byId("wall"), make("b", {}, nsText(times.wall)), times.ended ? " in this pass" : " up to the last event", `; for ${nsText(times.unattributed)} (${share.toFixed(1)} %) no thread was at a node `, knownChip(times.known));
  }

  function notes() {
    const missing = columns().filter((column) => !isColumnKnown(column));
    fill(byId("report-notes"), ...missing.map((column) => make("li", {}, `${NONE} ${column.title}: ${whyColumn(column)}.`)));
  }

  function update() {
    const rows = groups(choice.by).sort(compare), shown = choice.isWhole ? rows : rows.slice(0, SHOWN);
    const most = Math.max(...rows.map((row) => row.self), 0);
    const [head, body] = [byId("report").tHead, byId("report").tBodies[0]];
    fill(head, make("tr", {}, ...columns().map(heading)));
    fill(body, ...shown.map((row) => make("tr", {class: choice.lit === row.key ? "lit" : "", "data-key": row.key}, ...columns().map((column) => cell(row, column, most)))));
    const rest = rows.length - shown.length;
    fill(byId("report-more"), rest > 0 && make("button", {type: "button", onclick: showAll}, `Show ${many(rest, "more row", "more rows")}`),
      !rows.length && `This pass has no times by ${choice.by}.`);
    notes();
  }

  function showAll() {
    choice.isWhole = true;
    update();
  }

  function chooseGroup(by) {
    Object.assign(choice, {by, isWhole: false, lit: null, sort: "self", rising: false});
    graph.light(null);
    update();
  }

  function start() {
    const options = [...Object.keys(GROUPS), times.hooks.length && "hook", times.locks.length && "lock"].filter(Boolean);
    fill(byId("by"), ...options.map((by) => make("option", {value: by}, by)));
    byId("by").addEventListener("change", (event) => chooseGroup(event.target.value));
    totals();
    update();
  }

  return {start, groups, chooseGroup};
})();
