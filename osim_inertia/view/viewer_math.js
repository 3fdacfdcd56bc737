// Numbers: packed arrays, matrices (column-major, as WebGL wants them), normals.

const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;
const float32 = text => new Float32Array(bytesOf(text));

/** Points that were stored as whole numbers from 0 to 65535 between `low` and `low + size`: Float32Array (3 n). */
function unpackPoints(packed) {
  const whole = new Uint16Array(bytesOf(packed.data)), points = new Float32Array(whole.length);
  for (let i = 0; i < whole.length; i++) points[i] = packed.low[i % 3] + whole[i] / 65535 * packed.size[i % 3];
  return points;
}

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => times(1 / (Math.hypot(...a) || 1), a);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function multiply(a, b) {
  const c = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      c[4 * j + i] = a[i] * b[4 * j] + a[4 + i] * b[4 * j + 1] + a[8 + i] * b[4 * j + 2] + a[12 + i] * b[4 * j + 3];
  return c;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2), m = new Float32Array(16);
  m[0] = f / aspect; m[5] = f; m[10] = (far + near) / (near - far); m[11] = -1; m[14] = 2 * far * near / (near - far);
  return m;
}

/** From world to eye: x to the right, y up, z towards the viewer. */
function lookFrom(eye, right, up, back) {
  return new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
}

const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

/** Pose of a body from position and quaternion (x, y, z, w), seven numbers from place `at`. */
function poseMatrix(values, at, m) {
  const x = values[at + 3], y = values[at + 4], z = values[at + 5], w = values[at + 6];
  m[0] = 1 - 2 * (y * y + z * z); m[1] = 2 * (x * y + z * w); m[2] = 2 * (x * z - y * w);
  m[4] = 2 * (x * y - z * w); m[5] = 1 - 2 * (x * x + z * z); m[6] = 2 * (y * z + x * w);
  m[8] = 2 * (x * z + y * w); m[9] = 2 * (y * z - x * w); m[10] = 1 - 2 * (x * x + y * y);
  m[12] = values[at]; m[13] = values[at + 1]; m[14] = values[at + 2]; m[15] = 1;
  return m;
}

const moved = (m, p) => [0, 1, 2].map(i => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);

/** Normals at vertices: of the triangles around, by their area. */
function normalsOf(points, triangles) {
  const normals = new Float32Array(points.length);
  const corner = i => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
  for (let t = 0; t < triangles.length; t += 3) {
    const a = corner(triangles[t]);
    const n = cross(subtract(corner(triangles[t + 1]), a), subtract(corner(triangles[t + 2]), a));
    for (let k = 0; k < 3; k++)
      for (let i = 0; i < 3; i++) normals[3 * triangles[t + k] + i] += n[i];
  }
  for (let v = 0; v < normals.length; v += 3) {
    const length = Math.hypot(normals[v], normals[v + 1], normals[v + 2]) || 1;
    for (let i = 0; i < 3; i++) normals[v + i] /= length;
  }
  return normals;
}

/** The last place in increasing numbers that is not above x. */
function lastAtMost(numbers, x) {
  let low = 0, high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (numbers[middle] <= x) low = middle; else high = middle - 1;
  }
  return low;
}

const colour = text => [1, 3, 5].map(i => parseInt(text.trim().slice(i, i + 2), 16) / 255);
