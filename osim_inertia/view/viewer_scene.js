// The scene as it came with the page: unpacked once, asked for one frame at a time.

const DENSITY = 1060;  // kg/m³ of muscle
const STOUTEST = 0.3;  // radius of a belly over its length; the mass of short bellies would make balls of them
const ALONG_BELLY = [0, 0.03, 0.09, 0.18, 0.3, 0.42, 0.5, 0.58, 0.7, 0.82, 0.91, 0.97, 1];
const FULLNESS = 1 / Math.sqrt(0.75);  // the shape below has the volume of a cylinder of the same length
const bulge = x => FULLNESS * Math.sqrt(Math.max(0, 1 - Math.abs(2 * x - 1) ** 3));
const FLOATS = 12;  // of an instance: two ends, two radii, colour, id

class SceneData {
  constructor(data) {
    Object.assign(this, data);
    this.time = float32(data.time);
    this.frames = this.time.length;
    this.poses = float32(data.poses);
    this.counts = new Uint8Array(bytesOf(data.counts));
    this.points = unpackPoints(data.points);
    this.first = new Uint32Array(this.frames + 1);  // place of each frame's first point
    for (let f = 0; f < this.frames; f++) {
      let sum = 0;
      for (let p = 0; p < this.lines.length; p++) sum += this.counts[f * this.lines.length + p];
      this.first[f + 1] = this.first[f] + sum;
    }
    for (const solid of this.solids) {
      solid.points = unpackPoints(solid.vertices);
      solid.triangles = new (solid.wide ? Uint32Array : Uint16Array)(bytesOf(solid.triangles));
    }
    this.names = ['', ...this.solids.map(s => s.name), ...this.lines.map(l => l.name), ...this.markers.map(m => m.name)];
    this.kinds = ['', ...this.solids.map(s => s.kind), ...this.lines.map(l => l.kind), ...this.markers.map(() => 'marker')];
    this.matrices = this.bodies.map(() => new Float32Array(16));
    this.lengths = new Float32Array(this.lines.length);
    this.massive = this.lines.some(line => line.mass > 0);
    let most = 0;
    for (let f = 0; f < this.frames; f++) most = Math.max(most, this.first[f + 1] - this.first[f]);
    this.instances = new Float32Array(FLOATS * (most + this.lines.length * (ALONG_BELLY.length + 2) + this.markers.length));
    this.line = new Float64Array(3 * 256);
    this.along = new Float64Array(256);
    this.frameBox();
  }

  /** Poses of the bodies at a frame; body -1 is ground. */
  place(frame) {
    const n = this.bodies.length;
    for (let b = 0; b < n; b++) poseMatrix(this.poses, 7 * (frame * n + b), this.matrices[b]);
  }
  matrix(body) { return body < 0 ? IDENTITY : this.matrices[body]; }

  /** Mean of the body origins, what the camera follows. */
  centre(frame) {
    const n = this.bodies.length, sum = [0, 0, 0];
    for (let b = 0; b < n; b++) for (let i = 0; i < 3; i++) sum[i] += this.poses[7 * (frame * n + b) + i] / n;
    return sum;
  }

