// The parts of one episode that stand around its board. Every text comes from the data, as it is.
const SHOWN_AT_FIRST = 2000;
const LOUD = new Set(["overbid", "challenge"]);
// Frames after a step that open the next one: what is chosen there is not known yet.
const SEALED = new Set(["start", "prize"]);
const BY = {
  model: "model",
  retry: "second attempt",
  fallback: "fallback",
  scripted: "script",
  human: "person",
};
// Moves that were not made at the first attempt: the sign of each, and what it is called where they are counted.
const FLAGS = { fallback: ["⚑", "fallbacks"], retry: ["↻", "second attempts"] };

function framesOf(data) {
  return data.frames.map(([step, kind, label, picture, feed, counts, banner, flags]) => ({
    step, kind, label, picture, feed, counts, banner, flags: flags ?? [],
  }));
}

// The line above the board: the banner or the frame's name, who won at the end, and whose move was not their own.
function showCaption(data, frame, isLast) {
  const best = Math.max(...data.seats.map((seat) => seat.value ?? -Infinity));
  const winners = isLast && frame.kind === "end" ? data.seats.filter((seat) => seat.value !== null && seat.value === best) : [];
  const badges = winners.length < data.seats.length ? winners.map(badge) : [];
  const flags = frame.flags.map(([seat, flag]) => make("span", { class: "flag" }, `${FLAGS[flag][0]} ${data.seats[seat].alias}`));
  byId("banner").replaceChildren(...badges, make("span", null, frame.banner ?? frame.label), ...flags);
  byId("banner").className = frame.kind === "end" ? "caption banner ended" : frame.banner ? "caption banner" : "caption";
}

function showFacts(data) {
  byId("title").textContent = data.title.split(":")[0];
  byId("key").textContent = data.key;
  byId("subtitle").replaceChildren(
    ...data.seats.flatMap((seat, place) => [
      ...(place ? [make("span", { class: "versus" }, "·")] : []),
      make("span", { class: "sitter" }, badge(seat), make("span", null, `${seat.alias}: `, make("b", null, seat.entrant))),
    ]),
  );
  byId("facts").replaceChildren(
    make("dt", null, "episode"), make("dd", null, data.key),
    ...data.facts.flatMap(([label, text]) => [make("dt", null, label), make("dd", null, text)]),
  );
  const box = byId("warnings");
  box.hidden = !data.warnings.length;
  box.replaceChildren(
    make("p", null, make("b", null, "This record does not re-derive."), " The pictures show what its moves come to; the record says otherwise:"),
    make("ul", null, ...data.warnings.map((line) => make("li", null, line))),
  );
}

function showSeats(data, frame, isLast) {
  const labels = frame.counts.map(([label]) => label);
  // Counted up to this frame, and a column only where there is one in the episode.
  const made = data.steps.map((moves) => moves.map((move) => [move.seat, move.by]));
  const tallies = Object.entries(FLAGS).filter(([by]) => made.flat().some(([, each]) => each === by));
  const tally = (by, place) => made.slice(0, frame.step + 1).flat().filter(([seat, each]) => seat === place && each === by).length;
  byId("seats").tHead.replaceChildren(make("tr", null,
    ...["seat", "entrant"].map((label) => make("th", { scope: "col" }, label)),
    ...labels.map((label) => make("th", { scope: "col", class: "figure" }, label)),
    ...tallies.map(([, [sign, label]]) => make("th", { scope: "col", class: "figure" }, `${sign} ${label}`)),
    make("th", { scope: "col", class: "figure" }, "score"),
  ));
  byId("seats").tBodies[0].replaceChildren(...data.seats.map((seat, place) => {
    const score = make("td", { class: "figure score" }, isLast && seat.score !== null ? seat.score : "-");
    if (isLast && seat.score !== null) {
      score.dataset.value = String(seat.value);
      if (seat.exact !== seat.score) score.append(make("small", null, ` ${seat.exact}`));
    }
    return make("tr", null,
      make("th", { scope: "row" }, make("span", { class: "sitter" }, badge(seat), make("span", null, seat.alias))),
      make("td", null, seat.entrant, ...(seat.model ? [make("small", { class: "model" }, seat.model)] : [])),
      ...frame.counts.map(([, texts]) => make("td", { class: "figure" }, texts[place] ?? "-")),
      ...tallies.map(([by]) => make("td", { class: "figure" }, String(tally(by, place)))),
      score,
    );
  }));
}

