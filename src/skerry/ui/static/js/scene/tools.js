// @ts-check
// Tools of the 3-D view: clicks and drags that choose a robot, measure, move objects or send a robot.

import { Plane, Raycaster, Vector2, Vector3 } from "../../vendor/three.module.js";
import { PALETTE } from "./colours.js";
import { Segments } from "./segments.js";

const TOLERANCE = 2; // tolerance of waypoints, m

export class Tools {
  /** @type {Vector3[]} */
  #measured = [];
  /** Object that is being moved. @type {{name: string, body: any, offset: Vector3, place: Vector3, plane: Plane} | null} */
  #moved = null;
  #caster = new Raycaster();
  #line = new Segments({ pixels: 2.5, colour: PALETTE.yellow });

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.store = view.store;
    view.viewport.scene.add(this.#line.object);
    this.store.on("tool", (tool) => {
      view.viewport.canvas.dataset.tool = tool ?? "";
      if (tool !== "measure") this.#forget();
    });
    addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#cancel();
    });
  }

  /**
   * Start to move the object under the mouse, if the tool is active, and return whether a move has started.
   * @param {PointerEvent} event
   */
  press(event) {
    if (this.store.get("tool") !== "teleport" && !event.ctrlKey && !event.metaKey) return false;
    const found = this.#pickBody(event);
    const name = found?.group.userData.owner;
    if (!found || !name) return false;
    const plane = new Plane().setFromNormalAndCoplanarPoint(new Vector3(0, 0, 1), found.point);
    this.#moved = {
      name,
      body: found.group,
      offset: this.#base(found.group).sub(found.point),
      place: this.#base(found.group),
      plane,
    };
    return true;
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const moved = this.#moved;
    if (!moved) return;
    const ray = this.#ray(event);
    const grip = moved.place.clone().sub(moved.offset);
    if (event.shiftKey) {
      const facing = this.view.viewport.camera.getWorldDirection(new Vector3()).setZ(0).normalize();
      moved.plane.setFromNormalAndCoplanarPoint(facing, grip);
    } else {
      moved.plane.setFromNormalAndCoplanarPoint(new Vector3(0, 0, 1), grip);
    }
    const point = ray.intersectPlane(moved.plane, new Vector3());
    if (!point || point.distanceTo(ray.origin) > 2000) return;
    if (event.shiftKey) moved.place.z = point.z + moved.offset.z;
    else moved.place.copy(point).add(moved.offset);
    const base = this.#base(moved.body);
    this.#drawLine([base, moved.place]);
    this.view.labels.set("tool", moved.place, moved.name, { kind: "measure", lift: 8, detail: formatPosition(moved.place) });
  }

  /** @param {boolean} done */
  drop(done) {
    const moved = this.#moved;
    this.#forget();
    if (!moved || !done) return;
    this.view.net
      .send({ op: "teleport", name: moved.name, position: moved.place.toArray() })
      .then((result) => this.#answer(result));
  }

  /** @param {PointerEvent} event */
  click(event) {
    const tool = this.store.get("tool");
    if (tool === "measure") return this.#measure(event);
    if (tool === "waypoint") return this.#send(event);
    const robot = this.#pickBody(event)?.group.userData.robot;
    if (robot) this.store.set("robot", robot);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (this.#measured.length !== 1) return;
    const point = this.pick(event);
    if (point) this.#showDistance(this.#measured[0], point);
  }

  /**
   * Return the position under the mouse on a body, on the terrain or on the water.
   * @param {{clientX: number, clientY: number}} event
   * @returns {Vector3 | null}
   */
  pick(event) {
    const ray = this.#ray(event);
    const body = this.#pickBody(event)?.point ?? null;
    const ground = this.#pickGround(ray);
    const level = this.view.viewport.medium.sea?.level;
    const water =
      level !== undefined && this.store.get("show:water")
        ? ray.intersectPlane(new Plane(new Vector3(0, 0, 1), -level), new Vector3())
        : null;
    const found = [body, ground, water].filter((point) => point !== null);
    found.sort((one, other) => one.distanceTo(ray.origin) - other.distanceTo(ray.origin));
    return found[0] ?? null;
  }

  /** @param {PointerEvent} event */
  #measure(event) {
    const point = this.pick(event);
    if (!point) return;
    if (this.#measured.length !== 1) {
      this.#measured = [point];
      this.store.set("measure", null);
      return;
    }
    const from = this.#measured[0];
    this.#measured = [];
    this.#showDistance(from, point);
    this.store.set("measure", { from: from.toArray(), to: point.toArray(), distance: from.distanceTo(point) });
  }

  /**
   * Send the chosen robot to the clicked position at its present depth, or to the terrain if that is higher.
   * @param {PointerEvent} event
   */
  #send(event) {
    const robot = this.view.chosen;
    const body = robot && this.view.bodies.bodies[robot.body];
    if (!body) return;
    const ray = this.#ray(event);
    const level = ray.intersectPlane(new Plane(new Vector3(0, 0, 1), -body.position.z), new Vector3());
    const ground = this.#pickGround(ray);
    const point = !ground || (level && level.distanceTo(ray.origin) < ground.distanceTo(ray.origin)) ? level : ground;
    if (!point) return;
    this.view.net
      .send({ op: "waypoint", robot: robot.name, position: point.toArray(), tolerance: TOLERANCE })
      .then((result) => this.#answer(result));
  }

  /** @param {import("../net.js").Result} result */
  #answer({ ok, error }) {
    if (!ok) this.store.notify("event", { type: "event", kind: "control", time: this.view.poses.time, text: error });
  }

  /**
   * @param {Vector3} from
   * @param {Vector3} to
   */
  #showDistance(from, to) {
    this.#drawLine([from, to]);
    const middle = from.clone().lerp(to, 0.5);
    const drop = Math.abs(to.z - from.z);
    const detail = drop > 0.05 ? `${drop.toFixed(2)} m up` : "";
    this.view.labels.set("tool", middle, `${from.distanceTo(to).toFixed(2)} m`, { kind: "measure", lift: 8, detail });
  }

  /** @param {[Vector3, Vector3]} ends */
  #drawLine([from, to]) {
    this.#line.set(new Float32Array([...from.toArray(), ...to.toArray()]));
  }

  #forget() {
    this.#moved = null;
    this.#measured = [];
    this.#line.clear();
    this.view.labels.remove("tool");
  }

  #cancel() {
    this.#forget();
    if (this.store.get("tool") !== null) this.store.set("tool", null);
  }

  /** @param {{clientX: number, clientY: number}} event */
  #ray({ clientX, clientY }) {
    const { left, top, width, height } = this.view.viewport.canvas.getBoundingClientRect();
    const place = new Vector2((2 * (clientX - left)) / width - 1, 1 - (2 * (clientY - top)) / height);
    this.#caster.setFromCamera(place, this.view.viewport.camera);
    return this.#caster.ray;
  }

  /** @param {{clientX: number, clientY: number}} event */
  #pickBody(event) {
    this.#ray(event);
    const [hit] = this.#caster.intersectObject(this.view.bodies.group, true);
    if (!hit) return null;
    /** @type {any} */
    let group = hit.object;
    while (group.parent && group.parent !== this.view.bodies.group) group = group.parent;
    return { group, point: hit.point };
  }

  /** @param {import("../../vendor/three.module.js").Ray} ray */
  #pickGround(ray) {
    const ranges =
      this.view.terrain?.grids.map((grid) => grid.intersect(ray.origin.toArray(), ray.direction.toArray())) ?? [];
    const range = Math.min(...ranges.filter((each) => !Number.isNaN(each)));
    return Number.isFinite(range) ? ray.at(range, new Vector3()) : null;
  }

  /** Return the position of the base of the robot to which a body belongs. @param {any} group */
  #base(group) {
    const robot = this.view.scene.robots.find((/** @type {any} */ each) => each.name === group.userData.robot);
    return (robot ? this.view.bodies.bodies[robot.body] : group).position.clone();
  }
}

/** @param {Vector3} place */
function formatPosition({ x, y, z }) {
  return `${x.toFixed(1)}, ${y.toFixed(1)}, ${z.toFixed(1)} m`;
}
