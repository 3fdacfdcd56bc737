// The viewer: controls, playback, pointer and keys. One frame is drawn when something has changed, none otherwise.

const COLOURS = ['paper', 'grid', 'mesh', 'stick', 'muscle', 'belly', 'tendon', 'other', 'wrap', 'marker'];
const SWITCHES = { bones: 'Bones', muscles: 'Muscles', mass: 'Muscle mass', wraps: 'Wraps', markers: 'Markers', floor: 'Floor' };
const HELP = 'Drag to turn, right-drag or two fingers to move, wheel (after a click) or pinch to zoom. Keys: arrows turn, with Shift '
  + 'they move, + and − zoom, Space plays, comma and full stop step, Home resets.';

class Viewer {
  constructor(root, data) {
    this.root = root;
    this.scene = new SceneData(data);
    this.frame = 0;
    this.chosen = 0;
    this.playing = false;
    this.pointers = new Map();
    const { scene } = this;
    this.show = { bones: true, muscles: true, mass: scene.massive, wraps: true, markers: false, floor: true };
    this.follow = scene.travel > 0.5 * scene.size;
    this.canvas = root.querySelector('canvas');
    this.renderer = new Renderer(this.canvas, scene);
    this.camera = new Camera(scene);
    this.buildControls();
    this.listen();
    this.readColours();
    this.resize();
    this.seek(0);
  }

  part(name) { return this.root.querySelector(`.oiv-${name}`); }
  get aspect() { return this.canvas.width / this.canvas.height; }