  /** Over some frames: all that moves, relative to the centre, and its box; the lowest point; how far the centre goes. */
  frameBox() {
    const low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9], start = this.centre(0);
    this.cloud = [];
    this.lowest = 1e9;
    this.travel = 0;
    const step = Math.max(1, Math.floor(this.frames / 40));
    const boxes = this.solids.map(solid => {
      const { low, size } = solid.vertices, corners = [];
      for (let k = 0; k < 8; k++) corners.push([0, 1, 2].map(i => low[i] + ((k >> i) & 1) * size[i]));
      return corners;
    });
    for (let f = 0; f < this.frames; f += step) {
      this.place(f);
      const centre = this.centre(f), shift = subtract(centre, start);
      const level = subtract(shift, times(dot(shift, this.up), this.up));
      this.travel = Math.max(this.travel, Math.hypot(...level));
      const take = p => {
        this.lowest = Math.min(this.lowest, dot(p, this.up));
        const relative = subtract(p, level);
        this.cloud.push(relative);
        for (let i = 0; i < 3; i++) {
          low[i] = Math.min(low[i], relative[i]);
          high[i] = Math.max(high[i], relative[i]);
        }
      };
      this.solids.forEach((solid, s) => {
        if (solid.body >= 0 && solid.kind !== 'wrap') boxes[s].forEach(p => take(moved(this.matrix(solid.body), p)));
      });
      for (let k = this.first[f]; k < this.first[f + 1]; k++) take(Array.from(this.points.subarray(3 * k, 3 * k + 3)));
    }
    if (!this.cloud.length) { low.fill(-0.5); high.fill(0.5); this.lowest = -0.5; this.cloud.push(low, high); }
    this.middle = times(0.5, add(low, high));
    this.size = Math.max(...subtract(high, low), 0.1);
    this.thin = 0.0035 * clamp(this.size / 1.5, 0.25, 1.5);  // m, radius of a tendon
  }

  /** How far along the ground the body has gone since the first frame. */
  shift(frame) {
    const shift = subtract(this.centre(frame), this.centre(0));
    return subtract(shift, times(dot(shift, this.up), this.up));
  }

  /** Fill `instances` with the paths and markers of a frame; returns how many there are. */
  drawn(frame, show, colours) {
    let n = 0, at = this.first[frame];
    const put = (a, b, ra, rb, tint, id) => {
      const o = FLOATS * n++, to = this.instances;
      to[o] = a[0]; to[o + 1] = a[1]; to[o + 2] = a[2];
      to[o + 3] = b[0]; to[o + 4] = b[1]; to[o + 5] = b[2];
      to[o + 6] = ra; to[o + 7] = rb;
      to[o + 8] = tint[0]; to[o + 9] = tint[1]; to[o + 10] = tint[2]; to[o + 11] = id;
    };
    this.lines.forEach((line, p) => {
      const count = this.counts[frame * this.lines.length + p], id = 1 + this.solids.length + p;
      this.lengths[p] = this.measure(at, count);
      at += count;
      if (show.muscles && count > 1) this.drawLine(line, count, this.lengths[p], show.mass, colours, id, put);
    });
    const first = 1 + this.solids.length + this.lines.length;
    if (show.markers) this.markers.forEach((marker, k) => {
      const p = moved(this.matrix(marker.body), marker.at);
      put(p, p, 2 * this.thin, 2 * this.thin, colours.marker, first + k);
    });
    return n;
  }

  /** Copy a path into `line`, and the way to each of its points into `along`; returns its length. */
  measure(at, count) {
    const { line, along, points } = this;
    for (let k = 0; k < 3 * count; k++) line[k] = points[3 * at + k];
    along[0] = 0;
    for (let k = 1; k < count; k++) along[k] = along[k - 1] + Math.hypot(
      line[3 * k] - line[3 * k - 3], line[3 * k + 1] - line[3 * k - 2], line[3 * k + 2] - line[3 * k - 1]);
    return count ? along[count - 1] : 0;
  }

  /** The span [start, end] of a path (m) that carries mass; empty if none does. */
  belly(line, length) {
    if (!(line.mass > 0)) return [0, 0];
    const [first, last] = line.tendons;
    if (first + last > 0) return [Math.min(first, length), Math.max(length - last, 0)];
    return [line.belly[0] * length, line.belly[1] * length];
  }

  /** Radius of a belly: that of its volume as long as the belly is slender, and less than its length allows. */
  thickness(mass, length) {
    const most = STOUTEST * length + this.thin;
    return most * Math.tanh(Math.sqrt(mass / (DENSITY * Math.PI * length)) / most);
  }

  drawLine(line, count, length, withMass, colours, id, put) {
    const { along } = this, [start, end] = withMass ? this.belly(line, length) : [0, 0];
    const thick = end > start ? this.thickness(line.mass, end - start) : 0;
    const stops = [];
    for (let k = 0; k < count; k++) stops.push(along[k]);
    if (thick) for (const x of ALONG_BELLY) stops.push(start + x * (end - start));
    stops.sort((a, b) => a - b);
    const plain = line.kind === 'other' ? colours.other : this.massive && withMass ? colours.tendon : colours.muscle;
    const thin = this.massive && withMass ? this.thin : 1.3 * this.thin;
    const radius = s => thick && s > start && s < end ? Math.max(thin, thick * bulge((s - start) / (end - start))) : thin;
    let k = 0, from = this.pointAt(0, 0), before = 0;
    for (const s of stops) {
      if (s - before < 1e-7) continue;
      while (k < count - 2 && along[k + 1] < s - 1e-9) k++;
      const to = this.pointAt(k, s), fleshy = thick && before >= start - 1e-9 && s <= end + 1e-9;
      put(from, to, radius(before), radius(s), fleshy ? colours.belly : plain, id);
      from = to;
      before = s;
    }
  }

  /** The point at way s, on the segment after point k. */
  pointAt(k, s) {
    const { line, along } = this, span = along[k + 1] - along[k], x = span > 0 ? (s - along[k]) / span : 0, o = 3 * k;
    return [line[o] + x * (line[o + 3] - line[o]), line[o + 1] + x * (line[o + 4] - line[o + 1]),
      line[o + 2] + x * (line[o + 5] - line[o + 2])];
  }

  /** What the pointer is on, in words. */
  describe(id) {
    const place = id - 1 - this.solids.length, line = this.lines[place];
    if (place < 0 || !line) return this.kinds[id] === 'wrap' ? `${this.names[id]} (wrap surface)` : this.names[id];
    const parts = [`${(100 * this.lengths[place]).toFixed(1)} cm`];
    if (line.mass > 0) parts.push(line.mass < 1 ? `${(1000 * line.mass).toFixed(0)} g` : `${line.mass.toFixed(2)} kg`);
    return `${line.name}: ${parts.join(', ')}`;
  }
}
