// What the page does first, and what its address means: #episode=KEY&step=17, #step=17, #beat=23.
const dataOf = (id) => { const node = byId(id); return node && JSON.parse(node.textContent); };
const PAGE_NAME = /^[A-Za-z0-9._-]+\.html$/;
const listing = dataOf("listing-data");
let opened = null, writing = 0, scrolled = 0;

const keyed = (key) => encodeURIComponent(key).replaceAll("%2F", "/");

const player = makePlayer((place, beat, isFirstOfStep) => {
  const where = isFirstOfStep && beat.step >= 0 ? `step=${beat.step}` : `beat=${place + 1}`;
  const hash = listing ? `#episode=${keyed(opened)}&${where}` : `#${where}`;
  // Not at once: browsers stop counting at some hundreds of addresses in half a minute.
  clearTimeout(writing);
  writing = setTimeout(() => { if (location.hash !== hash) history.replaceState(null, "", hash); }, 200);
});

function tell(trouble) {
  byId("trouble").textContent = trouble;
  byId("trouble").hidden = !trouble;
}

function openEpisode(key, island) {
  if (opened === key) return;
  player.pause();
  opened = key;
  scrolled = listing && !byId("listing").hidden ? scrollY : scrolled;
  byId("listing").hidden = true;
  byId("episode").hidden = false;
  const data = dataOf(island);
  document.title = `${data.key} · weighhouse`;
  player.open(data);
  const back = data.back && PAGE_NAME.test(data.back) ? data.back : listing ? "#" : null;
  byId("back").hidden = back === null;
  if (back !== null) byId("back").setAttribute("href", back);
  if (listing) scrollTo(0, 0);
}

function openIndex() {
  player.pause();
  clearTimeout(writing);
  opened = null;
  byId("episode").hidden = true;
  byId("listing").hidden = false;
  byId("back").hidden = true;
  document.title = `${listing.title} · weighhouse`;
  scrollTo(0, scrolled);
}

function follow() {
  const asked = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  const whole = (name) => (/^-?[0-9]{1,9}$/.test(asked.get(name) ?? "") ? Number(asked.get(name)) : null);
  tell("");
  if (listing) {
    const key = asked.get("episode");
    if (key === null) return openIndex();
    const row = listing.rows.find((other) => other.key === key);
    if (!row || row.island === undefined) {
      openIndex();
      return tell(row ? `${key} cannot be opened: ${row.cause ?? "it has a page of its own"}` : `this run has no episode ${key}`);
    }
    openEpisode(key, row.island);
  } else {
    openEpisode("", "episode-0");
  }
  const [step, beat] = [whole("step"), whole("beat")];
  if (step !== null) player.showStep(step);
  else player.showBeat(beat === null ? 0 : beat - 1);
}

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

if (listing) {
  makeIndex(listing, (row) => {
    if (row.file && PAGE_NAME.test(row.file)) return row.file;
    return row.island === undefined ? null : `#episode=${keyed(row.key)}`;
  });
}
window.addEventListener("hashchange", () => { if (location.hash !== "#main") follow(); });
follow();
