// The camera: turns about a point, in the directions the scene calls up and level.

const FIELD = 32 * Math.PI / 180;  // angle of view, upright
const START = { turn: 0.6, tilt: 0.16 };  // rad: from the right and in front, a little from above

class Camera {
  constructor(scene) {
    this.scene = scene;
    const { up } = scene;
    // Level axes: in a model with y up, x and z as OpenSim has them (forward, to the right).
    this.across = Math.abs(up[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0];
    this.along = cross(this.across, up);
    const onGround = Math.abs(scene.lowest) < 0.25 * scene.size;
    this.height = onGround ? 0 : scene.lowest - 0.03 * scene.size;
    this.mesh = scene.size > 1 ? 0.25 : scene.size > 0.3 ? 0.1 : 0.025;
    this.reset(1);
  }

  reset(aspect) {
    Object.assign(this, START);
    this.target = this.scene.middle;
    this.fit(aspect);
  }

  /** Aim at the middle of all there is, from the distance at which all of it is seen. */
  fit(aspect) {
    const { right, up, back } = this.axes(), tall = Math.tan(FIELD / 2), wide = tall * aspect;
    for (let round = 0; round < 4; round++) {
      this.distance = 0.05;
      for (const point of this.scene.cloud) {
        const p = subtract(point, this.target), aside = Math.abs(dot(p, right)) / wide, above = Math.abs(dot(p, up)) / tall;
        this.distance = Math.max(this.distance, Math.max(aside, above) + dot(p, back));
      }
      let [left, far, low, high] = [1, -1, 1, -1];
      for (const point of this.scene.cloud) {
        const p = subtract(point, this.target), depth = this.distance - dot(p, back);
        left = Math.min(left, dot(p, right) / depth); far = Math.max(far, dot(p, right) / depth);
        low = Math.min(low, dot(p, up) / depth); high = Math.max(high, dot(p, up) / depth);
      }
      const shift = add(times((left + far) / 2, right), times((low + high) / 2, up));
      this.target = add(this.target, times(this.distance, shift));
    }
    this.distance *= 1.12;
  }

  axes() {
    const { scene: { up: sky }, across, along } = this;
    const level = add(times(Math.sin(this.turn), across), times(Math.cos(this.turn), along));
    const back = add(times(Math.cos(this.tilt), level), times(Math.sin(this.tilt), sky));
    const right = unit(cross(sky, back));
    return { right, up: cross(back, right), back };
  }

  orbit(dx, dy) {
    this.turn -= dx;
    this.tilt = clamp(this.tilt + dy, -1.5, 1.5);
  }

  /** Move the target by pixels of a view that is `pixels` high. */
  pan(dx, dy, pixels) {
    const { right, up } = this.axes(), scale = 2 * this.distance * Math.tan(FIELD / 2) / pixels;
    this.target = add(this.target, add(times(-dx * scale, right), times(dy * scale, up)));
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, 0.02 * this.scene.size, 20 * this.scene.size);
  }

  /** Matrices and the floor, for a view of this aspect whose target has moved by `shift`. */
  aim(aspect, shift) {
    const { right, up, back } = this.axes(), sky = this.scene.up, target = add(this.target, shift);
    this.view = lookFrom(add(target, times(this.distance, back)), right, up, back);
    this.projection = perspective(FIELD, aspect, 0.02 * this.distance, 4 * this.distance + 20 * this.scene.size);
    this.upSeen = [dot(sky, right), dot(sky, up), dot(sky, back)];
    this.reach = Math.max(2.2 * this.scene.size, 1.2 * this.distance);
    this.floor = add(target, times(this.height - dot(target, sky), sky));
  }
}
