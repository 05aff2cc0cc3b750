// The index of a run: its episodes as rows, filtered and sorted here. `link` says where a row leads, `changed` is told
// of every choice. What is chosen can be taken from an address (`take`) and written into one (`pairs`).
const TICKS = ["fallbacks", "overbids", "faults"], CHOICES = ["game", "entrant", "ending", "low", "high"];

function makeIndex(listing, link, changed) {
  const rows = listing.rows;
  const best = (row, entrant) => {
    const scores = row.seats.filter(([name, score]) => score !== null && (!entrant || name === entrant)).map(([, score]) => score);
    return scores.length ? Math.max(...scores) : null;
  };
  const COLUMNS = [
    ["episode", (row) => row.order], ["game", (row) => row.game], ["block", (row) => row.block],
    ["entrants and scores", (row) => best(row, chosen("entrant"))], ["ending", (row) => row.ending],
    ["fallbacks", (row) => row.fallbacks], ["overbids", (row) => row.overbids], ["faults", (row) => row.faults],
  ];
  rows.forEach((row, order) => { row.order = order; });
  let sorted = 0, upwards = true;

  byId("listing-title").textContent = listing.title;
  byId("listing-about").textContent = listing.about;
  byId("listing-versions").textContent = listing.versions;
  const chosen = (name) => byId(`filter-${name}`).value;
  const number = (name) => (chosen(name) === "" ? null : Number(chosen(name)));
  function offer(name, words) {
    byId(`filter-${name}`).replaceChildren(make("option", { value: "" }, "all"), ...[...new Set(words)].sort().map((word) => make("option", { value: word }, word)));
  }
  offer("game", rows.map((row) => row.game));
  offer("entrant", rows.flatMap((row) => row.seats.map(([name]) => name)));
  offer("ending", rows.map((row) => row.ending));

  function passes(row) {
    const entrant = chosen("entrant"), low = number("low"), high = number("high");
    if (chosen("game") && row.game !== chosen("game")) return false;
    if (chosen("ending") && row.ending !== chosen("ending")) return false;
    if (entrant && !row.seats.some(([name]) => name === entrant)) return false;
    if (low !== null || high !== null) {
      const fits = row.seats.some(([name, score]) => score !== null && (!entrant || name === entrant)
        && (low === null || score >= low) && (high === null || score <= high));
      if (!fits) return false;
    }
    return TICKS.every((name) => !byId(`filter-${name}`).checked || row[name] > 0);
  }

  function compare(a, b) {
    const [left, right] = [COLUMNS[sorted][1](a), COLUMNS[sorted][1](b)];
    if (left === null || right === null) return (left === null) - (right === null) || a.order - b.order;
    const order = typeof left === "number" ? left - right : left < right ? -1 : left > right ? 1 : 0;
    return (upwards ? order : -order) || a.order - b.order;
  }

  function draw() {
    byId("rows").tHead.replaceChildren(make("tr", null, ...COLUMNS.map(([label], place) => {
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => { upwards = sorted === place ? !upwards : true; sorted = place; draw(); changed(); byId("rows").tHead.querySelectorAll("button")[place].focus(); });
      return make("th", { scope: "col", "aria-sort": sorted !== place ? "none" : upwards ? "ascending" : "descending" }, button);
    })));
    const shown = rows.filter(passes).sort(compare), held = document.activeElement?.dataset.key;
    byId("rows").tBodies[0].replaceChildren(...shown.map(rowOf));
    if (held !== undefined) focus(held);
    byId("listing-count").textContent = `${shown.length} of ${rows.length} episodes`;
  }

  function rowOf(row) {
    const figure = (value) => make("td", { class: "figure" }, value === null ? "-" : String(value));
    const target = link(row), entrant = chosen("entrant");
    return make("tr", { class: row.status },
      make("th", { scope: "row" }, target ? make("a", { href: target, "data-key": row.key }, row.key) : row.key),
      make("td", null, row.game), make("td", null, row.block),
      make("td", null, make("ul", { class: "scores" }, ...row.seats.map(([name, score]) => make("li", { class: name === entrant ? "chosen" : "" },
        make("span", null, name), make("span", { class: "figure" }, score === null ? "-" : (score > 0 ? "+" : "") + score.toFixed(3)))))),
      make("td", null, row.ending, ...(row.cause ? [make("small", { class: "cause" }, row.cause)] : [])),
      figure(row.fallbacks), figure(row.overbids), figure(row.faults),
    );
  }

  function take(words) {
    for (const name of CHOICES) {
      byId(`filter-${name}`).value = words.get(name) ?? "";
      if (byId(`filter-${name}`).selectedIndex === -1) byId(`filter-${name}`).value = "";
    }
    for (const name of TICKS) byId(`filter-${name}`).checked = words.get(name) === "1";
    const column = COLUMNS.findIndex(([label]) => label === words.get("sort"));
    sorted = Math.max(0, column);
    upwards = words.get("down") !== "1";
    draw();
  }
  const pairs = () => [
    ...CHOICES.map((name) => [name, chosen(name)]),
    ...TICKS.map((name) => [name, byId(`filter-${name}`).checked ? "1" : null]),
    ["sort", sorted ? COLUMNS[sorted][0] : null], ["down", upwards ? null : "1"],
  ];
  const focus = (key) => [...byId("rows").querySelectorAll("a")].find((each) => each.dataset.key === key)?.focus();

  const redraw = () => { draw(); changed(); };
  byId("filters").addEventListener("input", redraw);
  byId("filters").addEventListener("reset", () => setTimeout(redraw));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  return { take, pairs, focus, draw };
}
