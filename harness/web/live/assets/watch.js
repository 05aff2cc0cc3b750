// What both live pages share: their data, the theme and the help of the replay page, and a list that changes in place.
const LIVE = JSON.parse(byId("live-data").textContent);

const THEMES = ["system", "light", "dark"];
let theme = 0;
byId("theme").addEventListener("click", () => {
  theme = (theme + 1) % THEMES.length;
  byId("theme").textContent = `◐ ${THEMES[theme]}`;
  byId("theme").setAttribute("aria-label", `Theme: ${THEMES[theme]}`);
  document.documentElement.dataset.theme = THEMES[theme];
});
const help = () => { if (!byId("help").open) byId("help").showModal(); };
byId("help-open").addEventListener("click", help);
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !event.target.matches("select, textarea, input:not([type=range]):not([type=checkbox])")) help();
});

// Only what differs is touched: a person may be reading it, or have the focus in it.
function fill(box, texts, item) {
  const old = JSON.stringify(texts);
  if (box.dataset.filled === old) return;
  box.dataset.filled = old;
  box.replaceChildren(...texts.map(item));
}

function state(id, kind, words) {
  const pill = byId(id);
  if (pill.textContent === words) return;
  pill.textContent = words;
  pill.className = `pill ${kind}`;
}
