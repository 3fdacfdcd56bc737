"use strict";
// Draws the figures, colours them for the theme, and follows the slider. For print: light colours, all curves.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const slider = document.getElementById("percent"), main = document.querySelector("main");
  const config = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const PRINT_WIDTH = { half: 335, full: 680 };  // px, on A4
  const state = { index: data.percents.length - 1, over: "swing", compare: "", printing: false };

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const lineColours = () => data.palette[dark.matches && !state.printing ? "dark" : "light"];

  function themed(figure) {
    const ink = style("--ink"), soft = style("--soft"), grid = style("--grid"), accent = style("--accent");
    const axis = { gridcolor: grid, zerolinecolor: soft, linecolor: grid, tickfont: { color: soft } };
    const layout = {
      ...figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12 },
      hoverlabel: { bgcolor: style("--panel"), bordercolor: style("--line"), font: { color: ink } },
    };
    for (const name of ["xaxis", "yaxis", "yaxis2"])
      if (layout[name]) layout[name] = { ...layout[name], ...axis };
    return { layout, data: figure.data.map((trace) => coloured(trace, ink, soft, accent)) };
  }

  function coloured(trace, ink, soft, accent) {
    const { role, percent } = trace.meta, place = data.percents.indexOf(percent), colour = lineColours()[place];
    const chosen = place === state.index;
    if (role === "band")
      return { ...trace, visible: chosen, fillcolor: colour + "38", line: { width: 0 } };
    if (role === "curve") {
      const bright = chosen || state.printing;
      return { ...trace, line: { ...trace.line, color: colour, width: chosen && !state.printing ? 3.2 : 1.5 }, opacity: bright ? 1 : 0.45 };
    }
    if (role === "bars") return { ...trace, marker: { color: accent } };
    const colours = { opensim: ink, ours: lineColours()[0], difference: accent };
    return { ...trace, line: { ...trace.line, color: colours[role], width: role === "difference" ? 1 : 2 } };
  }

  function draw(element, figure) {
    const { data: traces, layout } = themed(figure);
    if (state.printing) {
      layout.width = element.closest(".grid, .side") ? PRINT_WIDTH.half : PRINT_WIDTH.full;
      if (element.closest(".grid")) layout.height = 220;
    } else {
      layout.autosize = true;
    }
    Plotly.react(element, traces, layout, config);
  }

  function seen(figure) {  // the part of a family that is asked for
    if (!figure.stride || state.over === "time") return figure.time;
    const { stride, swing } = figure;
    if (state.over === "stride") return stride;
    const { xaxis, yaxis } = stride.layout;
    const layout = { ...stride.layout, xaxis: { ...xaxis, range: swing.x }, yaxis: { ...yaxis, range: swing.y }, shapes: [], annotations: [] };
    return { data: stride.data, layout };
  }

  function figures() {  // element and figure, those that can be seen first
    const all = Object.entries(data.figures).filter(([id]) => !id.startsWith("compare-"))
      .map(([id, figure]) => [document.getElementById(id), figure.time ? seen(figure) : figure]);
    const compare = document.getElementById("compare");
    if (compare) all.push([compare, data.figures["compare-" + state.compare]]);
    const hidden = (element) => { const box = element.getBoundingClientRect(); return box.bottom < 0 || box.top > innerHeight; };
    return all.map(([element, figure]) => [hidden(element), element, figure]).sort((a, b) => a[0] - b[0]);
  }

  let queue = [], drawing = false, waiting = false;
  function drawAll() {
    queue = figures();
    while (queue.length && (state.printing || !queue[0][0])) drawNext();
    if (!drawing) rest();
  }

  function drawNext() {
    const [, element, figure] = queue.shift();
    draw(element, figure);
  }

  function rest() {  // what cannot be seen: one figure per picture, so that the slider stays quick
    drawing = queue.length > 0;
    main.setAttribute("aria-busy", String(drawing || waiting));
    if (!drawing) return;
    drawNext();
    requestAnimationFrame(rest);
  }

  function choose(index) {
    state.index = index;
    const text = data.percents[index] + " %";
    if (slider) {
      slider.value = index;
      slider.setAttribute("aria-valuetext", text + " muscle");
      document.getElementById("shown").textContent = text;
    }
    for (const chip of document.querySelectorAll("button.chip"))
      chip.setAttribute("aria-pressed", String(Number(chip.dataset.index) === index));
    soon();
  }

  function soon() {  // once per picture, however fast the slider moves
    if (waiting) return;
    waiting = true;
    main.setAttribute("aria-busy", "true");
    requestAnimationFrame(() => { waiting = false; drawAll(); });
  }

  function print(on) {
    if (state.printing === on) return;
    state.printing = on;
    document.documentElement.classList.toggle("paper", on);  // light, also while the screen is still dark
    for (const fold of document.querySelectorAll("details"))
      if (on) { fold.dataset.was = fold.open; fold.open = true; } else { fold.open = fold.dataset.was === "true"; }
    drawAll();
  }

  const choice = document.getElementById("compare-choice");
  if (choice) {
    state.compare = choice.value;
    choice.addEventListener("change", () => { state.compare = choice.value; soon(); });
  }
  if (slider) slider.addEventListener("input", () => choose(Number(slider.value)));
  for (const chip of document.querySelectorAll("button.chip"))
    chip.addEventListener("click", () => choose(Number(chip.dataset.index)));
  for (const radio of document.querySelectorAll("input[name=over]"))
    radio.addEventListener("change", () => { state.over = radio.value; soon(); });
  dark.addEventListener("change", soon);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  paper.addEventListener("change", (event) => print(event.matches));
  choose(state.index);
})();
