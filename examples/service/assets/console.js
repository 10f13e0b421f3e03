// Comfort of the console; every page works without it.
document.documentElement.classList.add("js");

// Copies the text of the HTTP block that the button stands in.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.closest(".http, .note")?.querySelector("code")?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});

// A form is sent once, even if its button is pressed twice.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

// A page from the history must be able to send its forms again.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// Live rows: the stream names what has changed, and the page reads itself again.
addEventListener("DOMContentLoaded", () => {
  const state = document.querySelector("[data-live-state]");
  if (!state) return;
  const topics = document.querySelector("main").dataset.topics.split(" ");
  const fresh = document.querySelector("[data-live-new]");
  const pause = document.querySelector("[data-live-pause]");
  let source, pending, timer, isLost = false;

  const say = (words, kind) => {
    if (state.textContent !== words) state.textContent = words;
    state.dataset.state = kind;
  };
  const regions = (root) => [...root.querySelectorAll("[data-live]")];
  const rows = (root) => new Set([...root.querySelectorAll("[data-live] a.open")].map((link) => link.getAttribute("href")));
  // a person who reads below the top, selects text or has focus in a list keeps what is there
  const isRead = () => scrollY > 200 || regions(document).some((region) =>
    region.contains(document.activeElement) || (!getSelection().isCollapsed && region.contains(getSelection().anchorNode)));

  const show = () => {
    for (const old of regions(document)) {
      const now = pending.querySelector(`[data-live="${old.dataset.live}"]`);
      if (now) old.replaceWith(document.adoptNode(now));
    }
    pending = undefined;
    fresh.hidden = true;
  };
  const lose = () => {
    if (!isLost) say(`Not live since ${new Date().toISOString().slice(11, 19)}`, "lost");
    isLost = true;
  };
  const begin = () => {
    isLost = false;
    say("Live", "live");
  };
  const read = async () => {
    timer = undefined;
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html", "x-live-read": "1" } });
      if (!response.ok || response.redirected) return lose();
      if (isLost && source?.readyState === EventSource.OPEN) begin();
      pending = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch {
      return lose();
    }
    if (!isRead()) return show();
    const known = rows(document);
    const count = [...rows(pending)].filter((row) => !known.has(row)).length;
    fresh.textContent = count ? `Show ${count} new` : "Show changes";
    fresh.hidden = false;
  };
  const readSoon = () => { timer ??= setTimeout(read, 2000); };
  const close = () => { source?.close(); source = undefined; };
  const open = () => {
    close();
    source = new EventSource("/console/live");
    source.onopen = () => {
      if (isLost) readSoon();
      begin();
    };
    source.onerror = () => {
      lose();
      // a refusal closes the source for good
      const refused = source;
      if (refused?.readyState !== EventSource.CLOSED) return;
      setTimeout(() => { if (source === refused) open(); }, 5000);
    };
    source.addEventListener("changed", (event) => {
      if (event.data.split(" ").some((topic) => topics.includes(topic))) readSoon();
    });
  };
  const resume = () => {
    isLost = false;
    open();
    readSoon();
  };

  fresh.addEventListener("click", () => { if (pending) show(); });
  pause.addEventListener("click", () => {
    const isPaused = pause.getAttribute("aria-pressed") !== "true";
    pause.setAttribute("aria-pressed", isPaused);
    pause.textContent = isPaused ? "Resume" : "Pause";
    if (!isPaused) return resume();
    close();
    say("Paused", "paused");
  });
  // a page that is not seen needs no connection
  document.addEventListener("visibilitychange", () => {
    if (pause.getAttribute("aria-pressed") === "true") return;
    if (document.hidden) close();
    else resume();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) resume(); });
  say("Connecting…", "paused");
  open();
});
