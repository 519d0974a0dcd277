"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const enter = async () => {
    try {
      const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: at("code").value }) };
      const answer = await fetch("enter", { cache: "no-store", ...request });
      const found = await answer.json();
      if (answer.ok) location.assign(found.address);
      else at("fault").textContent = found.fault;
    } catch {
      at("fault").textContent = "The server does not answer. Is it still running?";
    }
  };
  at("door").addEventListener("submit", (event) => {
    event.preventDefault();
    enter();
  });
  // A link that the teacher passes on has the code after #, which no server is sent.
  at("code").value = location.hash.slice(1);
  at("code").focus();
  if (at("code").value) enter();
})();
