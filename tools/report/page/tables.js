// Interactive tables of a report with several pages: clicking a heading sorts the table, an input
// field above it filters rows, and hovering over a number shows all digits. Without this script,
// the tables are static.
"use strict";

for (const data of document.querySelectorAll("data")) data.title = data.value;

const number = (cell) => {
  const data = cell.querySelector("data");
  return data ? Number(data.value) : NaN;
};

const compare = (a, b) => {
  const x = number(a), y = number(b);
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return a.textContent.localeCompare(b.textContent, "en", {numeric: true});
};

// The order after the first click: descending for numbers, ascending for texts.
const first = (rows, column) => rows.some((row) => !Number.isNaN(number(row.cells[column])));

const sort = (table, column, heading) => {
  const body = table.tBodies[0], rows = [...body.rows];
  const before = heading.getAttribute("aria-sort");
  const falls = before ? before === "ascending" : first(rows, column);
  rows.sort((a, b) => compare(a.cells[column], b.cells[column]) * (falls ? -1 : 1));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
  body.append(...rows);
};

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(table, column, heading));
    heading.append(button);
  });
  const label = document.createElement("label"), field = document.createElement("input");
  const told = document.createElement("span");
  field.type = "search";
  told.className = "soft";
  told.setAttribute("aria-live", "polite");
  label.className = "filter";
  label.append("Rows with ", field, " ", told);
  table.parentElement.before(label);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    told.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length}` : "";
  });
}
