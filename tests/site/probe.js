// Added to a copy of a page by browser_test.py: measures the page, works its controls, and prints one line on the console.
"use strict";
(() => {
  const problems = [];
  const name = (element) => `${element.tagName.toLowerCase()}${element.className && typeof element.className === "string" ? `.${element.className.split(" ")[0]}` : ""}`;
  addEventListener("error", (event) => {
    problems.push(event.message || `${event.target.src || event.target.href} does not load`);
  }, true);

  // --- colours: painted on a canvas, which knows every notation

  const context = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
  const known = new Map();
  function rgba(colour) {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      known.set(colour, [...context.getImageData(0, 0, 1, 1).data].map((value, i) => i === 3 ? value / 255 : value));
    }
    return known.get(colour);
  }
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  function background(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), rgba("white"));
  }
  function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(element) {
    const below = background(element), [a, b] = [luminance(over(rgba(getComputedStyle(element).color), below)), luminance(below)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  function checkText() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = new Set();
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const kind = [element, element.parentElement, element.closest("td, li, pre, section")].map((at) => at && name(at) + at.className).join(" ");
      if (!walker.currentNode.data.trim() || seen.has(kind) || element.closest("script, svg, noscript, .visually-hidden, .skip")) continue;
      if (!element.checkVisibility({checkVisibilityCSS: true, checkOpacity: true})) continue;
      seen.add(kind);  // one of a kind is enough, and source code has thousands
      const size = parseFloat(getComputedStyle(element).fontSize);
      if (size > 0 && size < 9) problems.push(`text of ${size} pixels in ${name(element)}: ${walker.currentNode.data.trim().slice(0, 20)}`);
      if (size > 0 && contrast(element) < 4.5) {
        problems.push(`contrast ${contrast(element).toFixed(2)} in ${name(element)}: ${walker.currentNode.data.trim().slice(0, 20)}`);
      }
    }
  }

  /// Labels in pictures must stay readable where a picture shrinks.
  function checkPictures() {
    for (const picture of document.querySelectorAll("svg[viewBox]")) {
      if (!picture.checkVisibility() || !picture.querySelector("text")) continue;
      const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
      const least = Math.min(...[...picture.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize)));
      if (scale * least < 7) problems.push(`labels of ${(scale * least).toFixed(1)} pixels in a picture`);
    }
  }

  function checkWidth() {
    const page = document.documentElement;
    if (page.scrollWidth <= page.clientWidth) return;
    const wide = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > page.clientWidth + 1);
    problems.push(`the page is ${page.scrollWidth} pixels wide: ${[...new Set(wide.slice(-4).map(name))].join(", ")}`);
  }

  // --- controls

  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const change = (element, value) => {
    element.value = value;
    element.dispatchEvent(new Event("input", {bubbles: true}));
    element.dispatchEvent(new Event("change", {bubbles: true}));
  };

  async function benchmarks() {
    for (let i = 0; i < 600 && find(".plot").hidden; ++i) await pause(50);
    const does = {points: all(".plot .point").length, boxes: all(".plot .box").length, rows: all(".data tbody tr").length};
    const point = find(".plot .point").getBoundingClientRect();
    find(".plot svg").dispatchEvent(new PointerEvent("pointermove", {clientX: point.x + 2, clientY: point.y + 2, bubbles: true}));
    does.tip = /\d+ × \d+ × \d+.*µs/.test(find(".plot .tip").textContent);
    const count = () => Number(find(".shapes [role=status]").textContent.match(/of (\d+)/)[1]);
    does.all = count();
    change(find(".shapes input"), "f32 nn");
    does.filtered = count();
    change(find(".shapes input"), "");
    all(".data th button").find((button) => button.textContent === "rate").click();
    does.sorted = all(".data tbody tr").slice(0, 20).map((row) => {
      const [value, unit] = row.cells[5].textContent.split(" ");
      return Number(value) * (unit === "TFLOP/s" ? 1000 : 1);
    });
    const ecdf = find("input[value=ecdf]");
    ecdf.checked = true;
    ecdf.dispatchEvent(new Event("change", {bubbles: true}));
    does.curves = all(".plot .curve").length;
    return does;
  }

  function scrubber() {
    const range = find(".scrubber input[type=range]"), rate = () => find(".scrubber .rate").textContent;
    const ahead = () => find(".scrubber").querySelectorAll("tr.ahead").length;
    const first = rate(), before = ahead();
    change(range, range.max);
    return {first, last: rate(), ahead: [before, ahead()]};
  }

  async function landing() {
    const panels = () => all("[role=tabpanel]").map((panel) => !panel.hidden), before = panels();
    all("[role=tab]")[1].click();
    const after = panels();
    all("[role=tab]")[0].click();
    const field = find(".search input");
    field.focus();
    change(field, "bank conflict");
    for (let i = 0; i < 200 && find("#found").hidden; ++i) await pause(50);
    field.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true}));
    const chosen = document.getElementById(field.getAttribute("aria-activedescendant"));
    const does = {panels: [before, after], found: all("#found [data-url]").length, url: chosen ? chosen.dataset.url : ""};
    field.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
    return does;
  }

  async function work() {
    const does = {};
    if (find(".plot")) Object.assign(does, await benchmarks());
    if (find(".scrubber")) Object.assign(does, scrubber());
    if (find(".landing")) Object.assign(does, await landing());
    if (find(".stepper")) Object.assign(does, {said: find(".stepper .said").textContent, used: all(".stepper .memory .used").length});
    if (find("a.term")) {
      const word = all("a.term").find((term) => term.textContent === "warp") || find("a.term");
      word.dispatchEvent(new FocusEvent("focus"));
      does.about = find("#about").textContent;
      word.dispatchEvent(new FocusEvent("blur"));
    }
    return does;
  }

  async function accessibility() {
    if (!window.axe) return;
    const drawn = ["table.source", ".picture", ".stepper .cells", ".stepper .time", ".plot svg", "table.sortable tbody", "table.data tbody"];  // thousands of elements
    const result = await axe.run({exclude: drawn.map((selector) => [selector])}, {preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
      resultTypes: ["violations"]});
    for (const {id, nodes} of result.violations) {
      problems.push(`axe ${id}: ${nodes.slice(0, 2).map((node) => node.html.slice(0, 90)).join(" | ")}`);
    }
  }

  addEventListener("load", async () => {
    const page = location.pathname.split("/site/").pop().replace("probe-", "");
    let does = {};
    try {
      does = await work();
      checkWidth();
      checkText();
      checkPictures();
      await accessibility();
    } catch (problem) {
      problems.push(String(problem.stack || problem));
    }
    console.info("probe: " + JSON.stringify({
      page, does, width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches, problems: [...new Set(problems)].slice(0, 12),
    }));
  });
})();
