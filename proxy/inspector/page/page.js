"use strict";
// The page of the inspector. Texts reach the document as text only, never as markup; nothing is kept between two visits.

const at = (id) => document.getElementById(id);
const LINT_AFTER = 400; // milliseconds without a key

let liveText = "";
let asked = 0; // the last question: answers to earlier ones are dropped
let linted = 0;
let waiting = 0;
let told = null; // the mark whose reason is shown
let leaving = 0;

function make(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

async function call(path, question) {
  const answer = await fetch(`/inspector/api/${path}`, question === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
}

const isEdited = () => document.querySelector("input[name=which]:checked").value === "edited";
const isText = () => at("endpoint").value === "text";
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// What to inspect

async function begin() {
  try {
    const { policy, text, endpoints, languages } = await call("live");
    at("live").textContent = `Live policy ${policy.name}@${policy.digest} · ${policy.mode} · ${languages.join(", ")}`;
    liveText = text;
    at("policy").value = text;
    for (const path of endpoints) at("endpoint").append(new Option(`A request to ${path}`, path));
  } catch (error) {
    at("live").textContent = `The policy cannot be shown: ${error.message}`;
  }
}

function chosenKind() {
  at("model-pair").hidden = !isText();
  at("input-label").textContent = isText() ? "Text" : "Request body (JSON)";
  at("input").classList.toggle("code", !isText());
}

function chosenPolicy() {
  at("policy").readOnly = !isEdited();
  if (!isEdited()) at("policy").value = liveText;
  lint();
}

// Lint

function lintSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(lint, LINT_AFTER);
}

async function lint() {
  const mine = ++linted;
  if (!isEdited()) {
    showFaults([]);
    at("lint-state").textContent = "The policy as it is in force. Choose “An edited one” to try a change.";
    return;
  }
  try {
    const { faults } = await call("lint", { policy: at("policy").value });
    if (mine === linted) showFaults(faults);
  } catch (error) {
    if (mine === linted) at("lint-state").textContent = error.message;
  }
}

function showFaults(faults) {
  const list = at("faults");
  list.replaceChildren(...faults.map((fault) => {
    const item = make("li");
    item.append(make("span", `${fault.line}:${fault.column}`, "where"), ` ${fault.message}`);
    if (fault.mend) item.append(`; ${fault.mend}`);
    item.append(" ", make("span", `[${fault.rule}]`, "rule"));
    return item;
  }));
  list.hidden = faults.length === 0;
  at("policy").setAttribute("aria-invalid", String(faults.length > 0));
  at("lint-state").textContent = faults.length ? `${plural(faults.length, "fault")}:` : "No faults: this policy loads.";
}

// The result

async function inspect() {
  const mine = ++asked;
  const question = { endpoint: at("endpoint").value, input: at("input").value, model: at("model").value };
  if (isEdited()) question.policy = at("policy").value;
  busy(true);
  try {
    const answer = await call("inspect", question);
    if (mine === asked) show(answer);
  } catch (error) {
    if (mine === asked) verdict(`Not inspected: ${error.message}`, "refuse");
  } finally {
    if (mine === asked) busy(false);
  }
}

function busy(yes) {
  at("run").setAttribute("aria-disabled", String(yes));
  at("results").setAttribute("aria-busy", String(yes));
  if (yes) verdict("Inspecting…", "");
}

function verdict(text, kind) {
  at("verdict").textContent = text;
  at("verdict").className = kind;
  if (kind === "refuse") at("told").hidden = true;
}

function show(result) {
  hideTip();
  if (result.faults.length) {
    showFaults(result.faults);
    verdict("Not inspected: the edited policy has faults.", "refuse");
    return;
  }
  const { forwarded, status, error } = result.outcome;
  const found = `${plural(result.findings.length, "finding")} under ${result.policy.name}@${result.policy.digest}`;
  if (forwarded) verdict(`Would be forwarded: ${found}.`, "forward");
  else verdict(`Would be refused with ${status} (${error.error.code ?? error.error.type}): ${error.error.message}`, "refuse");
  at("told").hidden = false;
  showTokens(result.tokens);
  showChanges(result.changes, result.live, forwarded);
  showLeaves(result);
  at("sent").textContent = forwarded ? result.sent : "Nothing: the request would be refused.";
  at("sent-hint").hidden = !forwarded;
}

function showTokens({ before, after, completion, limit }) {
  const used = (after ?? before ?? 0) + (completion ?? 0);
  at("measure").hidden = limit === null || before === null;
  at("tokens").max = limit ?? 1;
  at("tokens").high = (limit ?? 1) * 0.9;
  at("tokens").value = used;
  const number = (value) => value.toLocaleString("en");
  const prompt = after === null || after === before ? number(before ?? 0) : `${number(before)} as written, ${number(after)} as sent`;
  const asks = completion ? `; ${number(completion)} asked for the answer` : "";
  at("tokens-text").textContent = `Prompt: ${prompt}${asks}. Limit served: ${number(limit ?? 0)}.`;
}

function showChanges(changes, live, forwarded) {
  at("changed").hidden = changes === undefined;
  if (changes === undefined) return;
  const kinds = ["newly found", "no longer found", "other action", "other entity"];
  const counts = kinds.map((kind) => [changes.filter((one) => one.change === kind).length, kind]);
  const said = counts.filter(([count]) => count).map(([count, kind]) => `${count} ${kind}`);
  const turn = live.forwarded === forwarded ? "" : ` The live policy would ${live.forwarded ? "forward" : "refuse"} it.`;
  at("changes-text").textContent = `${said.length ? said.join(", ") : "No difference in what is found"}.${turn}`;
  const rule = (one) => (one === null ? "–" : `${one.entity}, ${one.action}`);
  const rows = changes.map((one) => {
    const row = make("tr", "", one.before === null ? "new" : one.after === null ? "gone" : "");
    row.append(make("td", one.change), make("td", one.value, "value"), make("td", rule(one.before)),
      make("td", rule(one.after)), make("td", one.path, "place"));
    return row;
  });
  at("changes").tBodies[0].replaceChildren(...rows);
  at("changes").parentElement.hidden = rows.length === 0;
}

function showLeaves({ leaves, findings, hidden }) {
  const entities = [...new Set(findings.map((finding) => finding.entity))];
  const colour = (entity) => `k${entities.indexOf(entity) % 8}`;
  at("legend").hidden = entities.length === 0;
  at("legend").replaceChildren(...entities.map((entity) => {
    const count = findings.filter((finding) => finding.entity === entity).length;
    return make("li", `${entity} ${count}`, colour(entity));
  }));
  at("leaves").replaceChildren(...leaves.map((leaf) => {
    const box = make("div", "", "leaf");
    const text = make("p");
    for (const part of leaf.parts) {
      if (part.finding === null) text.append(part.text);
      else text.append(...hit(part.text, findings[part.finding], part.finding, colour));
    }
    box.append(make("h4", leaf.path), text);
    return box;
  }));
  at("hidden-leaves").hidden = hidden === 0;
  at("hidden-leaves").textContent = `${plural(hidden, "text")} more, inspected but not shown.`;
}

function reason(finding) {
  const lines = [
    `${finding.entity}: ${finding.action}`,
    `${finding.evidence}, score ${finding.score.toFixed(2)}`,
    `${finding.recognizer}: ${finding.why}`,
    ...finding.also.map((more) => `also ${more}`),
  ];
  return lines.join("\n");
}

function hit(text, finding, index, colour) {
  const mark = make("mark", text, `hit ${colour(finding.entity)} ${finding.action}`);
  const why = make("span", reason(finding));
  why.id = `why-${index}`;
  why.hidden = true;
  mark.tabIndex = 0;
  mark.dataset.entity = finding.entity;
  mark.dataset.value = text;
  mark.setAttribute("aria-describedby", why.id);
  mark.append(make("b", finding.entity));
  for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, () => showTip(mark, why.textContent));
  mark.addEventListener("mouseleave", hideSoon);
  mark.addEventListener("blur", hideTip);
  return [mark, why];
}

