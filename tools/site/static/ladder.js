// The scrubber over a ladder, and the switch between one source and two.
"use strict";
(() => {
  for (const section of document.querySelectorAll(".scrubber")) {
    const chart = JSON.parse(section.querySelector("script").textContent);
    const rungs = chart.bars.filter((bar) => bar.kind === "rung");
    const part = (name) => section.querySelector(name);
    const bars = [...section.querySelectorAll(".ladder-bars tr.rung")], range = part("input"), play = part("button");
    const link = part(".which a"), root = document.body.dataset.root;
    let timer = null;

    const show = (at) => {
      const rung = rungs[at];
      range.value = at;
      range.setAttribute("aria-valuetext", `${rung.number} ${rung.title}: ${rung.text}`);
      bars.forEach((bar, i) => {
        bar.classList.toggle("ahead", i > at);
        bar.classList.toggle("grown", i <= at);
        bar.classList.toggle("current", i === at);
      });
      link.textContent = `${rung.number} ${rung.title}`;
      link.href = root + rung.url;
      part(".rate").textContent = rung.text;
      const facts = [rung.gain && `${rung.gain} the first rung`, chart.peer && `${rung.of_peer} of ${chart.peer}`,
                     rung.of_ceiling && `${rung.of_ceiling} of the ceiling`];
      part(".compare").textContent = facts.filter(Boolean).join(" · ");
      part(".idea").textContent = rung.idea;
    };

    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "▶";
      play.setAttribute("aria-label", "Climb the ladder");
    };
    play.addEventListener("click", () => {
      if (timer) return stop();
      let at = Number(range.value) === rungs.length - 1 ? -1 : Number(range.value);
      const step = () => {
        show(++at);
        if (at === rungs.length - 1) stop();
      };
      timer = setInterval(step, 1100);
      play.textContent = "❚❚";
      play.setAttribute("aria-label", "Stop");
      step();
    });
    range.addEventListener("input", () => { stop(); show(Number(range.value)); });
    part(".stage").classList.remove("bars-only");
    part(".control").hidden = false;
    show(0);
  }

  const beside = document.querySelector(".switch .beside"), table = document.querySelector("table.source");
  if (beside && table) {
    const fit = () => table.classList.toggle("single", !beside.checked);
    beside.addEventListener("change", fit);
    fit();
  }
})();