  // ---- controls ------------------------------------------------------------------------------------------------------
  buildControls() {
    const { scene } = this, slider = this.part('time');
    slider.max = scene.frames - 1;
    this.part('player').hidden = scene.frames < 2;
    const there = {
      bones: scene.solids.some(s => s.kind !== 'wrap'), muscles: scene.lines.length, mass: scene.massive,
      wraps: scene.solids.some(s => s.kind === 'wrap'), markers: scene.markers.length, floor: true,
    };
    const add = (name, text, on, act) => {
      const label = document.createElement('label'), box = document.createElement('input');
      Object.assign(box, { type: 'checkbox', checked: on, name });
      box.addEventListener('change', () => act(box.checked));
      label.append(box, text);
      this.part('switches').append(label);
    };
    for (const [name, text] of Object.entries(SWITCHES))
      if (there[name]) add(name, text, this.show[name], on => { this.show[name] = on; this.seek(this.frame); });
    if (scene.travel > 0.05 * scene.size)
      add('follow', 'Follow', this.follow, on => { this.follow = on; this.redraw(); });
    this.canvas.setAttribute('aria-label', `3-D view of ${scene.title}. ${HELP}`);
    this.part('manual').textContent = HELP;
    this.part('help').addEventListener('click', () => {
      this.part('manual').hidden = !this.part('manual').hidden;
      this.part('help').setAttribute('aria-expanded', !this.part('manual').hidden);
    });
    slider.addEventListener('input', () => { this.pause(); this.seek(Number(slider.value)); });
    this.part('play').addEventListener('click', () => (this.playing ? this.pause() : this.play()));
    this.part('back').addEventListener('click', () => this.step(-1));
    this.part('next').addEventListener('click', () => this.step(1));
    this.part('reset').addEventListener('click', () => this.resetView());
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('pointerdown', event => this.pressed(event));
    canvas.addEventListener('pointermove', event => this.pointed(event));
    for (const name of ['pointerup', 'pointercancel'])
      canvas.addEventListener(name, event => this.pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => this.choose(0));
    canvas.addEventListener('contextmenu', event => event.preventDefault());
    canvas.addEventListener('wheel', event => {
      const scrolls = document.documentElement.scrollHeight > innerHeight + 1;
      if (scrolls && document.activeElement !== canvas) return;  // the wheel is the page's until the view is clicked on
      event.preventDefault();
      this.camera.zoom(Math.exp(clamp(event.deltaY, -100, 100) * 0.002));
      this.redraw();
    }, { passive: false });
    canvas.addEventListener('keydown', event => this.typed(event));
    canvas.addEventListener('webglcontextlost', event => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.renderer = new Renderer(canvas, this.scene);
      this.seek(this.frame);
    });
    new ResizeObserver(() => { this.resize(); this.drawNow(); }).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.readColours(); this.seek(this.frame); });
    addEventListener('beforeprint', () => this.takePicture());
  }

  readColours() {
    const style = getComputedStyle(this.root);
    this.colours = Object.fromEntries(COLOURS.map(name => [name, colour(style.getPropertyValue(`--oiv-${name}`))]));
  }

  resize() {
    const scale = Math.min(devicePixelRatio || 1, 2), { canvas } = this;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale));
    this.scale = scale;
    if (!this.touched) this.camera.reset(this.aspect);
  }

  // ---- playback ------------------------------------------------------------------------------------------------------
  seek(frame) {
    const { scene } = this;
    this.frame = clamp(frame, 0, scene.frames - 1);
    scene.place(this.frame);
    this.renderer.load(scene.drawn(this.frame, this.show, this.colours));
    this.part('time').value = this.frame;
    const t = scene.time[this.frame];
    this.part('clock').textContent = `${t.toFixed(3)} s  ·  ${this.frame + 1} / ${scene.frames}`;
    this.part('time').setAttribute('aria-valuetext', `${t.toFixed(3)} seconds`);
    this.redraw();
  }

  step(frames) {
    this.pause();
    this.seek((this.frame + frames + this.scene.frames) % this.scene.frames);
  }

  play() {
    this.setPlaying(true);
    let t = this.scene.time[this.frame], before = performance.now();
    const { time, frames } = this.scene, end = time[frames - 1];
    const tick = now => {
      if (!this.playing) return;
      t += Math.min(now - before, 250) / 1000 * Number(this.part('speed').value);
      before = now;
      if (t > end) t = time[0];
      const frame = lastAtMost(time, t);
      if (frame !== this.frame) this.seek(frame);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() { this.setPlaying(false); }

  setPlaying(on) {
    this.playing = on;
    this.part('play').textContent = on ? '❚❚' : '▶';
    this.part('play').setAttribute('aria-label', on ? 'Pause' : 'Play');
  }

  // ---- pointer and keys ----------------------------------------------------------------------------------------------
  pressed(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (event.pointerType !== 'mouse') this.hover(event);
  }

  pointed(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) { this.hover(event); return; }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY, high = this.canvas.clientHeight;
    if (this.pointers.size === 2) this.pinched(event, before, dx, dy, high);
    else if (event.buttons & 6 || event.shiftKey) this.camera.pan(dx, dy, high);
    else this.camera.orbit(dx * 0.008, dy * 0.008);
    this.pointers.set(event.pointerId, event);
    this.touched = true;
    this.choose(0);
    this.redraw();
  }

  /** Two fingers: the way between them zooms, their middle moves the view. */
  pinched(event, before, dx, dy, high) {
    const [other] = [...this.pointers.values()].filter(pointer => pointer.pointerId !== event.pointerId);
    const way = pointer => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY) || 1;
    this.camera.zoom(way(before) / way(event));
    this.camera.pan(dx / 2, dy / 2, high);
  }

  typed(event) {
    const { camera } = this, high = this.canvas.clientHeight, turn = 0.1, shift = 20;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const keys = {
      '+': () => camera.zoom(0.9), '=': () => camera.zoom(0.9), '-': () => camera.zoom(1.1),
      ' ': () => (this.playing ? this.pause() : this.play()), ',': () => this.step(-1), '.': () => this.step(1),
      Home: () => this.resetView(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) camera.pan(arrow[0] * shift, arrow[1] * shift, high);
    else if (arrow) camera.orbit(arrow[0] * turn, arrow[1] * turn);
    else if (keys[event.key]) keys[event.key]();
    else return;
    this.touched = true;
    event.preventDefault();
    this.redraw();
  }

  /** Ask, once per drawn frame, what is under the pointer. */
  hover(event) {
    this.pointer = event;
    if (this.asking) return;
    this.asking = true;
    requestAnimationFrame(() => {
      this.asking = false;
      const box = this.canvas.getBoundingClientRect();
      const x = this.pointer.clientX - box.left, y = this.pointer.clientY - box.top;
      this.aim();
      this.choose(this.renderer.pick(x * this.scale, y * this.scale, this.camera, this.show), x, y);
    });
  }

  choose(id, x, y) {
    const tip = this.part('tip');
    tip.hidden = !id;
    if (id) {
      tip.textContent = this.scene.describe(id);
      tip.style.left = `${clamp(x + 14, 4, Math.max(4, this.canvas.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${y > 50 ? y - 34 : y + 18}px`;
    }
    if (id === this.chosen) return;
    this.chosen = id;
    this.redraw();
  }

  resetView() {
    this.touched = false;
    this.camera.reset(this.aspect);
    this.redraw();
  }

  // ---- drawing -------------------------------------------------------------------------------------------------------
  aim() { this.camera.aim(this.aspect, this.follow ? this.scene.shift(this.frame) : [0, 0, 0]); }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { if (this.waiting) this.drawNow(); });
  }

  drawNow() {
    this.waiting = false;
    if (this.renderer.gl.isContextLost()) return;
    this.aim();
    this.renderer.draw(this.camera, this.show, this.colours, this.chosen);
  }

  /** For the printer: the frame as it is, in the colours of paper. */
  takePicture() {
    const shown = this.colours;
    this.root.classList.add('oiv-on-paper');
    this.readColours();
    this.seek(this.frame);
    this.drawNow();
    this.part('print').src = this.canvas.toDataURL();
    this.root.classList.remove('oiv-on-paper');
    this.colours = shown;
    this.seek(this.frame);
  }
}

function startViewer(id) {
  const root = document.getElementById(id);
  try {
    const viewer = new Viewer(root, JSON.parse(document.getElementById(`${id}-data`).textContent));
    (window.osimInertiaViews ??= {})[id] = viewer;
  } catch (error) {
    root.querySelector('.oiv-trouble').hidden = false;
    root.classList.add('oiv-failed');
    if (error.message !== 'WebGL 2 is missing') throw error;
  }
}
