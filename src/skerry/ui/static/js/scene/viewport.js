// @ts-check
// Viewport: renderer, sky, sun, shadows, and size of the canvas. Drawing is in linear light; tone mapping comes last.

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

const FAR = 20_000; // far plane of the camera, m
const SLOW = 0.05; // frame time above which fewer pixels are drawn, s
const LEAST_PIXELS = 0.5; // smallest number of pixels per CSS pixel
const SHADOWED = 60; // radius around the camera's target in which shadows are drawn, m
const EXPOSURE = 1.55; // exposure in air by day
const ADAPTED = 1.9; // factor on the exposure under water; chosen by eye
const LIGHT = Math.PI; // irradiance of three.js for which a white surface has radiance 1

export class Viewport {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(text: string | null) => void} showNotice shows an error to the operator; null removes it
   */
  constructor(canvas, showNotice) {
    this.canvas = canvas;
    const context = canvas.getContext("webgl2", { antialias: false, powerPreference: "high-performance" });
    if (!context) throw new Error("this browser has no WebGL 2. Turn hardware acceleration on, or use another browser");
    this.quality = chooseQuality(location.search, rendererName(context));
    this.renderer = new WebGLRenderer({
      canvas,
      context,
      antialias: this.quality.antialias, // antialiasing of the frame buffer, not of the canvas
      outputBufferType: HalfFloatType,
    });
    // A check for compile errors would wait for the compiler; the tests check later.
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
      showNotice("The graphics driver has stopped; waiting for it to restart …");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      showNotice(null);
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
   * Draw an object off screen, so that its shaders are compiled while the meshes of the scene are loading.
   * @param {import("../../vendor/three.module.js").Object3D} object
   */
  warmUp(object) {
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
    // Light reflected by terrain and water: about an eighth of the daylight, chosen by eye.
    this.sky.groundColor.fromArray(daylight.ambient.map((sky, i) => 0.125 * (sky + daylight.sun[i])));
    this.sky.intensity = LIGHT;
  }

  /**
   * @param {Vector3} target focus of the camera
   * @param {number} seconds time since the last frame
   */
  draw(target, seconds) {
    if (this.lost) return;
    this.#adapt(seconds);
    this.#fit();
    const { camera, sun, medium } = this;
    const range = camera.position.distanceTo(target);
    // The near plane moves away with the target, which keeps distant objects from flickering.
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

  /** Reduce the number of pixels if frames take too long. @param {number} seconds */
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
