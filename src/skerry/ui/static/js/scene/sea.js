// @ts-check
// Waves and optics of the sea, from the simulator's own wave components and optical properties. No drawing.

/**
 * Wave: amplitude (m), wave vector (rad/m), angular frequency (rad/s), phase (rad).
 * @typedef {[amplitude: number, kx: number, ky: number, omega: number, phase: number]} Wave
 */

/** Number of waves that the page draws: the largest ones. */
export const MAX_WAVES = 64;

const TURN = 2 * Math.PI;
const GLIDE = 0.2; // time constant of the smoothed water level, s

export class Sea {
  /**
   * @param {{level: number, waves: Wave[], absorption: number[], scattering: number[]}} water as in the scene
   */
  constructor({ level, waves, absorption, scattering }) {
    /** Level of the water without waves, m. It may follow a tide. */
    this.level = level;
    /** Waves by decreasing steepness, because a shader may sum only the first ones. */
    this.waves = [...waves]
      .sort((one, other) => other[0] - one[0])
      .slice(0, MAX_WAVES)
      .sort((one, other) => steepness(other) - steepness(one));
    this.optics = opticsOf(absorption, scattering);
  }

  /**
   * Return the height of the surface, m: η = level + Σ a cos(k·x − ω t + φ).
   * @param {number} x
   * @param {number} y
   * @param {number} time
   */
  height(x, y, time) {
    let height = this.level;
    for (const [amplitude, kx, ky, omega, phase] of this.waves) {
      height += amplitude * Math.cos(kx * x + ky * y - omega * time + phase);
    }
    return height;
  }

  /**
   * Move the level smoothly towards a target, because the state is sent only five times per second.
   * @param {number} level m
   * @param {number} seconds time since the last call
   */
  approach(level, seconds) {
    this.level += (level - this.level) * Math.min(1, seconds / GLIDE);
  }

  /**
   * Compute the waves for a shader: a, kx, ky and the phase at a position and time. The phase is wrapped in double precision,
   * so that it stays accurate after hours and over kilometres.
   * @param {number} x
   * @param {number} y
   * @param {number} time
   * @param {Float32Array} out 4 numbers per wave
   * @param {Wave[]} [waves] waves in the order of the output
   */
  phases(x, y, time, out, waves = this.waves) {
    waves.forEach(([amplitude, kx, ky, omega, phase], i) => {
      out[4 * i] = amplitude;
      out[4 * i + 1] = kx;
      out[4 * i + 2] = ky;
      out[4 * i + 3] = (kx * x + ky * y - omega * time + phase) % TURN;
    });
  }

  /** Variance of the slope of all waves, which is the roughness for the sun's glitter. */
  get slopeVariance() {
    return this.waves.reduce((sum, wave) => sum + 0.5 * steepness(wave) ** 2, 0);
  }
}

/** @param {Wave} wave */
export function steepness([amplitude, kx, ky]) {
  return amplitude * Math.hypot(kx, ky);
}

const WAVELENGTHS = [625, 525, 450]; // wavelengths of red, green and blue in `absorption` and `scattering`, nm

/**
 * Return the attenuation of a beam c = a + b, the attenuation of daylight with depth K_d = √(a² + 0.256 a b) (Kirk 1981), and the fraction of
 * light that open water scatters back, ω = b_b/(a + b_b), with b_b = b_w/2 + 0.0183 b_p (Mobley 1994, Light and Water, table
 * 3.10), the pure water's b_w being 0.00193 /m (550 nm/λ)^4.32 (Morel 1974). All in red, green, blue; 1/m.
 * @param {number[]} absorption
 * @param {number[]} scattering
 */
export function opticsOf(absorption, scattering) {
  const backscatter = scattering.map((all, i) => {
    const pure = Math.min(0.00193 * (550 / WAVELENGTHS[i]) ** 4.32, all);
    return 0.5 * pure + 0.0183 * (all - pure);
  });
  return {
    beam: absorption.map((a, i) => a + scattering[i]),
    daylight: absorption.map((a, i) => Math.sqrt(a * a + 0.256 * a * scattering[i])),
    returned: absorption.map((a, i) => backscatter[i] / Math.max(a + backscatter[i], 1e-6)),
  };
}

/**
 * Return the factor of the clarity slider on the attenuation: 1 is the real water, 0 is as clear as air. The exponent makes
 * the middle of the slider useful: there murky water is about ten times as clear.
 * @param {number} clarity 0…1
 */
export function murkiness(clarity) {
  return Math.max(0, 1 - clarity) ** 3;
}
