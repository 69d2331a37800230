// @ts-check
// The viewport: renderer, sky, sun and shadows, and the canvas's size. Everything is drawn in linear light and developed at the end.

import {
  NeutralToneMapping,
  DirectionalLight,
  HalfFloatType,
  HemisphereLight,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from "../../vendor/three.module.js";
import { Medium } from "./medium.js";
import { chooseQuality } from "./quality.js";
import { makeSky } from "./sky.js";

const FAR = 20_000; // m
const SLOW = 0.05; // s; if frames take longer for a while, fewer pixels are drawn
const LEAST_PIXELS = 0.5; // per CSS pixel
const SHADOWED = 60; // m about the camera's target on which shadows fall
const EXPOSURE = 1.55; // of a day in the air
const ADAPTED = 1.9; // by which an eye under water sees more; by eye
const LIGHT = Math.PI; // three.js's irradiance of a white surface whose radiance is 1

export class Viewport {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(text: string | null) => void} say tells the operator of trouble
   */
  constructor(canvas, say) {
    this.canvas = canvas;
    const context = canvas.getContext("webgl2", { antialias: false, powerPreference: "high-performance" });
    if (!context) throw new Error("this browser has no WebGL 2. Turn hardware acceleration on, or use another browser");
    this.quality = chooseQuality(location.search, rendererName(context));
    this.renderer = new WebGLRenderer({
      canvas,
      context,
      antialias: this.quality.antialias, // of the buffer that is drawn to, not of the canvas
      outputBufferType: HalfFloatType,
    });
    // To ask whether a program was compiled is to wait until it is; the tests ask later.
    this.renderer.debug.checkShaderErrors = false;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = EXPOSURE;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.quality.pixelRatio));
    this.renderer.shadowMap.enabled = this.quality.shadows > 0;
    this.renderer.shadowMap.type = PCFShadowMap;

    this.scene = new Scene();
    this.camera = new PerspectiveCamera(55, 1, 0.05, FAR);
    this.camera.up.set(0, 0, 1);
    this.medium = new Medium(this.quality.fine);
    this.sun = new DirectionalLight();
    this.sky = new HemisphereLight();
    this.sky.position.set(0, 0, 1);
    this.scene.add(this.sun, this.sun.target, this.sky, makeSky(this.medium, this.quality));
    this.#castShadows();

    this.width = this.height = this.pace = 0;
    this.lost = false;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
      say("The graphics driver has stopped; waiting for it to come back …");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      say(null);
    });
  }

  #castShadows() {
    const { sun, quality } = this;
    sun.castShadow = quality.shadows > 0;
    sun.shadow.mapSize.set(quality.shadows, quality.shadows);
    const box = sun.shadow.camera;
    box.left = box.bottom = -SHADOWED;
    box.right = box.top = SHADOWED;
    box.near = 1;
    box.far = 600;
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.06;
  }

  /**
   * Draw something where nobody sees it, before there is a scene: its programs are compiled while meshes are on their way.
   * @param {import("../../vendor/three.module.js").Object3D} object
   */
  rehearse(object) {
    this.scene.add(object);
    this.renderer.render(this.scene, this.camera);
    this.scene.remove(object);
  }

  /** @param {import("./medium.js").Daylight} daylight */
  light(daylight) {
    this.medium.setDaylight(daylight);
    this.sun.color.fromArray(daylight.sun);
    this.sun.intensity = LIGHT;
    this.sky.color.fromArray(daylight.ambient);
    // What the ground and the water send back up, about an eighth of the daylight; by eye.
    this.sky.groundColor.fromArray(daylight.ambient.map((sky, i) => 0.125 * (sky + daylight.sun[i])));
    this.sky.intensity = LIGHT;
  }

  /**
   * @param {Vector3} target what the camera looks at
   * @param {number} seconds since the last frame
   */
  draw(target, seconds) {
    if (this.lost) return;
    this.#adapt(seconds);
    this.#fit();
    const { camera, sun, medium } = this;
    const range = camera.position.distanceTo(target);
    // The further the subject, the less matters what is close: it keeps far things from flickering.
    const near = Math.min(1, Math.max(0.05, 0.01 * range));
    if (Math.abs(near - camera.near) > 0.1 * camera.near) {
      camera.near = near;
      camera.updateProjectionMatrix();
    }
    const under = medium.follow(camera.position);
    const exposure = EXPOSURE * (under ? ADAPTED : 1);
    this.renderer.toneMappingExposure += 0.15 * (exposure - this.renderer.toneMappingExposure);
    sun.target.position.copy(target);
    sun.position.copy(target).addScaledVector(medium.uniforms.sunDirection.value, 300);
    this.renderer.render(this.scene, camera);
  }

  /** A weak graphics card gets fewer pixels, rather than fewer frames. @param {number} seconds */
  #adapt(seconds) {
    this.pace = 0.95 * this.pace + 0.05 * Math.min(seconds, 4 * SLOW);
    const ratio = this.renderer.getPixelRatio();
    if (this.pace < SLOW || ratio <= LEAST_PIXELS || document.hidden) return;
    this.renderer.setPixelRatio(Math.max(LEAST_PIXELS, 0.75 * ratio));
    this.pace = 0;
  }

  #fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height || (this.width === width && this.height === height)) return;
    this.width = width;
    this.height = height;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
}

/** @param {WebGL2RenderingContext} context */
function rendererName(context) {
  const names = context.getExtension("WEBGL_debug_renderer_info");
  return String(context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER));
}
