// The player: which frame is shown, and every way to get to another one.
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const DWELL = 1400; // milliseconds for a frame at speed 1
const LOUD_DWELL = 2; // times as long for what is loud

function makePlayer(settled) {
  let data = null, frames = [], build = null, entries = [], marks = [], at = -1, timer = 0, speed = SPEEDS.indexOf(1);
  const scrub = byId("scrub"), room = { key: null, wide: 0, high: 0 };

  function open(opened) {
    pause();
    data = opened;
    byId("picture").replaceChildren();
    frames = framesOf(data);
    build = builder(data.shared);
    at = -1;
    showFacts(data);
    entries = feedOf(frames, (place) => { pause(); show(place); });
    for (const entry of entries) entry.hidden = true;
    byId("feed").replaceChildren(...entries);
    scrub.max = String(frames.length - 1);
    byId("loud").hidden = !frames.some((frame) => LOUD.has(frame.kind));
    drawMarks();
    reserve();
  }

  function show(wanted) {
    const place = Math.max(0, Math.min(frames.length - 1, wanted));
    if (place === at) return;
    const frame = frames[place], before = frames[at];
    byId("picture").replaceChildren(build(frame.picture));
    showCaption(data, frame, place === frames.length - 1);
    byId("board").dataset.kind = frame.kind;
    showSeats(data, frame, place === frames.length - 1);
    const sealed = SEALED.has(frame.kind);
    if (!before || before.step !== frame.step || sealed !== SEALED.has(before.kind)) showMoves(data, frame.step, nameOf(frame.step), sealed);
    for (let number = Math.min(at, place) + 1; number <= Math.max(at, place); number++) entries[number].hidden = number > place;
    entries[at]?.removeAttribute("aria-current");
    marks[at]?.classList.remove("current");
    at = place;
    entries[at].hidden = false;
    entries[at].setAttribute("aria-current", "true");
    marks[at]?.classList.add("current");
    const feed = byId("feed");
    feed.scrollTop = entries[at].offsetTop + entries[at].offsetHeight - feed.clientHeight + 12;
    const told = `frame ${at + 1} of ${frames.length}: ${frame.label}`;
    scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", told);
    byId("position").textContent = `${at + 1} of ${frames.length}`;
    byId("said").textContent = [frame.banner, ...frame.feed].filter(Boolean).join(" ");
    for (const [id, end] of [["first", 0], ["previous", 0], ["next", frames.length - 1], ["last", frames.length - 1]]) {
      byId(id).setAttribute("aria-disabled", String(at === end));
    }
    grow();
    settled(place, frame, frames.findIndex((other) => other.step === frame.step) === place);
  }

  // What the game calls a step, as the label of its first frame begins: round 3, turn 12.
  const nameOf = (step) => (frames.find((frame) => frame.step === step && !SEALED.has(frame.kind))?.label ?? `step ${step}`).split(":")[0];

  // The board keeps the height of its largest picture, so that the buttons stay where they are. Frames of a kind are
  // alike: the first and the last of each are measured, and whatever is larger all the same lets it grow.
  function reserve() {
    const wide = byId("picture").clientWidth;
    if (!wide || (room.key === data.key && room.wide === wide)) return grow();
    Object.assign(room, { key: data.key, wide, high: 0 });
    const kinds = frames.map((frame) => frame.kind), probe = make("div", { class: "probe", "aria-hidden": "true" });
    byId("picture").before(probe);
    for (const [place, frame] of frames.entries()) {
      if (kinds.indexOf(frame.kind) !== place && kinds.lastIndexOf(frame.kind) !== place) continue;
      probe.replaceChildren(build(frame.picture));
      room.high = Math.max(room.high, probe.scrollHeight);
    }
    probe.remove();
    grow();
  }

  // The buttons stay in sight only where the board is not under them.
  function grow() {
    const picture = byId("picture"), deck = byId("deck");
    room.high = Math.max(room.high, picture.firstElementChild?.offsetHeight ?? 0);
    picture.style.minHeight = `${room.high}px`;
    deck.classList.toggle("flows", byId("board").offsetHeight + deck.offsetHeight > innerHeight);
  }

  function play() {
    if (at === frames.length - 1) show(0);
    byId("play").setAttribute("aria-label", "Pause");
    document.body.classList.add("playing");
    tick();
  }

  function tick() {
    const wait = (DWELL * (LOUD.has(frames[at].kind) ? LOUD_DWELL : 1)) / SPEEDS[speed];
    timer = setTimeout(() => {
      show(at + 1);
      if (at === frames.length - 1) pause(); else tick();
    }, wait);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    byId("play").setAttribute("aria-label", "Play");
    document.body.classList.remove("playing");
  }

  function setSpeed(wanted) {
    speed = Math.max(0, Math.min(SPEEDS.length - 1, wanted));
    byId("speed").textContent = `${SPEEDS[speed]}×`;
    if (timer) { clearTimeout(timer); tick(); }
  }

  const go = (wanted) => () => { pause(); show(wanted()); };
  const nextOf = (fits) => {
    const later = frames.findIndex((frame, place) => place > at && fits(frame, place));
    return later >= 0 ? later : Math.max(0, frames.findIndex(fits));
  };
  // A step's flags are on all its frames; the first of them is the place to go to.
  const isFlagged = (frame, place) => frame.flags.length > 0 && !(place > 0 && frames[place - 1].step === frame.step && frames[place - 1].flags.length);
  const actions = {
    first: go(() => 0),
    previous: go(() => at - 1),
    next: go(() => at + 1),
    last: go(() => frames.length - 1),
    loud: go(() => nextOf((frame) => LOUD.has(frame.kind))),
    flagged: go(() => (frames.some(isFlagged) ? nextOf(isFlagged) : at)),
    play: () => (timer ? pause() : play()),
    slower: () => setSpeed(speed - 1),
    faster: () => setSpeed(speed + 1),
  };
  for (const [id, action] of Object.entries(actions)) byId(id)?.addEventListener("click", action);
  scrub.addEventListener("input", () => { pause(); show(Number(scrub.value)); });

  const KEYS = {
    ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last", " ": "play",
    "+": "faster", "=": "faster", "-": "slower", o: "loud", f: "flagged",
  };
  document.addEventListener("keydown", (event) => {
    if (byId("episode").hidden || byId("help").open || event.ctrlKey || event.altKey || event.metaKey) return;
    const action = KEYS[event.key], target = event.target;
    if (!action || (action === "loud" && byId("loud").hidden)) return;
    if (target.matches("select, textarea, input:not([type=range])")) return;
    if (event.key === " " && target.matches("button, summary, a")) return;
    event.preventDefault();
    actions[action]();
  });

  // The marks below the scrubber: a tick for each frame, and words where there is room for them, the loud ones first.
  function drawMarks() {
    const box = byId("marks"), last = Math.max(1, frames.length - 1);
    marks = frames.map((frame, place) => {
      const mark = make("span", { class: `mark kind-${frame.kind}`, title: frame.label });
      mark.style.left = `${(place / last) * 100}%`;
      return mark;
    });
    marks[at]?.classList.add("current");
    const rank = (frame) => (LOUD.has(frame.kind) ? 0 : frame.kind === "end" ? 1 : 2);
    const spread = (place) => place & -place; // so that words stand at even distances
    const order = frames.map((frame, place) => place).sort((a, b) => rank(frames[a]) - rank(frames[b]) || spread(b) - spread(a) || a - b);
    const wide = box.clientWidth, taken = [], labels = [];
    for (const place of order) {
      const text = LOUD.has(frames[place].kind) ? `! ${frames[place].label}` : frames[place].label;
      const width = text.length * 6.1 + 14;
      const left = Math.max(0, Math.min(wide - width, (place / last) * wide - width / 2));
      if (width > wide || taken.some(([from, to]) => left < to && left + width > from)) continue;
      taken.push([left, left + width]);
      const label = make("span", { class: `label kind-${frames[place].kind}`, "data-frame": String(place) }, text);
      label.style.left = `${left}px`;
      labels.push(label);
    }
    const flags = frames.flatMap((frame, place) => {
      if (!isFlagged(frame, place)) return [];
      const worst = frame.flags.some(([, flag]) => flag === "fallback") ? "fallback" : "retry";
      const sign = make("span", { class: `flagged flagged-${worst}`, title: `${frame.label}: ${frame.flags.map(([seat, flag]) => `${data.seats[seat].alias} ${BY[flag]}`).join(", ")}` });
      sign.style.left = `${(place / last) * 100}%`;
      return [sign];
    });
    box.replaceChildren(...marks, ...flags, ...labels);
  }
  byId("marks").addEventListener("click", (event) => {
    const box = byId("marks").getBoundingClientRect();
    const named = event.target.dataset.frame;
    pause();
    show(named !== undefined ? Number(named) : Math.round(((event.clientX - box.left) / box.width) * (frames.length - 1)));
  });
  new ResizeObserver(() => { if (data) { drawMarks(); reserve(); } }).observe(byId("marks"));

  // On paper stand all lines and the final board.
  let kept = null;
  function paper(printing) {
    if (!data || byId("episode").hidden) return;
    if (printing && kept === null) { pause(); kept = at; show(frames.length - 1); }
    else if (!printing && kept !== null) { const back = kept; kept = null; show(back); }
  }
  matchMedia("print").addEventListener("change", (event) => paper(event.matches));
  window.addEventListener("beforeprint", () => paper(true));
  window.addEventListener("afterprint", () => paper(false));

  function showOr(wanted, place, there) {
    if (place >= 0) return void show(place);
    show(wanted === null || wanted < 0 ? 0 : frames.length - 1);
    return `this episode has ${there}. Shown is its ${at ? "last" : "first"} frame.`;
  }

  return {
    open, pause,
    // Both say what is shown instead where there is no such place, and nothing where there is.
    showFrame: (place) => { pause(); return showOr(place, place !== null && frames[place] ? place : -1, `frames 0 to ${frames.length - 1}`); },
    showStep: (step) => {
      pause();
      const known = frames.filter((frame) => frame.step >= 0).at(-1)?.step;
      return showOr(step, frames.findIndex((frame) => step !== null && frame.step === step), known === undefined ? "no step" : `steps 0 to ${known}`);
    },
  };
}
