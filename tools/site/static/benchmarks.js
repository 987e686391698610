// Random shapes: box plots or distributions for each type, the shape under the pointer, and a table of all of them.
"use strict";
(() => {
  const form = document.querySelector("#random form"), plot = document.querySelector("#random .plot");
  const canvas = plot.querySelector(".canvas"), caption = plot.querySelector("figcaption"), shapes = document.querySelector(".shapes");
  const table = shapes.querySelector("table"), filter = shapes.querySelector("input"), more = shapes.querySelector(".more");
  const status = shapes.querySelector("[role=status]"), root = document.body.dataset.root;
  const SPACE = "http://www.w3.org/2000/svg", PAGE = 50;
  const HUES = ["blue", "orange", "green", "purple", "ink", "grey"], DASHES = ["", "7 3", "2 3", "9 3 2 3"];
  const machines = {};
  let rows = [], marks = [], limit = PAGE, order = {column: "ratio", falls: false}, off = new Set();

  const make = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const draw = (name, attributes, text) => {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const three = (value) => value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  const rate = (gflops) => gflops >= 1000 ? `${three(gflops / 1000)} TFLOP/s` : `${three(gflops)} GFLOP/s`;
  const time = (seconds) => seconds < 1e-3 ? `${three(seconds * 1e6)} µs` : `${three(seconds * 1e3)} ms`;
  const sized = (row) => `${row.m} × ${row.n} × ${row.k}`;
  const chosen = (name) => form.elements[name].value;

  // --- data

  window.rungBenchmarks = (folder, data) => {
    machines[folder] = data.rows.map(([dtype, layout, m, n, k, ratio, seconds, gflops, peer, peerSeconds, rung, threads, limit]) => ({
      dtype: data.names.dtype[dtype], layout: data.names.layout[layout], m, n, k, ratio, seconds, gflops,
      peer: data.names.peer[peer], peerSeconds, rung: data.names.rung[rung], threads, limit,
    }));
    if (chosen("machine") === folder) ready();
  };

  function load() {
    const folder = chosen("machine");
    if (machines[folder]) return ready();
    const script = make("script");
    script.src = `${root}benchmarks/${folder}.js`;
    document.head.append(script);
  }

  // --- controls

  function fill(name, values, text) {
    const control = form.elements[name], before = control.value;
    control.replaceChildren(...values.map((value) => {
      const option = make("option", "", text(value));
      option.value = value;
      return option;
    }));
    if (values.map(String).includes(before)) control.value = before;
    const label = form.querySelector(`[data-for=${name}]`);
    if (label) label.hidden = values.length < 2;
  }

  function ready() {
    const all = machines[chosen("machine")], distinct = (column) => [...new Set(all.map((row) => row[column]))];
    fill("threads", distinct("threads").sort((a, b) => a - b), String);
    fill("limit", distinct("limit").sort((a, b) => b - a), String);
    fill("layout", ["all", ...distinct("layout").sort()], (value) => value === "all" ? "all" : value);
    const types = distinct("dtype").sort(), fieldset = form.querySelector(".types");
    const legend = fieldset.querySelector("legend");
    fieldset.replaceChildren(legend, ...types.map((type) => {
      const label = make("label"), box = make("input");
      box.type = "checkbox";
      box.value = type;
      box.checked = !off.has(type);
      box.addEventListener("change", () => { if (box.checked) off.delete(type); else off.add(type); update(); });
      label.append(box, type);
      return label;
    }));
    form.hidden = plot.hidden = shapes.hidden = false;
    update();
  }

  function update() {
    const layout = chosen("layout");
    rows = machines[chosen("machine")].filter((row) =>
      !off.has(row.dtype) && String(row.threads) === chosen("threads") && String(row.limit) === chosen("limit") &&
      (layout === "all" || row.layout === layout));
    limit = PAGE;
    drawPlot();
    fillTable();
  }

  // --- the plot

  const quantile = (sorted, part) => {
    const at = part * (sorted.length - 1), low = Math.floor(at);
    return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
  };

  function byType() {
    const types = new Map();
    for (const row of rows) types.set(row.dtype, [...(types.get(row.dtype) || []), row]);
    return [...types].sort(([a], [b]) => a < b ? -1 : 1)
      .map(([type, of]) => [type, of.sort((a, b) => a.ratio - b.ratio)]);
  }

  function drawPlot() {
    const groups = byType(), kind = chosen("kind"), width = canvas.clientWidth || 600;
    marks = [];
    if (groups.length === 0) {
      canvas.replaceChildren(make("p", "soft", "No shape fits this choice."));
      caption.textContent = "";
      return;
    }
    const ratios = rows.map((row) => row.ratio).sort((a, b) => a - b);
    const low = Math.min(0.5, ratios[0] * 0.95), high = Math.max(2, quantile(ratios, 0.995) * 1.15);
    const isBox = kind === "box", left = isBox ? (width < 600 ? 70 : 90) : 40, right = 14;
    const line = 54, top = 26, height = isBox ? top + groups.length * line + 30 : 380;
    const x = (ratio) => left + (width - left - right) * Math.log(Math.min(ratio, high) / low) / Math.log(high / low);
    const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": describe(groups)});
    axis(svg, x, low, high, top, height - 30, width);
    if (isBox) boxes(svg, groups, x, top, line); else curves(svg, groups, x, top, height - 30, left, width - right);
    const here = draw("circle", {class: "here", r: 6, visibility: "hidden"}), tip = make("div", "tip");
    svg.append(here);
    tip.hidden = true;
    canvas.replaceChildren(svg, tip);
    svg.addEventListener("pointermove", (event) => point(event, svg, here, tip, width));
    svg.addEventListener("pointerdown", (event) => point(event, svg, here, tip, width));
    svg.addEventListener("pointerleave", () => { tip.hidden = true; here.setAttribute("visibility", "hidden"); });
    const beyond = ratios.filter((ratio) => ratio > high).length;
    caption.textContent = (isBox
      ? "Each point is a shape. Box: the middle half, with the median; whiskers: from the 5th to the 95th percentile. Right of 1, Rung is faster."
      : "The share of shapes whose ratio is at most this. A curve further to the right is better; left of 1, the vendor’s library is faster.") +
      (beyond > 0 ? ` ${beyond} beyond the axis ${beyond > 1 ? "are" : "is"} drawn at its edge.` : "");
  }

  const describe = (groups) => "Ratio of the fastest peer’s time to Rung’s. " + groups.map(([type, of]) => {
    const ratios = of.map((row) => row.ratio);
    return `${type}: median ${quantile(ratios, 0.5).toFixed(2)}, 5th percentile ${quantile(ratios, 0.05).toFixed(2)}, ${of.length} shapes`;
  }).join("; ");

  function axis(svg, x, low, high, top, bottom, width) {
    const ticks = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128].filter((tick) => tick >= low && tick <= high);
    let last = -99;
    for (const tick of ticks) {
      if (x(tick) - last < 34 && tick !== 1) continue;
      last = x(tick);
      svg.append(draw("line", {class: tick === 1 ? "one" : "grid", x1: x(tick), x2: x(tick), y1: top - 8, y2: bottom}));
      svg.append(draw("text", {class: "soft", x: x(tick), y: bottom + 18, "text-anchor": "middle"}, `${tick}×`));
    }
    if (width > 500) {
      svg.append(draw("text", {class: "soft", x: x(1) - 8, y: 12, "text-anchor": "end"}, "← peer faster"));
      svg.append(draw("text", {class: "soft", x: x(1) + 8, y: 12}, "Rung faster →"));
    }
  }

  function boxes(svg, groups, x, top, line) {
    groups.forEach(([type, of], i) => {
      const y = top + i * line + line / 2, ratios = of.map((row) => row.ratio), at = (part) => x(quantile(ratios, part));
      of.forEach((row, j) => {
        const shift = (((j * 0.618034) % 1) - 0.5) * 34;  // spread evenly, the same way each time
        marks.push({x: x(row.ratio), y: y + shift, row});
        svg.append(draw("circle", {class: row.ratio < 1 ? "point slow" : "point", cx: x(row.ratio), cy: y + shift, r: 2.6}));
      });
      svg.append(draw("line", {class: "whisker", x1: at(0.05), x2: at(0.25), y1: y, y2: y}),
                 draw("line", {class: "whisker", x1: at(0.75), x2: at(0.95), y1: y, y2: y}),
                 draw("rect", {class: "box", x: at(0.25), width: Math.max(1, at(0.75) - at(0.25)), y: y - 9, height: 18, rx: 2}),
                 draw("line", {class: "middle", x1: at(0.5), x2: at(0.5), y1: y - 9, y2: y + 9}),
                 draw("text", {x: 0, y: y - 1}, type),
                 draw("text", {class: "soft", x: 0, y: y + 14}, `${quantile(ratios, 0.5).toFixed(2)}×`));
    });
  }

  function curves(svg, groups, x, top, bottom, left, right) {
    const y = (share) => bottom - (bottom - top) * share;
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(draw("line", {class: "grid", x1: left, x2: right, y1: y(share), y2: y(share)}),
                 draw("text", {class: "soft", x: left - 6, y: y(share) + 4, "text-anchor": "end"}, `${100 * share}%`));
    }
    groups.forEach(([type, of], i) => {
      const style = `stroke: var(--${HUES[i % HUES.length]}); stroke-dasharray: ${DASHES[Math.floor(i / 2) % DASHES.length] || "none"}`;
      let path = `M${x(of[0].ratio)} ${y(0)}`;
      of.forEach((row, j) => {
        path += `V${y((j + 1) / of.length)}H${x(of[Math.min(j + 1, of.length - 1)].ratio)}`;
        marks.push({x: x(row.ratio), y: y((j + 1) / of.length), row});
      });
      svg.append(draw("path", {class: "curve", d: path, style}));
      const key = top + 12 + i * 20;
      svg.append(draw("line", {x1: right - 104, x2: right - 78, y1: key - 4, y2: key - 4, style: `${style}; stroke-width: 2`}),
                 draw("text", {x: right - 70, y: key}, type));
    });
  }

  /// Shows the shape next to the pointer.
  function point(event, svg, here, tip, width) {
    const box = svg.getBoundingClientRect(), px = (event.clientX - box.left) * width / box.width, py = event.clientY - box.top;
    let nearest = null, least = 30 * 30;
    for (const mark of marks) {
      const distance = (mark.x - px) ** 2 + (mark.y - py) ** 2;
      if (distance < least) { least = distance; nearest = mark; }
    }
    tip.hidden = nearest === null;
    here.setAttribute("visibility", nearest ? "visible" : "hidden");
    if (!nearest) return;
    here.setAttribute("cx", nearest.x);
    here.setAttribute("cy", nearest.y);
    const row = nearest.row;
    tip.replaceChildren(make("strong", "", sized(row)), make("br"), `${row.dtype}, ${row.layout}: ${row.ratio.toFixed(2)}×`, make("br"),
                        `${time(row.seconds)}, ${row.peer} ${time(row.peerSeconds)}`, make("br"), `${rate(row.gflops)}, kernel ${row.rung}`);
    tip.style.left = `${Math.max(0, Math.min(nearest.x + 12, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${nearest.y + 12}px`;
  }

  // --- the table

  const COLUMNS = [
    ["shape", "m × n × k", sized, (row) => row.m * row.n * row.k], ["ratio", "ratio", (row) => `${row.ratio.toFixed(2)}×`, (row) => row.ratio],
    ["dtype", "type", (row) => row.dtype], ["layout", "layout", (row) => row.layout], ["seconds", "time", (row) => time(row.seconds), (row) => row.seconds],
    ["gflops", "rate", (row) => rate(row.gflops), (row) => row.gflops], ["peer", "fastest peer", (row) => row.peer],
    ["peerSeconds", "its time", (row) => time(row.peerSeconds), (row) => row.peerSeconds], ["rung", "kernel", (row) => row.rung],
  ];

  const WORDS = new Set(["dtype", "layout", "peer", "rung"]);

  function headings() {
    table.tHead.rows[0].replaceChildren(...COLUMNS.map(([name, title]) => {
      const heading = make("th"), button = make("button", "", title);
      if (WORDS.has(name)) heading.className = "word";
      heading.scope = "col";
      button.type = "button";
      button.addEventListener("click", () => {
        order = {column: name, falls: order.column === name ? !order.falls : name !== "ratio"};
        headings();
        fillTable();
        table.tHead.rows[0].cells[COLUMNS.findIndex((column) => column[0] === name)].firstChild.focus();
      });
      if (order.column === name) heading.setAttribute("aria-sort", order.falls ? "descending" : "ascending");
      heading.append(button);
      return heading;
    }));
  }

  function fillTable() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), [, , text, value] = COLUMNS.find((column) => column[0] === order.column);
    const of = value || text;
    const fits = (row) => {
      const tokens = COLUMNS.map((column) => column[2](row)).join(" ").toLowerCase();
      return words.every((word) => tokens.includes(word));
    };
    const found = rows.filter(fits).sort((a, b) => {
      const [x, y] = [of(a), of(b)], by = typeof x === "number" ? x - y : String(x).localeCompare(String(y));
      return order.falls ? -by : by;
    });
    table.tBodies[0].replaceChildren(...found.slice(0, limit).map((row) => {
      const made = make("tr");
      for (const [name, , shown] of COLUMNS) {
        const hue = name !== "ratio" ? "" : row.ratio < 0.995 ? "slower" : row.ratio >= 1.005 ? "faster" : "";
        made.append(make("td", WORDS.has(name) ? "word" : hue, shown(row)));
      }
      return made;
    }));
    more.hidden = found.length <= limit;
    status.textContent = `${Math.min(limit, found.length)} of ${found.length} shapes`;
  }

  form.addEventListener("change", (event) => {
    if (event.target.name === "machine") load(); else if (event.target.name) update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", () => { limit = PAGE; fillTable(); });
  more.addEventListener("click", () => { limit += 200; fillTable(); });
  let width = 0;
  new ResizeObserver(() => {
    if (plot.hidden || canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    drawPlot();
  }).observe(canvas);
  headings();
  if (form.elements.machine.options.length > 0) load();
})();
