// A seat's page: what the seat may know, and its move. Of the other seats it hears nothing before the end.
const BUTTONS = 40; // choices that are buttons; with more they are a list
let source = null, number = null, over = false, seen = 0;
const player = makePlayer(() => {});

byId("chair-title").textContent = `You are ${LIVE.alias}`;
byId("rules").textContent = LIVE.rules;
document.title = `${LIVE.alias} · ${LIVE.title}`;

source = new EventSource("events");
const on = (name, act) => source.addEventListener(name, (message) => act(JSON.parse(message.data)));
on("question", ask);
on("wait", (told) => {
  close();
  past(told.history, false);
  state("chair-state", "live", told.begun ? "waiting for the others" : "waiting for the first move");
});
on("over", conclude);
source.addEventListener("error", () => {
  if (!over) { close(); state("chair-state", "lost", "not connected: the game may have ended"); }
});

function ask(question) {
  number = question.number;
  past(question.history, true);
  byId("situation").textContent = question.situation;
  byId("legal").textContent = `Legal: ${question.legal}. For example: ${question.example}`;
  refuse(question.refused);
  const few = question.choices.length <= BUTTONS;
  byId("offered").hidden = !few || !question.choices.length;
  byId("picking").hidden = few;
  byId("buttons").replaceChildren(...(few ? question.choices : []).map(([words, line]) => {
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => send(line));
    return button;
  }));
  byId("pick").replaceChildren(...(few ? [] : question.choices).map(([words, line]) => make("option", { value: line }, words)));
  byId("moving").hidden = false;
  byId("line").value = "";
  state("chair-state", "turn", "your move");
  document.title = `● ${LIVE.alias} · ${LIVE.title}`;
}

function past(history, mark) {
  if (history.length === seen && byId("past").children.length) return;
  byId("past").replaceChildren(...history.map((line, place) => make("li", mark && place >= seen ? { class: "fresh" } : null, line)));
  if (mark) seen = history.length;
  byId("past").scrollTop = byId("past").scrollHeight;
}

function close() {
  number = null;
  byId("moving").hidden = true;
  document.title = `${LIVE.alias} · ${LIVE.title}`;
}

function refuse(why) {
  byId("refused").hidden = !why;
  byId("refused").textContent = why ? `That is no legal move: ${why}` : "";
}

async function send(line) {
  const asked = number;
  if (asked === null) return;
  byId("moving").setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("move", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ question: asked, line }),
    });
    const { refused } = await answer.json();
    if (number !== asked) return; // the next question was faster than the answer to this one
    refuse(refused);
    if (refused === null) { close(); state("chair-state", "live", "waiting for the others"); }
  } catch {
    refuse("it did not arrive; the game may have ended");
  } finally {
    byId("moving").removeAttribute("aria-busy");
  }
}

byId("moving").addEventListener("submit", (event) => {
  event.preventDefault();
  send(byId("line").value);
});
byId("pick-go").addEventListener("click", () => send(byId("pick").value));

function conclude(ending) {
  over = true;
  source.close();
  close();
  state("chair-state", "", "over");
  byId("situation").textContent = "";
  byId("now-title").parentElement.hidden = true;
  byId("past-title").parentElement.hidden = true;
  byId("chair-over").hidden = false;
  byId("chair-over").replaceChildren(...ending.lines.map((line) => make("li", null, line)));
  if (!ending.episode) return;
  byId("episode").hidden = false;
  player.open(ending.episode);
  player.showFrame(ending.episode.frames.length - 1);
}