function feedOf(frames, jump) {
  return frames.map((frame, place) => {
    const button = make("button", { type: "button", class: "jump" }, frame.label);
    button.addEventListener("click", () => jump(place));
    return make("li", { class: `entry kind-${frame.kind}` }, button, ...frame.feed.map((line) => make("p", null, line)));
  });
}

// What was unfolded stays unfolded from step to step: a reader follows one seat's reasoning through an episode.
const unfolded = new Set();

// `name` is what the game calls the step: round 3, turn 12.
function showMoves(data, step, name, sealed) {
  const box = byId("moves");
  const moves = sealed ? null : data.steps[step];
  byId("moves-title").textContent = moves ? `Moves: ${name}` : "Moves";
  if (!moves) {
    const why = sealed ? "What comes next is open: nobody has seen a move of it." : step < 0 ? "Nobody has moved yet." : "Nobody moved: the clock stopped the episode.";
    box.replaceChildren(make("p", { class: "about" }, why));
    return;
  }
  box.replaceChildren(...moves.map((move) => moveOf(data, move)));
}

function moveOf(data, move) {
  const seat = data.seats[move.seat];
  const by = move.fallback ? `${BY[move.by]}: ${move.fallback}` : BY[move.by];
  const box = make("article", { class: "move" },
    make("p", { class: "made" }, badge(seat), make("span", { class: "alias" }, seat.alias),
      make("b", null, move.move), make("span", { class: `by by-${move.by}` }, by)),
    ...move.faults.map((note) => make("p", { class: "fault" },
      make("b", null, note.fault), ` at attempt ${note.attempt}: ${note.detail}`)),
  );
  for (const [number, call] of move.calls.entries()) {
    box.append(make("p", { class: "call" }, make("b", null, call.title), ` · ${call.facts}`));
    const whose = `of ${seat.alias}, ${call.title}`, where = "the run holds them (weigh export RUN FILE --dataset calls)";
    if (call.reasoning) box.append(fold(`${move.seat}/reasoning/${number}`, "reasoning", whose, call.reasoning, where));
    if (call.reply) box.append(fold(`${move.seat}/reply/${number}`, "reply", whose, call.reply, where));
  }
  if (move.notes) box.append(fold(`${move.seat}/notes`, "notes it kept", `of ${seat.alias}`, move.notes, "the record holds them"));
  return box;
}

// A text that is made when it is opened: most are never looked at, and some are long.
// `whose` tells it from the others of its kind, `where` says where what is left out of it can be found.
function fold(key, label, whose, [text, left, length], where) {
  const box = make("details", { class: "fold" }, make("summary", null, label, make("small", null, ` ${length} characters`)));
  const fill = () => {
    if (!box.open || box.children.length > 1) return;
    if (!text) return void box.append(make("p", { class: "about" }, "It is empty."));
    const shown = make("pre", { tabindex: "0", role: "region", "aria-label": `${label} ${whose}` }, text.slice(0, SHOWN_AT_FIRST));
    box.append(shown);
    if (text.length > SHOWN_AT_FIRST) {
      const more = make("button", { type: "button" }, `show all (${text.length - SHOWN_AT_FIRST} more)`);
      more.addEventListener("click", () => { shown.textContent = text; more.remove(); });
      box.append(more);
    }
    if (left) box.append(make("p", { class: "about" }, `${left} more characters are not in this page; ${where}.`));
  };
  box.addEventListener("toggle", () => {
    if (box.open) unfolded.add(key); else unfolded.delete(key);
    fill();
  });
  box.open = unfolded.has(key);
  fill();
  return box;
}
