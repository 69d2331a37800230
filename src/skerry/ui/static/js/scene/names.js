// @ts-check
// Overlay with the name of every robot, with a line to the robot.

import { Group, Vector3 } from "../../vendor/three.module.js";

export class Names {
  name = "names";
  object = new Group();

  /** @param {import("./view.js").View} view */
  constructor(view) {
    this.view = view;
    this.place = new Vector3();
  }

  update() {
    const { scene, bodies, labels, chosen, viewport } = this.view;
    for (const robot of scene?.robots ?? []) {
      const body = bodies.bodies[robot.body];
      if (!body?.visible) continue;
      const range = viewport.camera.position.distanceTo(body.position);
      const detail = range > 25 ? `${range.toFixed(0)} m` : "";
      labels.set(`robot-${robot.name}`, this.place.copy(body.position), robot.name, {
        lift: 34,
        selected: robot.name === chosen?.name,
        detail,
      });
    }
  }

  clear() {
    this.view.labels.remove("robot-");
  }
}
