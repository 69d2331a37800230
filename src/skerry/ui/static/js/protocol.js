// @ts-check
// Decoder of the server's binary messages, without copying. The layouts are in docs/page_protocol.md.

export const KIND = Object.freeze({
  POSE: 1,
  CLOUD: 2,
  IMAGE: 3,
  SONAR_LINES: 4,
  SONAR_FAN: 5,
  SEGMENTS: 6,
  PARTICLES: 7,
  SCALARS: 8,
  TF: 9,
});

export const HEADER_BYTES = 16;
const TRANSFORM_BYTES = 32; // u16 parent, u16 child, 7 × f32

/**
 * @typedef {object} Message
 * @property {number} kind one of KIND
 * @property {number} flags
 * @property {number} stream `id` of the stream in the scene's `streams`
 * @property {number} sequence number of the message in its stream
 * @property {number} simulated time, s
 * @property {Float32Array} [poses] POSE: xyz, xyzw per body
 * @property {number} [count] number of points, segments, particles or sonar lines
 * @property {number} [scale] CLOUD: metres per unit
 * @property {Float32Array} [origin] CLOUD
 * @property {Int16Array} [offsets] CLOUD: xyz per point, in units of `scale` from `origin`
 * @property {Uint8Array} [intensities] CLOUD, if flag 1 is set
 * @property {Uint8Array} [jpeg] IMAGE
 * @property {number} [length] SONAR_LINES: bytes per row
 * @property {number} [range] SONAR_LINES: range at both ends of a row
 * @property {Uint8Array} [rows] SONAR_LINES, port first
 * @property {number} [beams] SONAR_FAN
 * @property {number} [bins] SONAR_FAN
 * @property {[number, number]} [angles] SONAR_FAN: azimuth of the first and the last beam, rad
 * @property {[number, number]} [ranges] SONAR_FAN: range of the first and the last bin, m
 * @property {Uint8Array} [intensity] SONAR_FAN: bins of the first beam, then of the second, …
 * @property {Float32Array} [ends] SEGMENTS: xyz, xyz per segment
 * @property {Uint8Array} [colours] SEGMENTS, PARTICLES: rgba of each, if flag 1 is set
 * @property {Float32Array} [positions] PARTICLES: xyz each
 * @property {Float32Array} [ages] PARTICLES: age as a fraction of the lifetime, 0…1
 * @property {Float32Array} [values] SCALARS
 * @property {{parent: number, child: number, pose: Float32Array}[]} [transforms] TF
 */

/**
 * @param {ArrayBuffer} buffer
 * @returns {Message}
 */
export function decode(buffer) {
  const view = new DataView(buffer);
  const kind = view.getUint8(0);
  const decodePayload = PAYLOADS[kind];
  if (!decodePayload) throw new RangeError(`unknown message kind ${kind}; expected 1 to 9. Reload the page`);
  return {
    kind,
    flags: view.getUint8(1),
    stream: view.getUint16(2, true),
    sequence: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    ...decodePayload(buffer, view, view.getUint8(1)),
  };
}

/** @type {Record<number, (buffer: ArrayBuffer, view: DataView, flags: number) => Partial<Message>>} */
const PAYLOADS = {
  [KIND.POSE]: (buffer) => ({ poses: new Float32Array(buffer, HEADER_BYTES) }),

  [KIND.CLOUD](buffer, view, flags) {
    const count = view.getUint32(HEADER_BYTES + 4, true);
    const start = HEADER_BYTES + 20;
    return {
      scale: view.getFloat32(HEADER_BYTES, true),
      count,
      origin: new Float32Array(buffer, HEADER_BYTES + 8, 3),
      offsets: new Int16Array(buffer, start, 3 * count),
      ...(flags & 1 ? { intensities: new Uint8Array(buffer, start + 6 * count, count) } : {}),
    };
  },

  [KIND.IMAGE]: (buffer) => ({ jpeg: new Uint8Array(buffer, HEADER_BYTES) }),

  [KIND.SONAR_LINES](buffer, view) {
    const count = view.getUint16(HEADER_BYTES, true);
    const length = view.getUint16(HEADER_BYTES + 2, true);
    const range = view.getFloat32(HEADER_BYTES + 4, true);
    return { count, length, range, rows: new Uint8Array(buffer, HEADER_BYTES + 8, count * length) };
  },

  [KIND.SONAR_FAN](buffer, view) {
    const beams = view.getUint16(HEADER_BYTES, true);
    const bins = view.getUint16(HEADER_BYTES + 2, true);
    const bounds = new Float32Array(buffer, HEADER_BYTES + 4, 4);
    return {
      beams,
      bins,
      angles: [bounds[0], bounds[1]],
      ranges: [bounds[2], bounds[3]],
      intensity: new Uint8Array(buffer, HEADER_BYTES + 20, beams * bins),
    };
  },

  [KIND.SEGMENTS](buffer, view, flags) {
    const count = view.getUint32(HEADER_BYTES, true);
    const start = HEADER_BYTES + 4;
    return {
      count,
      ends: new Float32Array(buffer, start, 6 * count),
      ...(flags & 1 ? { colours: new Uint8Array(buffer, start + 24 * count, 4 * count) } : {}),
    };
  },

  [KIND.PARTICLES](buffer, view, flags) {
    const count = view.getUint32(HEADER_BYTES, true);
    const start = HEADER_BYTES + 4;
    return {
      count,
      positions: new Float32Array(buffer, start, 3 * count),
      ages: new Float32Array(buffer, start + 12 * count, count),
      ...(flags & 1 ? { colours: new Uint8Array(buffer, start + 16 * count, 4 * count) } : {}),
    };
  },

  [KIND.SCALARS]: (buffer) => ({ values: new Float32Array(buffer, HEADER_BYTES) }),

  [KIND.TF](buffer, view) {
    const transforms = [];
    for (let start = HEADER_BYTES; start + TRANSFORM_BYTES <= buffer.byteLength; start += TRANSFORM_BYTES) {
      transforms.push({
        parent: view.getUint16(start, true),
        child: view.getUint16(start + 2, true),
        pose: new Float32Array(buffer, start + 4, 7),
      });
    }
    return { transforms };
  },
};
