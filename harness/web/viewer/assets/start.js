// What the page does first, and what its address means.
const dataOf = (id) => { const node = byId(id); return node && JSON.parse(node.textContent); };
const PAGE_NAME = /^[A-Za-z0-9._-]+\.html$/;
const listing = dataOf("listing-data");
let opened = null, writing = 0, scrolled = 0, came = null;

const THEMES = ["system", "light", "dark"];
let theme = 0;
function setTheme(wanted) {
  theme = Math.max(0, wanted);
  byId("theme").textContent = `◐ ${THEMES[theme]}`;
  byId("theme").setAttribute("aria-label", `Theme: ${THEMES[theme]}`);
  document.documentElement.dataset.theme = THEMES[theme];
}
// What goes with every address of the page, and from page to page of a folder. Nothing is stored.
const kept = () => [["theme", theme ? THEMES[theme] : null]];

const player = makePlayer((place, frame, isFirstOfStep) => {
  const where = isFirstOfStep && frame.step >= 0 ? ["step", String(frame.step)] : ["frame", String(place)];
  tell("");
  // Not at once: browsers stop counting at some hundreds of addresses in half a minute.
  clearTimeout(writing);
  writing = setTimeout(() => writeAddress([["episode", listing ? opened : null], where, ["index", came], ...kept()]), 200);
});

const index = !listing ? null : makeIndex(listing, (row) => {
  if (row.file && PAGE_NAME.test(row.file)) {
    const behind = joined([["index", joined(index.pairs())], ...kept()]);
    return behind ? `${row.file}#${behind}` : row.file;
  }
  return row.island === undefined ? null : `#${joined([["episode", row.key], ...kept()])}`;
}, () => writeAddress([...index.pairs(), ...kept()]));

function tell(trouble) {
  byId("trouble").textContent = trouble;
  byId("trouble").hidden = !trouble;
}

function openEpisode(key, island) {
  if (opened === key) return;
  const fromIndex = listing && !byId("listing").hidden;
  player.pause();
  opened = key;
  scrolled = fromIndex ? scrollY : scrolled;
  byId("listing").hidden = true;
  byId("episode").hidden = false;
  const data = dataOf(island);
  document.title = `${data.key} · weigh`;
  player.open(data);
  back = data.back && PAGE_NAME.test(data.back) ? data.back : listing ? "" : null;
  byId("back").hidden = back === null;
  leadBack(data.key);
  if (listing) scrollTo(0, 0);
  if (fromIndex) byId("episode-title").focus({ preventScroll: true });
}

// To the index as it was left, and there to the row of this episode.
let back = null, here = "";
function leadBack(key) {
  here = key ?? here;
  if (back === null) return;
  const filters = back ? [came, joined([["at", here]])] : [joined(index.pairs())];
  byId("back").setAttribute("href", `${back}#${[...filters, joined(kept())].filter(Boolean).join("&")}`);
}

function openIndex(at) {
  const left = at ?? opened;
  player.pause();
  clearTimeout(writing);
  opened = null;
  byId("episode").hidden = true;
  byId("listing").hidden = false;
  byId("back").hidden = true;
  document.title = `${listing.title} · weigh`;
  scrollTo(0, scrolled);
  if (left !== null) index.focus(left);
}

function follow() {
  const words = asked();
  tell("");
  setTheme(THEMES.indexOf(words.get("theme")));
  if (listing) {
    const key = words.get("episode");
    index.take(words);
    if (key === null) {
      openIndex(words.get("at"));
      if (words.has("at")) writeAddress([...index.pairs(), ...kept()]);
      return;
    }
    const row = listing.rows.find((other) => other.key === key);
    if (!row || row.island === undefined) {
      openIndex(null);
      return tell(row ? `${key} cannot be opened: ${row.cause ?? "it has a page of its own"}` : `this run has no episode ${key}`);
    }
    openEpisode(key, row.island);
  } else {
    came = words.get("index");
    openEpisode("", "episode-0");
  }
  const name = ["step", "frame"].find((each) => words.has(each));
  const given = name && words.get(name), number = /^[0-9]{1,9}$/.test(given ?? "") ? Number(given) : null;
  const trouble = name === "step" ? player.showStep(number) : player.showFrame(name ? number : 0);
  if (trouble) tell(`There is no ${name} ${given.slice(0, 40)}: ${trouble}`);
}

byId("theme").addEventListener("click", () => {
  setTheme((theme + 1) % THEMES.length);
  const words = asked();
  words.delete("theme");
  writeAddress([...words, ...kept()]);
  index?.draw();
  leadBack(null);
});
const help = () => { if (!byId("help").open) byId("help").showModal(); };
byId("help-open").addEventListener("click", help);
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !event.target.matches("select, textarea, input:not([type=range]):not([type=checkbox])")) help();
});
// The address is taken: it says what is shown.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});

window.addEventListener("hashchange", follow);
// Who comes back finds the fields as the browser kept them, and the rows as the address says: the address holds.
window.addEventListener("pageshow", () => { if (listing && opened === null) index.take(asked()); });
follow();
