// Drawing with WebGL 2: solids one by one with a matrix each, paths and markers as instances of one capsule.

const LIGHT = `
vec3 lit(vec3 tint, vec3 n, vec3 p, vec3 up, out float rim) {
  vec3 eye = normalize(-p);
  vec3 m = normalize(n);
  if (dot(m, eye) < 0.0) m = -m;
  float key = max(dot(m, normalize(vec3(0.4, 0.55, 0.75))), 0.0), fill = max(dot(m, normalize(vec3(-0.7, 0.1, 0.5))), 0.0);
  rim = pow(1.0 - max(dot(m, eye), 0.0), 3.0);
  float shine = pow(max(dot(m, normalize(normalize(vec3(0.4, 0.55, 0.75)) + eye)), 0.0), 40.0);
  vec3 c = tint * (0.50 + 0.12 * dot(m, up) + 0.44 * key + 0.12 * fill);
  return c * (1.0 - 0.28 * rim) + 0.08 * shine;
}
vec3 coded(float id) { return vec3(mod(id, 256.0), floor(id / 256.0), 0.0) / 255.0; }`;

const SOLID = [`#version 300 es
in vec3 position; in vec3 normal;
uniform mat4 projection, view, pose;
out vec3 p; out vec3 n;
void main() {
  vec4 e = view * pose * vec4(position, 1.0);
  p = e.xyz; n = mat3(view) * mat3(pose) * normal;
  gl_Position = projection * e;
}`, `#version 300 es
precision highp float;
in vec3 p; in vec3 n;
uniform vec4 tint; uniform vec3 up; uniform float id; uniform bool picking;
out vec4 shown;
${LIGHT}
void main() {
  if (picking) { shown = vec4(coded(id), 1.0); return; }
  float rim;
  vec3 c = lit(tint.rgb, n, p, up, rim);
  shown = vec4(c, tint.a < 1.0 ? min(1.0, tint.a * (0.6 + 1.8 * rim)) : 1.0);
}`];

const CAPSULE = [`#version 300 es
in vec4 shape; in vec3 start; in vec3 end; in vec2 radius; in vec4 look;
uniform mat4 projection, view; uniform float chosen;
out vec3 p; out vec3 n; flat out vec4 tint;
void main() {
  vec3 axis = end - start;
  float length_ = length(axis);
  vec3 z = length_ > 1e-9 ? axis / length_ : vec3(0.0, 1.0, 0.0);
  vec3 x = normalize(cross(z, abs(z.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  vec3 outward = x * shape.x + cross(z, x) * shape.y + z * shape.z;
  vec4 e = view * vec4(mix(start, end, shape.w) + outward * mix(radius.x, radius.y, shape.w), 1.0);
  p = e.xyz; n = mat3(view) * outward;
  tint = vec4(look.w == chosen ? mix(look.rgb, vec3(1.0, 0.85, 0.3), 0.55) : look.rgb, look.w);
  gl_Position = projection * e;
}`, `#version 300 es
precision highp float;
in vec3 p; in vec3 n; flat in vec4 tint;
uniform vec3 up; uniform bool picking;
out vec4 shown;
${LIGHT}
void main() {
  float rim;
  shown = vec4(picking ? coded(tint.a) : lit(tint.rgb, n, p, up, rim), 1.0);
}`];

const FLOOR = [`#version 300 es
in vec2 corner;
uniform mat4 projection, view; uniform vec3 across, along, middle; uniform float reach;
out vec3 world;
void main() {
  world = middle + reach * (corner.x * across + corner.y * along);
  gl_Position = projection * view * vec4(world, 1.0);
}`, `#version 300 es
precision highp float;
in vec3 world;
uniform vec3 across, along, middle, tint; uniform float reach, mesh;
out vec4 shown;
float lines(vec2 at) {
  vec2 width = fwidth(at), near = abs(fract(at - 0.5) - 0.5) / max(width, vec2(1e-6));
  return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.3, 0.8, max(width.x, width.y)));
}
void main() {
  vec2 at = vec2(dot(world, across), dot(world, along)) / mesh;
  float fade = 1.0 - smoothstep(0.25, 1.0, length(world - middle) / reach);
  shown = vec4(tint, fade * max(0.35 * lines(at), 0.75 * lines(at / 4.0)));
}`];

