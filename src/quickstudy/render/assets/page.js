"use strict";
(() => {
  // Sorting: a click on a heading sorts the rows inside each group; values that are missing stay last.
  const value = (row, column) => {
    const cell = row.cells[column];
    const data = cell.dataset.value;
    if (data !== undefined) return data === "inf" ? Infinity : data === "-inf" ? -Infinity : Number(data);
    return cell.classList.contains("number") ? null : cell.textContent.trim();
  };
  const sort = (table, column, direction) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, index) => head.setAttribute("aria-sort", index === column ? direction : "none"));
    const sign = direction === "ascending" ? 1 : -1;
    for (const body of table.querySelectorAll("tbody.rows")) {
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return sign * (typeof a === "number" ? (a < b ? -1 : a > b ? 1 : 0) : a.localeCompare(b, "en", { numeric: true }));
      });
      body.append(...rows.map(([, row]) => row));
    }
  };
  const prepareTables = () => document.querySelectorAll("table.sortable").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const first = head.classList.contains("number") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        sort(table, column, head.getAttribute("aria-sort") === first ? other : first);
      });
    });
  });
  prepareTables();
  // `#sort=scores-0,2,ascending` is a link to a sorted table.
  const wanted = /^#sort=([\w-]+),(\d+),(ascending|descending)$/.exec(location.hash);
  const table = wanted && document.getElementById(wanted[1]);
  if (table && Number(wanted[2]) < table.tHead.rows[0].cells.length) sort(table, Number(wanted[2]), wanted[3]);

  // What is wider than its box says so.
  const measure = () => document.querySelectorAll(".scroll, .across").forEach((box) => {
    box.parentElement.querySelector(".more").hidden = box.scrollWidth <= box.clientWidth + 1;
  });
  addEventListener("resize", measure);
  const prepareBoxes = () => {
    document.querySelectorAll("details").forEach((one) => one.addEventListener("toggle", measure));
    measure();
  };
  prepareBoxes();

  // Values under the pointer. The data are read when a plot is first touched.
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const place = (value, low, high, kind) => {
    const inside = Math.max(low, Math.min(high, value));
    return kind === "log" ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
  };
  const at = (series, x) => {
    let index = -1;
    while (index + 1 < series.x.length && series.x[index + 1] <= x + Math.abs(x) * 1e-9) index += 1;
    return index;
  };
  const follow = (figure, plot, panel, number) => {
    const numbers = panel.dataset.frame.split(" ");
    const [left, top, width, height, first, last, low, high] = numbers.map(Number);
    const [across, up] = numbers.slice(8);
    const readout = figure.querySelector(".readout");
    const cursor = panel.querySelector(".cursor");
    const line = cursor.querySelector("line");
    let data = null;
    let share = 1;
    const show = () => {
      data ??= JSON.parse(figure.querySelector("script.series").textContent);
      const value = across === "log" ? first * (last / first) ** share : first + (last - first) * share;
      const x = left + width * share;
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      cursor.querySelectorAll("circle").forEach((dot) => dot.remove());
      const body = document.createElement("table");
      const found = data.panels[number].map((series) => ({ series, index: at(series, value) }))
        .filter((item) => item.index >= 0 && Number.isFinite(item.series.y[item.index]))
        .sort((a, b) => b.series.y[b.index] - a.series.y[a.index]);
      for (const { series, index } of found) {
        const tr = body.insertRow();
        const head = document.createElement("th");
        const key = document.createElement("span");
        const name = document.createElement("bdi");
        key.className = "key " + series.mark;
        name.textContent = series.label;
        head.append(key, name);
        tr.append(head);
        tr.insertCell().textContent = format.format(series.y[index]);
        const ends = [series.low[index], series.high[index]];
        tr.insertCell().textContent = ends.every(Number.isFinite) ? `[${ends.map(format.format).join(", ")}]` : "";
        const dot = document.createElementNS(plot.namespaceURI, "circle");
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", top + height * (1 - place(series.y[index], low, high, up)));
        dot.setAttribute("r", 3.5);
        dot.setAttribute("class", series.mark);
        cursor.append(dot);
      }
      const head = document.createElement("p");
      head.textContent = `${data.title}: ${format.format(value)}`;
      readout.replaceChildren(head, body);
      readout.hidden = false;
      cursor.style.visibility = "visible";
      const box = plot.getBoundingClientRect();
      const scale = box.width / plot.viewBox.baseVal.width;
      const offset = box.left - figure.getBoundingClientRect().left + x * scale;
      const beside = share < 0.5 ? offset + 14 : offset - 14 - readout.offsetWidth;
      // At the foot of the plot: curves are mostly above.
      readout.style.top = `${Math.max(0, (top + height) * scale - readout.offsetHeight - 8)}px`;
      readout.style.left = `${Math.max(0, Math.min(beside, figure.clientWidth - readout.offsetWidth))}px`;
    };
    const hide = () => {
      readout.hidden = true;
      cursor.style.visibility = "hidden";
    };
    panel.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) * (plot.viewBox.baseVal.width / box.width);
      share = Math.max(0, Math.min(1, (x - left) / width));
      show();
    });
    panel.addEventListener("pointerleave", hide);
    panel.addEventListener("blur", hide);
    panel.setAttribute("tabindex", "0");
    panel.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (event.key === "Escape") hide();
      if (!move) return;
      event.preventDefault();
      share = Math.max(0, Math.min(1, share + move));
      show();
    });
  };
  const preparePlots = () => document.querySelectorAll("figure.live").forEach((figure) => {
    for (const plot of figure.querySelectorAll("svg"))
      plot.querySelectorAll("g.panel").forEach((panel, number) => follow(figure, plot, panel, number));
  });
  preparePlots();

  // The names of a chart of strips: the nearest under the pointer, or one after another by the arrow keys.
  const readStrip = (figure, plot, strip, readings) => {
    const [left, y, length] = strip.dataset.frame.split(" ").map(Number);
    const readout = figure.querySelector(".readout");
    const cursor = strip.querySelector(".cursor");
    let now = Math.max(0, readings.findIndex((one) => one[3] === "learner"));
    const show = () => {
      const share = readings[now][0];
      const near = readings.filter((one) => Math.abs(one[0] - share) * length < 5);
      const x = left + length * share;
      const line = document.createElementNS(plot.namespaceURI, "line");
      for (const [name, number] of Object.entries({ x1: x, x2: x, y1: y - 11, y2: y + 11 })) line.setAttribute(name, number);
      cursor.replaceChildren(line);
      const body = document.createElement("table");
      for (const [, name, value, kind] of near) {
        const tr = body.insertRow();
        const head = document.createElement("th");
        head.textContent = kind && kind !== "learner" ? `${name} (${kind})` : name;
        if (kind === "learner") head.style.fontWeight = 700;
        tr.append(head);
        tr.insertCell().textContent = value;
      }
      readout.replaceChildren(body);
      readout.hidden = false;
      cursor.style.visibility = "visible";
      const box = plot.getBoundingClientRect();
      const scale = box.width / plot.viewBox.baseVal.width;
      const offset = box.left - figure.getBoundingClientRect().left + x * scale + 12;
      readout.style.top = `${(y + 14) * scale}px`;
      readout.style.left = `${Math.max(0, Math.min(offset, figure.clientWidth - readout.offsetWidth))}px`;
    };
    const hide = () => {
      readout.hidden = true;
      cursor.style.visibility = "hidden";
    };
    if (!readings.length) return;
    strip.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const share = ((event.clientX - box.left) * (plot.viewBox.baseVal.width / box.width) - left) / length;
      readings.forEach((one, index) => { if (Math.abs(one[0] - share) < Math.abs(readings[now][0] - share)) now = index; });
      show();
    });
    strip.addEventListener("pointerleave", hide);
    strip.addEventListener("focus", show);
    strip.addEventListener("blur", hide);
    strip.setAttribute("tabindex", "0");
    strip.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") hide();
      if (!move) return;
      event.preventDefault();
      now = Math.max(0, Math.min(readings.length - 1, now + move));
      show();
    });
  };
  const prepareStrips = () => document.querySelectorAll("figure.strips").forEach((figure) => {
    const data = JSON.parse(figure.querySelector("script.readings").textContent);
    for (const plot of figure.querySelectorAll("svg"))
      plot.querySelectorAll("g.strip").forEach((strip, number) => readStrip(figure, plot, strip, data[number]));
  });
  prepareStrips();

  // A bar with a button for every key that does the same, and words that are read out.
  const steering = (words, act) => {
    const bar = document.createElement("div");
    bar.className = "steering";
    for (const [key, [sign, label]] of Object.entries(words)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.setAttribute("aria-label", label);
      button.title = `${label} (${key})`;
      button.addEventListener("click", () => act(key));
      bar.append(button);
    }
    const told = document.createElement("output");
    told.setAttribute("aria-live", "polite");
    bar.append(told);
    return [bar, told];
  };

  // A space is turned by dragging it, by its buttons, or by the arrow keys. Everything is drawn already: it moves.
  const turn = (figure) => {
    const data = JSON.parse(figure.querySelector("script.places").textContent);
    let [turned, raised] = [data.turned, data.raised];
    const draw = () => {
      const [turning, rising] = [turned, raised].map((angle) => angle * Math.PI / 180);
      const [ct, st, cr, sr] = [Math.cos(turning), Math.sin(turning), Math.cos(rising), Math.sin(rising)];
      for (const plot of figure.querySelectorAll("svg")) plot.querySelectorAll("g.space").forEach((space, number) => {
        const [left, top, scale] = space.dataset.space.split(" ").map(Number);
        const at = ([x, y, z]) => {
          const away = st * (x - 0.5) + ct * (y - 0.5);
          return [left + scale * (ct * (x - 0.5) - st * (y - 0.5)), top - scale * (cr * (z - 0.5) + sr * away), sr * (z - 0.5) - cr * away];
        };
        space.querySelectorAll("line.cube").forEach((line, index) => {
          const [[x1, y1], [x2, y2]] = data.edges[index].map(at);
          for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value.toFixed(1));
        });
        space.querySelectorAll("g.cloud").forEach((cloud, index) => {
          const places = data.panels[number][index].map(at);
          const path = cloud.querySelector("polyline");
          if (path) path.setAttribute("points", places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
          else cloud.querySelectorAll("circle").forEach((dot, which) => {
            const [x, y, depth] = places[which];
            dot.setAttribute("cx", x.toFixed(1));
            dot.setAttribute("cy", y.toFixed(1));
            dot.setAttribute("r", (2.6 + 1.2 * depth).toFixed(1));
          });
        });
        space.querySelectorAll(":scope > text").forEach((text, index) => {
          const [x, y] = at(data.names[index]);
          const half = text.getComputedTextLength() / 2;
          text.setAttribute("x", Math.max(half, x).toFixed(1));
          text.setAttribute("y", (y + 4).toFixed(1));
        });
      });
    };
    const move = (around, up) => {
      turned = ((turned + around + 540) % 360) - 180;
      raised = Math.max(-90, Math.min(90, raised + up));
      draw();
      told.textContent = `turned ${Math.round(turned)}°, raised ${Math.round(raised)}°`;
    };
    const back = () => move(data.turned - turned, data.raised - raised);
    const moves = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] };
    const words = { ArrowLeft: ["←", "turn to the left"], ArrowRight: ["→", "turn to the right"], ArrowUp: ["↑", "look from higher up"], ArrowDown: ["↓", "look from lower down"], Home: ["⟲", "as at first"] };
    const [bar, told] = steering(words, (key) => key === "Home" ? back() : move(3 * moves[key][0], 3 * moves[key][1]));
    told.textContent = "drag it, or use the arrow keys";
    figure.querySelector("figcaption").before(bar);
    for (const plot of figure.querySelectorAll("svg")) {
      plot.setAttribute("tabindex", "0");
      plot.addEventListener("keydown", (event) => {
        if (event.key !== "Home" && !moves[event.key]) return;
        event.preventDefault();
        event.key === "Home" ? back() : move(...moves[event.key]);
      });
      plot.addEventListener("pointerdown", (event) => {
        plot.setPointerCapture(event.pointerId);
        let [x, y] = [event.clientX, event.clientY];
        const drag = (now) => {
          move((now.clientX - x) / 2, (now.clientY - y) / 2);
          [x, y] = [now.clientX, now.clientY];
        };
        plot.addEventListener("pointermove", drag);
        plot.addEventListener("lostpointercapture", () => plot.removeEventListener("pointermove", drag), { once: true });
      });
    }
  };
  // One step at a time: by its buttons, the slider, or the arrow keys.
  const walk = (figure, number) => {
    const steps = [...figure.querySelectorAll(":scope > ol > li")];
    if (steps.length < 2) return;
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 1, max: steps.length, step: 1 });
    slider.setAttribute("aria-label", "step");
    let now = 0;
    const go = (place) => {
      now = Math.max(0, Math.min(steps.length - 1, place));
      steps.forEach((step, index) => { step.hidden = index !== now; });
      slider.value = now + 1;
      told.textContent = `${now + 1} of ${steps.length}`;
      slider.setAttribute("aria-valuetext", `${told.textContent}: ${steps[now].firstElementChild.textContent}`);
      standing.set(number, now);
    };
    const moves = { Home: () => 0, ArrowLeft: () => now - 1, ArrowRight: () => now + 1, End: () => steps.length - 1 };
    const words = { Home: ["⇤", "first step"], ArrowLeft: ["←", "step back"], ArrowRight: ["→", "next step"], End: ["⇥", "last step"] };
    const [bar, told] = steering(words, (key) => go(moves[key]()));
    told.before(slider);
    slider.addEventListener("input", () => go(slider.value - 1));
    figure.setAttribute("tabindex", "0");
    figure.addEventListener("keydown", (event) => {
      if (!moves[event.key] || event.target.closest("svg, .scroll")) return;
      event.preventDefault();
      go(moves[event.key]());
    });
    figure.querySelector("ol").before(bar);
    go(standing.get(number) ?? 0);
  };
  const standing = new Map();
  const prepareSteps = () => document.querySelectorAll("figure.steps").forEach(walk);
  prepareSteps();
  const prepareSpaces = () => document.querySelectorAll("figure.turns").forEach(turn);
  prepareSpaces();

  // A page that is served asks now and then whether there is anything new. It takes it over where it stands: what is
  // open stays open, how tables are sorted stays, and nothing moves away from under somebody's keyboard.
  let mark = document.body.dataset.mark;
  if (!mark) return;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  status.className = "status";
  document.body.append(status);
  const takeOver = async () => {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) return false;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = [...document.querySelectorAll("main details")].map((one) => one.open);
    const sorted = [...document.querySelectorAll("main table.sortable")].map((table) => {
      const heads = [...table.tHead.rows[0].cells];
      const column = heads.findIndex((head) => head.getAttribute("aria-sort") !== "none");
      return [table.id, column, column < 0 ? "" : heads[column].getAttribute("aria-sort")];
    });
    document.querySelector("main").replaceWith(document.adoptNode(fresh.querySelector("main")));
    document.title = fresh.title;
    document.querySelectorAll("main details").forEach((one, index) => { one.open = open[index] ?? one.open; });
    prepareTables();
    for (const [id, column, direction] of sorted) {
      const table = document.getElementById(id);
      if (table && direction && column < table.tHead.rows[0].cells.length) sort(table, column, direction);
    }
    prepareBoxes();
    preparePlots();
    prepareStrips();
    prepareSpaces();
    prepareSteps();
    return true;
  };
  const look = async () => {
    try {
      const answer = await fetch(`${location.pathname}?mark`, { cache: "no-store" });
      const now = await answer.text();
      const busy = document.querySelector("main").contains(document.activeElement);
      if (answer.ok && now !== mark && busy) status.textContent = "There is something new. It is shown when the focus leaves the page's content.";
      else if (answer.ok && now !== mark && await takeOver()) {
        mark = now;
        status.textContent = `Renewed at ${new Date().toLocaleTimeString()}.`;
      }
    } catch {
      status.textContent = "The server does not answer. What is shown may be old.";
    }
    setTimeout(look, 2000);
  };
  setTimeout(look, 2000);
})();
