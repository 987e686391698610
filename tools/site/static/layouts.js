// The layout explorer: shows the picture of the chosen values. Without this script, a list links to all pictures.
"use strict";
for (const section of document.querySelectorAll(".layouts")) {
  const form = section.querySelector("form"), image = section.querySelector("img"), caption = section.querySelector("figcaption code");
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    const values = [...form.elements].map((element) => element.value);
    const link = section.querySelector(`a[href="${[section.id, ...values].join("-")}.svg"]`);
    image.src = link.getAttribute("href");
    image.alt = link.textContent;
    image.width = link.dataset.width;
    image.height = link.dataset.height;
    caption.textContent = link.dataset.command;
  });
}
