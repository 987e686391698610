// Search, words of the glossary, tabs, the sidebar and sortable tables. Pages work without it, except for the search.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const make = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // --- search: the index is a script, loaded when the field is first used

  const field = document.querySelector(".search input"), list = document.getElementById("found");
  let entries = null, isLoading = false, selected = -1;
  window.rungSearch = (all) => {
    entries = all.map(([kind, url, title, page, text]) =>
      ({kind, url, title, page, text, inTitle: `${title} ${page}`.toLowerCase(), inText: text.toLowerCase()}));
    show();
  };

  function load() {
    if (isLoading) return;
    isLoading = true;
    const script = make("script");
    script.src = `${root}assets/search-index.js`;
    document.head.append(script);
  }

  /// Zero if a word is missing. Titles count more than text, and beginnings of words more than middles.
  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      const begins = new RegExp(`(^|[^a-z0-9])${word.replace(/[^a-z0-9]/g, "\\$&")}`);
      const points = begins.test(entry.inTitle) ? 12 : entry.inTitle.includes(word) ? 6 : begins.test(entry.inText) ? 2
        : entry.inText.includes(word) ? 1 : 0;
      if (points === 0) return 0;
      sum += points;
    }
    return sum + (entry.kind === "Word" ? 3 : 0) + (entry.title.toLowerCase() === words.join(" ") ? 20 : 0);
  }

  function marked(text, words, className) {
    const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
    const from = at > 40 ? at - 30 : 0, span = make("span", className);
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[^a-z0-9]/g, "\\$&")).join("|")})`, "gi");
    (from ? "…" : "").concat(text.slice(from, from + 160)).split(pattern).forEach((piece, i) => {
      span.append(i % 2 ? make("mark", "", piece) : piece);
    });
    return span;
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    selected = -1;
    field.removeAttribute("aria-activedescendant");
    if (!entries || words.length === 0) return close();
    const found = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, 12);
    list.replaceChildren(...found.map(([, entry], i) => {
      const item = make("li");
      item.id = `found-${i}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.url = root + entry.url;
      item.append(make("span", "kind", entry.page ? `${entry.kind}: ${entry.page}` : entry.kind), marked(entry.title, words, ""),
                  marked(entry.text, words, "excerpt"));
      item.addEventListener("mousedown", (event) => { event.preventDefault(); location.href = item.dataset.url; });
      return item;
    }));
    if (found.length === 0) {
      const none = make("li", "", "Nothing found");
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      list.append(none);
    }
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  }

  function close() {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }

  function select(by) {
    const items = list.querySelectorAll("li[data-url]");
    if (list.hidden || items.length === 0) return;
    if (items[selected]) items[selected].setAttribute("aria-selected", "false");
    selected = (selected + by + items.length + (selected < 0 && by < 0 ? 1 : 0)) % items.length;
    items[selected].setAttribute("aria-selected", "true");
    items[selected].scrollIntoView({block: "nearest"});
    field.setAttribute("aria-activedescendant", items[selected].id);
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", () => { load(); show(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      select(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      const item = list.querySelectorAll("li[data-url]")[Math.max(0, selected)];
      if (!list.hidden && item) location.href = item.dataset.url;
    } else if (event.key === "Escape") {
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    field.focus();
  });

  // --- words of the glossary: their entry, on hover and on focus

  let about = null;
  function explain(word) {
    const text = document.getElementById(word.getAttribute("aria-describedby"));
    if (!text) return;
    about = about || document.body.appendChild(make("div"));
    about.id = "about";
    about.setAttribute("aria-hidden", "true");  // the link itself is described by it
    about.textContent = text.textContent;
    about.hidden = false;
    const at = word.getBoundingClientRect(), width = about.offsetWidth;
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
    about.style.left = `${left + scrollX}px`;
    const below = at.bottom + 6 + about.offsetHeight < innerHeight;
    about.style.top = `${(below ? at.bottom + 6 : at.top - 6 - about.offsetHeight) + scrollY}px`;
  }
  const hide = () => { if (about) about.hidden = true; };
  for (const word of document.querySelectorAll("a.term")) {
    for (const event of ["mouseenter", "focus"]) word.addEventListener(event, () => explain(word));
    for (const event of ["mouseleave", "blur"]) word.addEventListener(event, hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // --- tabs

  for (const tabs of document.querySelectorAll("[role=tablist]")) {
    const all = [...tabs.querySelectorAll("[role=tab]")];
    const choose = (tab) => {
      for (const other of all) {
        other.setAttribute("aria-selected", other === tab);
        other.tabIndex = other === tab ? 0 : -1;
        document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
      }
    };
    all.forEach((tab, i) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!by) return;
        const next = all[(i + by + all.length) % all.length];
        choose(next);
        next.focus();
      });
    });
  }

  // --- the sidebar is open beside the page, and closed above it

  const sidebar = document.querySelector(".sidebar"), wide = matchMedia("(min-width: 60rem)");
  if (sidebar) {
    const fit = () => { sidebar.open = wide.matches; };
    wide.addEventListener("change", fit);
    fit();
    const current = sidebar.querySelector("[aria-current]");
    if (wide.matches && current && current.offsetTop > sidebar.clientHeight - 80) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 3;
  }

  // --- sortable tables

  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = make("button", "", heading.textContent);
      button.type = "button";
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const falls = heading.getAttribute("aria-sort") !== "descending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const of = (row) => {
          const cell = row.cells[column], value = Number(cell.dataset.value ?? cell.textContent);
          return Number.isNaN(value) ? cell.textContent : value;
        };
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [x, y] = [of(a), of(b)];
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return falls ? -order : order;
        });
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
