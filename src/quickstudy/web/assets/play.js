"use strict";
(() => {
  // All rules are on the server: this page shows what a seat says and sends what is typed.
  const at = (id) => document.getElementById(id);
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  let now = null;
  let busy = false;
  const lines = (text) => /^environment /.test(text);
  const board = (text) => {
    const box = at("board");
    box.replaceChildren();
    box.classList.toggle("lines", lines(text));
    // What is hidden stands out.
    for (const part of lines(text) ? [text] : text.split(/(_)/)) box.append(part === "_" ? element("mark", "_") : part);
  };
  const entry = (one) => {
    const item = element("li", undefined, one.good === null ? "" : one.good ? "right" : "wrong");
    const told = one.said || one.shown;
    if (lines(told)) item.append(element("pre", told, "lines"));
    else {
      const [verdict, ...rest] = one.said.split(": ");
      item.append(element("span", verdict, "verdict-line"), " ", element("span", rest.join(": ")));
    }
    if (one.typed && !lines(told)) item.append(" ", element("span", `(you: ${one.typed})`, "typed-line"));
    return item;
  };
  const choose = (choices) => at("choices").replaceChildren(...choices.map(([typed, words]) => {
    const button = element("button");
    button.type = "button";
    if (typed !== words) button.append(element("kbd", typed));
    button.append(words);
    button.addEventListener("click", () => send(typed));
    return button;
  }));
  const end = (state) => {
    const terms = element("dl", undefined, "terms");
    for (const [name, value] of state.scores) {
      const number = Number(value);
      terms.append(element("dt", name), element("dd", Number.isFinite(number) ? number.toFixed(4) : String(value)));
    }
    const again = element("button", "Play again", "main");
    again.type = "button";
    again.addEventListener("click", () => sit());
    // A player is not told how learners are scored; whoever runs the session can look.
    const more = element("details");
    more.append(element("summary", "For the experimenter"), terms, element("p", state.kept));
    at("end").replaceChildren(element("p", state.summary, "summary"), element("p", "Thank you for playing."), again, more);
  };
  const show = (state) => {
    const fresh = !now || now.name !== state.name || now.turn !== state.turn;
    now = state;
    history.replaceState(null, "", `#${state.name}`);
    if (state.ticket) sessionStorage.setItem("ticket", state.ticket);
    if (at("join")) at("join").hidden = true;
    at("game").hidden = false;
    at("person").textContent = `You play as ${state.person}`;
    at("title").textContent = document.title = state.title;
    at("explained").textContent = state.explained;
    at("progress").textContent = state.progress;
    at("reference").textContent = state.reference;
    at("reference").hidden = !state.reference;
    at("log").replaceChildren(...state.log.map(entry).reverse());
    at("form").hidden = at("board").hidden = at("picture").hidden = at("stop").hidden = state.over;
    at("end").hidden = !state.over;
    at("fault").textContent = "";
    if (state.over) {
      end(state);
      at("end").focus();
      return;
    }
    at("picture").innerHTML = state.picture;  // made by the server out of numbers; no script of it would run here
    at("ask").textContent = state.ask;
    choose(state.choices);
    if (fresh && state.paced.length) return present(state);
    question(state, fresh);
  };
  const question = (state, fresh) => {
    at("form").hidden = false;
    board(state.text);
    if (fresh) {
      at("line").value = "";
      at("line").focus();
    }
  };
  const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
  // What is to be kept in mind is shown symbol by symbol, and then hidden.
  const present = async (state) => {
    const start = element("button", "Show the next sequence", "main");
    start.type = "button";
    at("form").hidden = true;
    at("board").replaceChildren(start);
    start.focus();
    await new Promise((done) => start.addEventListener("click", done, { once: true }));
    for (const symbol of state.paced) {
      if (now !== state) return;
      at("board").replaceChildren(element("span", symbol, "symbol"));
      await wait(0.8 * state.seconds);
      at("board").replaceChildren();
      await wait(0.2 * state.seconds);  // so that two equal ones are two
    }
    if (now === state) question(state, true);
  };
  const told = (words) => { at(at("game").hidden && at("join") ? "join-fault" : "fault").textContent = words; };
  const ask = async (path, body) => {
    if (busy) return;
    busy = true;
    try {
      const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      const answer = await fetch(path, { cache: "no-store", ...request });
      const found = await answer.json();
      if (answer.ok) show(found);
      else told(found.fault);
      return answer.ok;
    } catch {
      told("The server does not answer. Is it still running?");
    } finally {
      busy = false;
    }
  };
  // A tab is a person: whoever plays again in it is known by the same id.
  const sit = (more) => ask("sit", { ticket: sessionStorage.getItem("ticket") || "", ...more });
  const send = (line) => ask(`seat/${now.name}/answer`, { turn: now.turn, line });
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    send(at("line").value);
  });
  at("stop").addEventListener("click", () => ask(`seat/${now.name}/stop`, {}));
  // A page that is loaded again goes on with its session, if that is still there.
  const before = location.hash.slice(1);
  const begin = async () => {
    if (before && await ask(`seat/${before}`)) return;
    if (!at("join") || sessionStorage.getItem("ticket")) {
      if (await sit() || !at("join")) return;
    }
    // A new player is asked first.
    sessionStorage.removeItem("ticket");
    at("join").hidden = false;
    at("join-fault").textContent = "";
    at("join").querySelector("input").focus();
  };
  if (at("join")) at("join").addEventListener("submit", (event) => {
    event.preventDefault();
    sit({ name: at("name") ? at("name").value : "", agreed: at("agreed") ? at("agreed").checked : false });
  });
  begin();
})();
