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
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const first = head.classList.contains("number") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        sort(table, column, head.getAttribute("aria-sort") === first ? other : first);
      });
    });
  }
  // `#sort=scores-0,2,ascending` is a link to a sorted table.
  const wanted = /^#sort=([\w-]+),(\d+),(ascending|descending)$/.exec(location.hash);
  const table = wanted && document.getElementById(wanted[1]);
  if (table && Number(wanted[2]) < table.tHead.rows[0].cells.length) sort(table, Number(wanted[2]), wanted[3]);

  // Values under the pointer. The data are read when a plot is first touched.
  let tasks = null;
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const at = (curve, step) => {
    let index = -1;
    while (index + 1 < curve.steps.length && curve.steps[index + 1] <= step * (1 + 1e-9)) index += 1;
    return index;
  };
  for (const plot of document.querySelectorAll("svg[data-curves]")) {
    const [left, top, width, height, first, last] = plot.dataset.frame.split(" ").map(Number);
    const figure = plot.closest("figure");
    const readout = figure.querySelector(".readout");
    const cursor = plot.querySelector(".cursor");
    const line = cursor.querySelector("line");
    let share = 1;
    const classes = (row) => {
      const drawn = plot.querySelector(`g.curve[data-row="${row}"]`);
      return drawn ? drawn.getAttribute("class").replace("curve", "").trim() : "";
    };
    const show = () => {
      tasks ??= JSON.parse(document.getElementById("data").textContent).tasks;
      const step = first * (last / first) ** share;
      const x = left + width * share;
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      cursor.querySelectorAll("circle").forEach((dot) => dot.remove());
      const body = document.createElement("table");
      const found = tasks[Number(plot.dataset.curves)].learners
        .map((row, number) => ({ name: row.learner, number, curve: row.curve }))
        .filter((item) => item.curve).map((item) => ({ ...item, index: at(item.curve, step) }))
        .filter((item) => item.index >= 0).sort((a, b) => b.curve.mean[b.index] - a.curve.mean[a.index]);
      for (const { name, number, curve, index } of found) {
        const tr = body.insertRow();
        const head = document.createElement("th");
        const key = document.createElement("span");
        key.className = "key " + classes(number);
        head.append(key, name);
        tr.append(head);
        tr.insertCell().textContent = curve.mean[index].toFixed(3);
        tr.insertCell().textContent = curve.runs > 1 ? `[${curve.low[index].toFixed(3)}, ${curve.high[index].toFixed(3)}]` : "one run";
        const dot = document.createElementNS(plot.namespaceURI, "circle");
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", top + height * (1 - curve.mean[index]));
        dot.setAttribute("r", 3.5);
        dot.setAttribute("class", classes(number));
        cursor.append(dot);
      }
      const head = document.createElement("p");
      head.textContent = `after ${format.format(step)} ${found.length ? found[0].curve.unit : "steps"}`;
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
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) * (plot.viewBox.baseVal.width / box.width);
      share = Math.max(0, Math.min(1, (x - left) / width));
      show();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.setAttribute("tabindex", "0");
    plot.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (event.key === "Escape") hide();
      if (!move) return;
      event.preventDefault();
      share = Math.max(0, Math.min(1, share + move));
      show();
    });
  }
})();
