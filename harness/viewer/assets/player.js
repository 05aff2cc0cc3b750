// The player: which beat is shown, and every way to get to another one.
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const DWELL = 1400; // milliseconds for a beat at speed 1
const LOUD_DWELL = 2; // times as long for what is loud

function makePlayer(settled) {
  let data = null, beats = [], build = null, entries = [], marks = [], at = -1, timer = 0, speed = SPEEDS.indexOf(1);
  const scrub = byId("scrub");

  function open(opened) {
    pause();
    data = opened;
    beats = beatsOf(data);
    build = builder(data.shared);
    at = -1;
    showFacts(data);
    entries = feedOf(beats, (place) => { pause(); show(place); });
    for (const entry of entries) entry.hidden = true;
    byId("feed").replaceChildren(...entries);
    scrub.max = String(beats.length - 1);
    byId("loud").hidden = !beats.some((beat) => LOUD.has(beat.kind));
    drawMarks();
  }

  function show(wanted) {
    const place = Math.max(0, Math.min(beats.length - 1, wanted));
    if (place === at) return;
    const beat = beats[place], before = beats[at];
    byId("picture").replaceChildren(build(beat.picture));
    byId("banner").textContent = beat.banner ?? beat.label;
    byId("banner").className = beat.banner ? "caption banner" : "caption";
    byId("board").dataset.kind = beat.kind;
    showSeats(data, beat, place === beats.length - 1);
    const sealed = SEALED.has(beat.kind);
    if (!before || before.step !== beat.step || sealed !== SEALED.has(before.kind)) showMoves(data, beat.step, sealed);
    for (let number = Math.min(at, place) + 1; number <= Math.max(at, place); number++) entries[number].hidden = number > place;
    entries[at]?.removeAttribute("aria-current");
    marks[at]?.classList.remove("current");
    at = place;
    entries[at].hidden = false;
    entries[at].setAttribute("aria-current", "true");
    marks[at]?.classList.add("current");
    const feed = byId("feed");
    feed.scrollTop = entries[at].offsetTop + entries[at].offsetHeight - feed.clientHeight + 12;
    const told = `beat ${at + 1} of ${beats.length}: ${beat.label}`;
    scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", told);
    byId("position").textContent = `${at + 1} of ${beats.length}`;
    byId("said").textContent = [beat.banner, ...beat.feed].filter(Boolean).join(" ");
    for (const [id, end] of [["first", 0], ["previous", 0], ["next", beats.length - 1], ["last", beats.length - 1]]) {
      byId(id).setAttribute("aria-disabled", String(at === end));
    }
    settled(place, beat, beats.findIndex((other) => other.step === beat.step) === place);
  }

  function play() {
    if (at === beats.length - 1) show(0);
    byId("play").setAttribute("aria-label", "Pause");
    document.body.classList.add("playing");
    tick();
  }

  function tick() {
    const wait = (DWELL * (LOUD.has(beats[at].kind) ? LOUD_DWELL : 1)) / SPEEDS[speed];
    timer = setTimeout(() => {
      show(at + 1);
      if (at === beats.length - 1) pause(); else tick();
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
  const actions = {
    first: go(() => 0),
    previous: go(() => at - 1),
    next: go(() => at + 1),
    last: go(() => beats.length - 1),
    loud: go(() => {
      const later = beats.findIndex((beat, place) => place > at && LOUD.has(beat.kind));
      return later >= 0 ? later : Math.max(0, beats.findIndex((beat) => LOUD.has(beat.kind)));
    }),
    play: () => (timer ? pause() : play()),
    slower: () => setSpeed(speed - 1),
    faster: () => setSpeed(speed + 1),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  scrub.addEventListener("input", () => { pause(); show(Number(scrub.value)); });

  const KEYS = {
    ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last", " ": "play",
    "+": "faster", "=": "faster", "-": "slower", o: "loud",
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

  // The marks below the scrubber: a tick for each beat, and words where there is room for them, the loud ones first.
  function drawMarks() {
    const box = byId("marks"), last = Math.max(1, beats.length - 1);
    marks = beats.map((beat, place) => {
      const mark = make("span", { class: `mark kind-${beat.kind}`, title: beat.label });
      mark.style.left = `${(place / last) * 100}%`;
      return mark;
    });
    marks[at]?.classList.add("current");
    const rank = (beat) => (LOUD.has(beat.kind) ? 0 : beat.kind === "end" ? 1 : 2);
    const spread = (place) => place & -place; // so that words stand at even distances
    const order = beats.map((beat, place) => place).sort((a, b) => rank(beats[a]) - rank(beats[b]) || spread(b) - spread(a) || a - b);
    const wide = box.clientWidth, taken = [], labels = [];
    for (const place of order) {
      const text = LOUD.has(beats[place].kind) ? `! ${beats[place].label}` : beats[place].label;
      const width = text.length * 6.1 + 14;
      const left = Math.max(0, Math.min(wide - width, (place / last) * wide - width / 2));
      if (width > wide || taken.some(([from, to]) => left < to && left + width > from)) continue;
      taken.push([left, left + width]);
      const label = make("span", { class: `label kind-${beats[place].kind}`, "data-beat": String(place) }, text);
      label.style.left = `${left}px`;
      labels.push(label);
    }
    box.replaceChildren(...marks, ...labels);
  }
  byId("marks").addEventListener("click", (event) => {
    const box = byId("marks").getBoundingClientRect();
    const named = event.target.dataset.beat;
    pause();
    show(named !== undefined ? Number(named) : Math.round(((event.clientX - box.left) / box.width) * (beats.length - 1)));
  });
  new ResizeObserver(() => { if (data) drawMarks(); }).observe(byId("marks"));

  // On paper stand all lines and the final board.
  let kept = null;
  function paper(printing) {
    if (!data || byId("episode").hidden) return;
    if (printing && kept === null) { pause(); kept = at; show(beats.length - 1); }
    else if (!printing && kept !== null) { const back = kept; kept = null; show(back); }
  }
  matchMedia("print").addEventListener("change", (event) => paper(event.matches));
  window.addEventListener("beforeprint", () => paper(true));
  window.addEventListener("afterprint", () => paper(false));

  return {
    open, pause,
    showBeat: (place) => { pause(); show(place); },
    showStep: (step) => { pause(); show(Math.max(0, beats.findIndex((beat) => beat.step >= step) >= 0 ? beats.findIndex((beat) => beat.step >= step) : beats.length - 1)); },
  };
}