/** A unit sphere cut at its equator: x, y, z, and 0 or 1 for the end it belongs to. */
function capsuleShape(sides = 12, rings = 2) {
  const points = [], triangles = [];
  for (const end of [0, 1])
    for (let r = 0; r <= rings; r++) {
      const angle = (end ? r / rings : r / rings - 1) * Math.PI / 2;
      for (let s = 0; s < sides; s++) {
        const turn = 2 * Math.PI * s / sides;
        points.push(Math.cos(angle) * Math.cos(turn), Math.cos(angle) * Math.sin(turn), Math.sin(angle), end);
      }
    }
  for (let r = 0; r < 2 * rings + 1; r++)
    for (let s = 0; s < sides; s++) {
      const a = r * sides + s, b = r * sides + (s + 1) % sides;
      triangles.push(a, b, b + sides, a, b + sides, a + sides);
    }
  return [new Float32Array(points), new Uint16Array(triangles)];
}

class Renderer {
  constructor(canvas, scene) {
    this.gl = canvas.getContext('webgl2', { antialias: true, alpha: false });
    if (!this.gl) throw new Error('WebGL 2 is missing');
    this.canvas = canvas;
    this.scene = scene;
    const gl = this.gl;
    [this.solid, this.capsule, this.floor] = [SOLID, CAPSULE, FLOOR].map(sources => this.program(sources));
    this.shapes = scene.solids.map(solid => this.shape(solid));
    this.makeCapsules();
    this.makeFloor();
    this.picture = null;  // frame buffer of ids, made when first needed
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(sources) {
    const gl = this.gl, program = gl.createProgram();
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, i) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, sources[i]);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(gl.getProgramInfoLog(program));
    const found = { program, at: {} };
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      found.at[name] = gl.getUniformLocation(program, name);
    }
    return found;
  }

  buffer(values, target = this.gl.ARRAY_BUFFER) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(target, buffer);
    this.gl.bufferData(target, values, this.gl.STATIC_DRAW);
    return buffer;
  }

  attribute(program, name, size, stride = 0, offset = 0, divisor = 0) {
    const gl = this.gl, place = gl.getAttribLocation(program.program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(place, divisor);
  }

  shape(solid) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(solid.points);
    this.attribute(this.solid, 'position', 3);
    this.buffer(normalsOf(solid.points, solid.triangles));
    this.attribute(this.solid, 'normal', 3);
    this.buffer(solid.triangles, gl.ELEMENT_ARRAY_BUFFER);
    return { array, count: solid.triangles.length, type: solid.wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT };
  }

  makeCapsules() {
    const gl = this.gl, [points, triangles] = capsuleShape(), bytes = 4 * FLOATS;
    this.capsules = gl.createVertexArray();
    gl.bindVertexArray(this.capsules);
    this.buffer(points);
    this.attribute(this.capsule, 'shape', 4);
    this.instances = this.buffer(this.scene.instances);
    this.attribute(this.capsule, 'start', 3, bytes, 0, 1);
    this.attribute(this.capsule, 'end', 3, bytes, 12, 1);
    this.attribute(this.capsule, 'radius', 2, bytes, 24, 1);
    this.attribute(this.capsule, 'look', 4, bytes, 32, 1);
    this.buffer(triangles, gl.ELEMENT_ARRAY_BUFFER);
    this.corners = triangles.length;
  }

  makeFloor() {
    const gl = this.gl;
    this.plane = gl.createVertexArray();
    gl.bindVertexArray(this.plane);
    this.buffer(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    this.attribute(this.floor, 'corner', 2);
  }

  use(program, camera, picking) {
    const gl = this.gl;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(program.at.projection, false, camera.projection);
    gl.uniformMatrix4fv(program.at.view, false, camera.view);
    if (program.at.up) gl.uniform3fv(program.at.up, camera.upSeen);
    if (program.at.picking) gl.uniform1i(program.at.picking, picking ? 1 : 0);
  }

  /** Take over the instances of a frame. */
  load(count) {
    const gl = this.gl;
    this.count = count;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.scene.instances, 0, count * FLOATS);
  }

  draw(camera, show, colours, chosen) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...colours.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSolids(camera, show, colours, chosen, ['mesh', 'stick'], false);
    this.drawCapsules(camera, chosen, false);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    if (show.floor) this.drawFloor(camera, colours);
    this.drawSolids(camera, show, colours, chosen, ['wrap'], false);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawSolids(camera, show, colours, chosen, kinds, picking) {
    const gl = this.gl, { scene, solid } = this;
    this.use(solid, camera, picking);
    scene.solids.forEach((item, s) => {
      if (!kinds.includes(item.kind) || !show[item.kind === 'wrap' ? 'wraps' : 'bones']) return;
      const tint = item.kind === 'wrap' ? [...colours.wrap, 0.22] : [...colours[item.kind], 1];
      if (s + 1 === chosen) [1, 0.85, 0.3].forEach((c, i) => { tint[i] = 0.6 * tint[i] + 0.4 * c; });
      gl.uniform4fv(solid.at.tint, tint);
      gl.uniform1f(solid.at.id, s + 1);
      gl.uniformMatrix4fv(solid.at.pose, false, scene.matrix(item.body));
      gl.bindVertexArray(this.shapes[s].array);
      gl.drawElements(gl.TRIANGLES, this.shapes[s].count, this.shapes[s].type, 0);
    });
  }

  drawCapsules(camera, chosen, picking) {
    if (!this.count) return;
    const gl = this.gl;
    this.use(this.capsule, camera, picking);
    gl.uniform1f(this.capsule.at.chosen, chosen || -1);
    gl.bindVertexArray(this.capsules);
    gl.drawElementsInstanced(gl.TRIANGLES, this.corners, gl.UNSIGNED_SHORT, 0, this.count);
  }

  drawFloor(camera, colours) {
    const gl = this.gl, { at } = this.floor;
    this.use(this.floor, camera, false);
    gl.uniform3fv(at.across, camera.across);
    gl.uniform3fv(at.along, camera.along);
    gl.uniform3fv(at.middle, camera.floor);
    gl.uniform3fv(at.tint, colours.grid);
    gl.uniform1f(at.reach, camera.reach);
    gl.uniform1f(at.mesh, camera.mesh);
    gl.bindVertexArray(this.plane);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** The id of what is at a pixel (from the upper left), or within a few pixels of it; 0 if nothing is. */
  pick(x, y, camera, show) {
    const gl = this.gl, { width, height } = this.canvas, around = 4, side = 2 * around + 1;
    this.idPicture(width, height);
    gl.viewport(0, 0, width, height);
    const left = Math.round(x) - around, bottom = height - 1 - Math.round(y) - around, pixels = new Uint8Array(4 * side * side);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(left, bottom, side, side);
    let found = 0;
    for (const kinds of [['mesh', 'stick'], ['wrap']]) {  // a wrap surface hides nothing
      gl.clearColor(0, 0, 0, 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      this.drawSolids(camera, show, { mesh: [0, 0, 0], stick: [0, 0, 0], wrap: [0, 0, 0] }, 0, kinds, true);
      if (kinds[0] === 'mesh') this.drawCapsules(camera, 0, true);
      gl.readPixels(left, bottom, side, side, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      let nearest = Infinity;
      for (let k = 0; k < side * side; k++) {
        const id = pixels[4 * k] + 256 * pixels[4 * k + 1];
        const way = Math.hypot(k % side - around, Math.floor(k / side) - around);
        if (id && way < nearest) { nearest = way; found = id; }
      }
      if (found) break;
    }
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return found;
  }

  idPicture(width, height) {
    const gl = this.gl;
    if (!this.picture) {
      this.picture = { frame: gl.createFramebuffer(), ids: gl.createRenderbuffer(), depth: gl.createRenderbuffer() };
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.picture.frame);
    if (this.picture.width === width && this.picture.height === height) return;
    Object.assign(this.picture, { width, height });
    const parts = [['ids', gl.RGBA8, gl.COLOR_ATTACHMENT0], ['depth', gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]];
    for (const [name, format, place] of parts) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, this.picture[name]);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, this.picture[name]);
    }
  }
}
