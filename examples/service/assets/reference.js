// The API reference: Redoc in the colours of the page.
const place = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)");
const probe = place.appendChild(document.createElement("span"));

/** Colour of a token, as text that Redoc can compute with. */
function colour(token) {
  probe.style.color = `var(${token})`;
  return getComputedStyle(probe).color;
}

function theme() {
  const [ink, soft, line, card, well, accent] = ["--ink", "--soft", "--line", "--card", "--well", "--accent"].map(colour);
  const style = getComputedStyle(document.documentElement);
  const [sans, mono] = [style.getPropertyValue("--sans"), style.getPropertyValue("--mono")];
  return {
    breakpoints: { small: "40rem", medium: "80rem", large: "110rem" },
    colors: {
      primary: { main: accent },
      success: { main: colour("--good") },
      warning: { main: colour("--warn") },
      error: { main: colour("--bad") },
      text: { primary: ink, secondary: soft },
      border: { light: line, dark: line },
      responses: {
        success: { color: colour("--good"), backgroundColor: colour("--good-tint"), tabTextColor: "#7fdcae" },
        error: { color: colour("--bad"), backgroundColor: colour("--bad-tint"), tabTextColor: "#ff9d94" },
        redirect: { color: colour("--warn"), backgroundColor: colour("--warn-tint") },
        info: { color: colour("--wait"), backgroundColor: colour("--wait-tint") },
      },
    },
    schema: { nestedBackground: well, linesColor: line, typeNameColor: soft, typeTitleColor: soft, requireLabelColor: colour("--bad"), labelsTextSize: "0.9em" },
    typography: {
      fontSize: "15px",
      fontFamily: sans,
      headings: { fontFamily: sans, fontWeight: "600" },
      code: { fontFamily: mono, fontSize: "13px", color: colour("--bad"), backgroundColor: well },
      links: { color: accent, visited: accent, hover: accent },
    },
    sidebar: { width: "15rem", backgroundColor: card, textColor: ink, activeTextColor: accent },
    rightPanel: { backgroundColor: "#1b2330", textColor: "#e8ecf2" },
  };
}

/** Shows the document; again when the colour scheme changes, since Redoc computes its colours. */
function show() {
  const shown = document.createElement("div");
  // the search of Redoc needs a worker from a blob, which the policy refuses
  const options = { theme: theme(), disableSearch: true, hideDownloadButtons: true, nativeScrollbars: true, scrollYOffset: 64 };
  Redoc.init("/openapi.json", options, shown, () => place.querySelector(":scope > div")?.replaceWith(shown) ?? place.append(shown));
}

show();
dark.addEventListener("change", show);
