// Steps through warps' instructions as recorded by the virtual GPU (vgpu/step_recorder.hpp).
"use strict";
(() => {
  const LANES = 32, WORD = 4, SECTOR = 32, LINE = 128;
  const MOST_ROWS = 16, BANDS = 32, CONTEXT = 5;
  const number = (value) => value.toLocaleString("en-US");
  const plural = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
  const has = (mask, lane) => (mask >>> lane) & 1;

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function accessOf(step) {
    const raw = step[5];
    if (!raw) return null;
    const [shared, load, bytes, lanes, units, base, offsets, more] = raw;
    const first = 31 - Math.clz32(lanes & -lanes);
    const address = (lane) =>
      base + (Array.isArray(offsets) ? offsets[lane] : offsets * (lane - first));
    const words = new Map();  // by index in memory: the lanes that access it
    for (let lane = 0; lane < LANES; ++lane) {
      if (!has(lanes, lane)) continue;
      const end = Math.floor((address(lane) + bytes - 1) / WORD);
      for (let word = Math.floor(address(lane) / WORD); word <= end; ++word) {
        if (!words.has(word)) words.set(word, []);
        words.get(word).push(lane);
      }
    }
    const unit = shared ? LINE : SECTOR;
    const least = Math.max(1, Math.ceil((words.size * Math.min(WORD, bytes)) / unit));
    return {shared, load, bytes, lanes, units, words, least, more, address};
  }

  function lanesIn(mask) {
    let count = 0;
    for (let lane = 0; lane < LANES; ++lane) count += has(mask, lane);
    return count;
  }

  class Stepper {
    constructor(section) {
      this.section = section;
      const data = JSON.parse(section.querySelector("script").textContent);
      this.trace = data.trace;
      this.source = data.source;
      this.file = data.file;
      this.warpChoice = this.part("select");
      this.range = this.part("input[type=range]");
      this.onlyAccesses = this.part("input[type=checkbox]");
      for (const warp of this.trace.warps) {
        const option = element("option", "", `${warp.warp}`);
        this.warpChoice.append(option);
      }
      this.warpChoice.addEventListener("change", () => this.chooseWarp());
      this.range.addEventListener("input", () => this.show(Number(this.range.value)));
      for (const button of section.querySelectorAll("button")) {
        button.addEventListener("click", () => this.move(button.dataset.go));
      }
      section.addEventListener("keydown", (event) => this.key(event));
      this.prepareCells();
      if (this.startsAtAccess()) this.warpChoice.selectedIndex = Math.max(0, this.trace.warps.findIndex(
        (warp) => warp.steps.some((step) => this.isAccess(step))));
      this.chooseWarp();
    }

    part(selector) { return this.section.querySelector(selector); }

    get steps() { return this.warp.steps; }

    prepareCells() {
      const cells = this.part(".cells"), count = Math.ceil(this.trace.shared / this.trace.cell);
      this.part(".tiles").hidden = count === 0;
      this.cells = Array.from({length: count}, () => element("i"));
      cells.append(...this.cells);
      this.part(".cell-bytes").textContent = `${this.trace.cell} bytes`;
    }

    chooseWarp() {
      this.warp = this.trace.warps[this.warpChoice.selectedIndex];
      this.range.max = this.steps.length - 1;
      const out = this.warp.instructions - this.warp.shown;
      this.part(".sample").textContent =
        `Warp ${this.warp.warp} executed ${plural(this.warp.instructions, "instruction")}; ` +
        (out > 0 ? `${number(out)} of them, in later iterations of loops, are left out.`
                 : "all of them are here.") +
        (this.trace.complete ? "" : " The recording ended before the block did.");
      this.drawTime();
      this.show(this.start());
    }

    /// A page with data-start="access" begins at the first access to memory instead of the kernel's parameters.
    startsAtAccess() { return this.section.dataset.start === "access"; }

    start() {
      const first = this.steps.findIndex((step) => this.isAccess(step) || step[3].length > 0);
      return this.startsAtAccess() ? Math.max(0, first) : 0;
    }

    isAccess(step) { return step[5] !== undefined; }

    /// "next" and "back" skip other instructions if only accesses are selected.
    target(go) {
      const last = this.steps.length - 1;
      if (go === "first") return 0;
      if (go === "last") return last;
      const by = go === "next" ? 1 : -1;
      let at = this.at + by;
      if (this.onlyAccesses.checked) {
        while (at > 0 && at < last && !this.isAccess(this.steps[at])) at += by;
      }
      return Math.min(last, Math.max(0, at));
    }

    move(go) {
      const together = document.querySelector(".together input");
      for (const stepper of together && together.checked ? steppers : [this]) {
        stepper.show(stepper.target(go));
      }
    }

    key(event) {
      if (/^(INPUT|SELECT)$/.test(event.target.tagName)) return;
      const go = {ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last"}[event.key];
      if (!go || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.move(go);
    }

    show(at) {
      this.at = at;
      this.range.value = at;
      const step = this.steps[at], access = accessOf(step);
      this.part(".said").textContent = this.words(step, access);
      this.range.setAttribute("aria-valuetext", `step ${at + 1} of ${this.steps.length}`);
      this.drawSource(step);
      this.drawLanes(step, access);
      this.drawMemory(access);
      this.drawCells(access);
      this.cursor.setAttribute("x", at);
    }

    place(step) { return this.trace.places[step[0]]; }

    operations(step) {
      const parts = [];
      for (let i = 0; i < step[2].length; i += 2) {
        const times = step[2][i + 1];
        parts.push((times > 1 ? `${times} × ` : "") + this.trace.ops[step[2][i]]);
      }
      return parts.join(", ");
    }

    /// The status line, also for screen readers: location, instruction, and efficiency.
    words(step, access) {
      const where = this.place(step) || "no line";
      let text = `Step ${this.at + 1} of ${this.steps.length}, ${where}: ${this.operations(step)}`;
      const active = lanesIn(access ? access.lanes : step[1]);
      if (!access) {
        text += `, ${plural(active, "lane")}.`;
      } else {
        const unit = access.shared ? "wavefront" : "sector";
        text += ` – ${access.load ? "a load from" : "a store to"} ` +
          `${access.shared ? "shared" : "global"} memory by ${plural(active, "lane")}, ` +
          `${plural(access.bytes, "byte")} each: ${plural(access.units, unit)}`;
        text += access.units > access.least
          ? `, where ${number(access.least)} would do.` : ", the least.";
        if (access.more > 0) {
          text += ` The instruction makes ${plural(access.more, "further access")
            .replace(/accesss$/, "accesses")}.`;
        }
      }
      if (step[4] > 0) text += ` ${plural(step[4], "instruction")} left out before it.`;
      return text;
    }

    /// The step's line of this file, or 0 if it is in another.
    lineOf(step) {
      const place = this.place(step), colon = place.lastIndexOf(":");
      return place.slice(0, colon) === this.file ? Number(place.slice(colon + 1)) : 0;
    }

    /// The line of the latest step in this file, or of the next one if there is none yet.
    nearestLine() {
      const until = this.steps.slice(0, this.at + 1).reverse(), after = this.steps.slice(this.at + 1);
      const step = [...until, ...after].find((each) => this.lineOf(each) > 0);
      return step ? this.lineOf(step) : 0;
    }

    drawSource(step) {
      const place = this.place(step), here = this.lineOf(step) > 0;
      this.line = this.nearestLine();
      const code = this.part(".code");
      const first = Math.max(1, Math.min(this.line - CONTEXT, this.source.length - 2 * CONTEXT));
      const rows = [];
      for (let i = first; i <= Math.min(this.source.length, first + 2 * CONTEXT); ++i) {
        const row = element("span", i === this.line ? (here ? "now" : "then") : "");
        row.append(element("b", "", `${i}`), ` ${this.source[i - 1]}\n`);
        if (i === this.line && here) row.setAttribute("aria-current", "step");
        rows.push(row);
      }
      code.replaceChildren(...rows);
      this.part(".elsewhere").textContent =
        here || !place ? "" : `This instruction is of ${place}, which the marked line uses.`;
    }

    drawLanes(step, access) {
      const lanes = this.part(".lanes"), mask = access ? access.lanes : step[1];
      const groups = new Map();  // by sector or bank
      const cells = [];
      for (let lane = 0; lane < LANES; ++lane) {
        const cell = element("i", has(mask, lane) ? "on" : "", `${lane}`);
        if (access && has(mask, lane)) {
          const at = access.address(lane);
          const group = Math.floor(access.shared ? at / WORD : at / SECTOR);
          if (!groups.has(group)) groups.set(group, groups.size);
          cell.classList.add(`tone${groups.get(group) % 4}`);
        }
        cells.push(cell);
      }
      lanes.replaceChildren(...cells);
      lanes.setAttribute("aria-label", `${lanesIn(mask)} of 32 lanes are active`);
    }

    drawMemory(access) {
      const memory = this.part(".memory"), title = this.part(".memory-title");
      memory.replaceChildren();
      if (!access) {
        title.textContent = "This step accesses no memory lane by lane.";
        return;
      }
      const lines = [...new Set([...access.words.keys()].map((word) => Math.floor(word / 32)))];
      lines.sort((a, b) => a - b);
      const ofBank = new Array(LANES).fill(0);
      for (const word of access.words.keys()) ++ofBank[word % LANES];
      title.textContent = access.shared
        ? `Shared memory: ${plural(lines.length, "row")} of 32 banks; ` +
          (access.units > access.least ? "orange banks are accessed at several addresses"
                                       : "no bank is accessed twice")
        : `Global memory: ${plural(lines.length, "line")} of 128 bytes; pale sectors are fetched, ` +
          "solid words are used";
      if (lines.length > MOST_ROWS) title.textContent += `; the first ${MOST_ROWS} are drawn`;
      for (const line of lines.slice(0, MOST_ROWS)) {
        memory.append(element("b", "", `+${number((line - lines[0]) * LINE)}`));
        for (let column = 0; column < LANES; ++column) {
          const who = access.words.get(line * LANES + column);
          const cell = element("i", who ? "used" : "", who ? `${who[0]}` : "");
          const sector = line * LANES + column - (column % 8);
          const fetched = !access.shared && Array.from({length: 8}, (_, i) => sector + i)
            .some((word) => access.words.has(word));
          if (fetched) cell.classList.add("fetched");
          if (column % 8 === 0) cell.classList.add("begins");
          if (who && access.shared && ofBank[column] > 1 && access.units > access.least) {
            cell.classList.add("conflict");
          }
          if (who) cell.title = `lanes ${who.join(", ")}`;
          memory.append(cell);
        }
      }
      memory.setAttribute("aria-label", title.textContent);
    }

    cellsRead(access) {
      const cells = new Set();
      if (!access || !access.shared || !access.load) return cells;
      for (const word of access.words.keys()) cells.add(Math.floor((word * WORD) / this.trace.cell));
      return cells;
    }

    drawCells(access) {
      if (this.cells.length === 0) return;
      const filled = new Array(this.cells.length).fill("");
      for (let i = 0; i <= this.at; ++i) {
        const ranges = this.steps[i][3];
        if (this.isBarrier(this.steps[i])) {
          for (let c = 0; c < filled.length; ++c) if (filled[c]) filled[c] = "old";
        }
        for (let r = 0; r < ranges.length; r += 2) {
          filled.fill("new", ranges[r], ranges[r] + ranges[r + 1]);
        }
      }
      const read = this.cellsRead(access);
      this.cells.forEach((cell, i) => {
        const name = filled[i] + (read.has(i) ? " read" : "");
        if (cell.className !== name) cell.className = name;
      });
      const count = filled.filter((name) => name !== "").length;
      this.part(".filled").textContent =
        `${number(count * this.trace.cell)} of ${number(this.trace.shared)} bytes written so far` +
        (read.size > 0 ? `; this step reads ${plural(read.size, "cell")}` : "");
    }

    isBarrier(step) { return /^(bar|barrier|mbarrier)/.test(this.trace.ops[step[2][0]]); }

    /// The writes and reads of shared memory over time.
    drawTime() {
      const time = this.part(".time"), space = "http://www.w3.org/2000/svg";
      const bands = Math.min(BANDS, Math.max(1, this.cells.length));
      const band = (cell) => Math.floor((cell * bands) / Math.max(1, this.cells.length));
      time.setAttribute("viewBox", `0 0 ${this.steps.length} ${bands}`);
      const rect = (name, x, y, height) => {
        const made = document.createElementNS(space, "rect");
        made.setAttribute("class", name);
        for (const [key, value] of Object.entries({x, y, width: 1, height})) {
          made.setAttribute(key, value);
        }
        return made;
      };
      const marks = [];
      this.steps.forEach((step, x) => {
        if (this.isBarrier(step)) marks.push(rect("wait", x, 0, bands));
        const written = new Set();
        for (let r = 0; r < step[3].length; r += 2) {
          const last = band(step[3][r] + step[3][r + 1] - 1);
          for (let b = band(step[3][r]); b <= last; ++b) written.add(b);
        }
        const read = new Set([...this.cellsRead(accessOf(step))].map(band));
        for (const b of read) marks.push(rect("reads", x, b, 1));
        for (const b of written) marks.push(rect("writes", x, b, 1));
      });
      this.cursor = rect("cursor", 0, 0, bands);
      time.replaceChildren(...marks, this.cursor);
    }
  }

  const steppers = [];
  for (const section of document.querySelectorAll(".stepper")) steppers.push(new Stepper(section));
})();