function showTip(mark, text) {
  clearTimeout(leaving);
  told = mark;
  at("tip").textContent = text;
  at("tip").hidden = false;
  placeTip();
}

function placeTip() {
  if (told === null) return;
  const tip = at("tip");
  const place = told.getClientRects()[0];
  const below = place.bottom + 8 + tip.offsetHeight < innerHeight;
  tip.style.top = `${below ? place.bottom + 8 : Math.max(8, place.top - tip.offsetHeight - 8)}px`;
  tip.style.left = `${Math.max(8, Math.min(place.left, innerWidth - tip.offsetWidth - 8))}px`;
}

function hideSoon() { // the pointer may be on its way to the reason
  clearTimeout(leaving);
  leaving = setTimeout(hideTip, 200);
}

function hideTip() {
  clearTimeout(leaving);
  told = null;
  at("tip").hidden = true;
}

at("endpoint").addEventListener("change", chosenKind);
at("policy").addEventListener("input", lintSoon);
for (const choice of document.querySelectorAll("input[name=which]")) choice.addEventListener("change", chosenPolicy);
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  inspect();
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    inspect();
  }
});
at("tip").addEventListener("mouseenter", () => clearTimeout(leaving));
at("tip").addEventListener("mouseleave", hideTip);
addEventListener("scroll", placeTip, { passive: true, capture: true });
addEventListener("resize", placeTip);
begin();
