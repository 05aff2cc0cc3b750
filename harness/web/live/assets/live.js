// The spectator's page: where the run stands, and one episode as it is played.
const PACE = 900; // milliseconds from one new frame to the next
const HURRY = 6; // frames behind which are not waited for
const STAY = 2500; // milliseconds at the end of an episode before the next one
let source = null, data = null, at = 0, mine = false, edge = true, ended = false, over = false, timer = 0, leaving = 0;
let latest = { flights: [], recent: [] };

const player = makePlayer((place) => {
  at = place;
  if (!mine) edge = place === data.frames.length - 1;
  byId("live-edge").hidden = edge;
});

// Moves of this page, as against those of whoever looks at it.
function go(place) {
  mine = true;
  player.showFrame(place);
  mine = false;
}

function listen(key) {
  source?.close();
  clearTimeout(leaving);
  source = new EventSource(key === null ? "events" : `events?episode=${encodeURIComponent(key)}`);
  const on = (name, act) => source.addEventListener(name, (message) => act(JSON.parse(message.data)));
  on("board", showBoard);
  on("episode", openEpisode);
  on("frames", (news) => {
    if (!data || news.from !== data.frames.length) return;
    data.frames.push(...news.frames);
    data.steps.push(...news.steps);
    reopen();
  });
  on("ended", (last) => {
    ended = true;
    if (last.frames) { data = last; reopen(); }
    watching(last.cause ?? "ended");
    leave();
  });
  on("gone", () => { if (!over) setTimeout(next, STAY); });
  on("over", () => {
    over = true;
    source.close();
    state("run-state", "", "over");
    document.title = `over · ${document.title}`;
  });
  source.addEventListener("open", () => state("run-state", "live", "live"));
  source.addEventListener("error", () => {
    if (!over) state("run-state", "lost", "not connected: the run may have ended; this is the last that was heard");
  });
}

function openEpisode(opened) {
  const again = data && data.key === opened.key;
  data = opened;
  ended = false;
  byId("episode").hidden = false;
  player.open(data);
  edge = true;
  // Who comes in the middle of an episode sees it where it is.
  go(again ? Math.min(at, data.frames.length - 1) : data.frames.length > HURRY ? data.frames.length - 1 : 0);
  watching("being played");
  step();
}

// The same episode with more frames: who follows it goes on from where they are, who looks back stays there.
function reopen() {
  const place = Math.min(at, data.frames.length - 1), followed = edge;
  player.open(data);
  go(followed && !timer ? Math.min(place + 1, data.frames.length - 1) : place);
  edge = followed;
  step();
}

function step() {
  if (timer || !edge) return;
  timer = setTimeout(() => {
    timer = 0;
    const last = data.frames.length - 1;
    if (edge && at < last) { go(last - at > HURRY ? last - HURRY : at + 1); edge = true; }
    if (edge && at < last) step();
    leave();
  }, PACE);
}

function leave() {
  clearTimeout(leaving);
  if (!ended || over || LIVE.single || !byId("follow").checked || !edge || at < data.frames.length - 1) return;
  leaving = setTimeout(next, STAY);
}

function next() {
  const open = [...latest.flights].reverse().find((flight) => !data || flight.key !== data.key);
  const fresh = latest.recent[0];
  if (open) listen(open.key);
  else if (fresh && (!data || fresh.key !== data.key)) listen(fresh.key);
  else leaving = setTimeout(next, STAY);
}

function watching(how) {
  byId("watching").replaceChildren(make("b", null, data.key), ` ${how}`);
}

// Whoever takes hold of the playback is left where they are, also where that is where they were.
function held() {
  if (!data) return;
  edge = at === data.frames.length - 1;
  byId("live-edge").hidden = edge;
}
document.addEventListener("keydown", (event) => { if (["ArrowLeft", "ArrowRight", "Home", "End", " "].includes(event.key)) held(); });
document.addEventListener("click", (event) => { if (event.target.closest(".deck, .jump")) held(); });

byId("live-edge").addEventListener("click", () => { edge = true; go(data.frames.length - 1); edge = true; byId("live-edge").hidden = true; });
byId("follow").addEventListener("change", leave);

function showBoard(board) {
  latest = board;
  byId("run-bar").max = Math.max(1, board.total);
  byId("run-bar").value = board.done;
  const clock = [`${Math.floor(board.elapsed / 60)}:${String(Math.floor(board.elapsed % 60)).padStart(2, "0")} so far`];
  if (board.left !== null && board.over === null) clock.push(`about ${board.left} left`);
  byId("run-standing").textContent = [...board.standing, ...clock].join(" · ");
  byId("run-spending").textContent = board.spending.join(" · ");
  const games = board.games;
  fill(byId("standing").tHead, [games], () => make("tr", null,
    make("th", { scope: "col" }, "entrant"),
    ...games.map((game) => make("th", { scope: "col", class: "figure" }, game)),
    ...["fallbacks", "faults", "calls", "tokens in / out", "cost"].map((label) => make("th", { scope: "col", class: "figure" }, label)),
  ));
  fill(byId("standing").tBodies[0], board.rows, (row) => make("tr", null,
    make("th", { scope: "row" }, row.entrant),
    ...games.map((game) => {
      const [mean, n] = row.means[game] ?? ["-", 0];
      return make("td", { class: "figure score" }, mean, ...(n ? [make("small", null, ` n ${n}`)] : []));
    }),
    make("td", { class: "figure" }, row.attempts ? String(row.fallbacks) : "-"),
    make("td", { class: "figure" }, row.faults ?? "-"),
    make("td", { class: "figure" }, row.calls ? String(row.calls) : "-"),
    make("td", { class: "figure" }, row.tokens ?? "-"),
    make("td", { class: "figure" }, row.cost ?? "-"),
  ));
  const watched = data ? data.key : null;
  const pick = (key, ...words) => {
    const button = make("button", { type: "button", "aria-pressed": String(key === watched) }, key, ...words);
    button.addEventListener("click", () => { byId("follow").checked = false; if (!data || data.key !== key) listen(key); });
    return make("li", null, button);
  };
  fill(byId("flights"), board.flights.map((flight) => [flight, flight.key === watched]), ([flight]) =>
    pick(flight.key, make("small", null, `step ${flight.step} · ${flight.entrants.join(", ")}`)));
  fill(byId("recent"), board.recent.map((other) => [other, other.key === watched]), ([other]) =>
    pick(other.key, make("small", null, `${other.ending} · ${other.seats.map(([name, score]) => `${name} ${score ?? "-"}`).join(", ")}`)));
  byId("run-notes").hidden = !board.notes.length;
  fill(byId("notes"), board.notes, (line) => make("li", null, line));
  byId("run-over").hidden = board.over === null;
  fill(byId("run-over"), board.over ?? [], (line) => make("li", null, line));
}

byId("run-title").textContent = LIVE.name;
for (const id of ["run-ladder", "run-episodes", "follow-label"]) byId(id).hidden = LIVE.single;
listen(null);
