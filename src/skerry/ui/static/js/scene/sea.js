// @ts-check
// The sea as numbers: the height of its waves, and what its water does to light. The simulator's own components and optics.

/**
 * One wave: amplitude (m), wave vector (rad/m), angular frequency (rad/s), phase (rad).
 * @typedef {[amplitude: number, kx: number, ky: number, omega: number, phase: number]} Wave
 */

/** The page draws this many; of a richer sea the largest. */
export const MOST_WAVES = 64;

const TURN = 2 * Math.PI;
const GLIDE = 0.2; // s in which the level comes to where the state says that it is

export class Sea {
  /**
   * @param {{level: number, waves: Wave[], absorption: number[], scattering: number[]}} water as in the scene
   */
  constructor({ level, waves, absorption, scattering }) {
    /** Of the still water, m; it may follow a tide, as the state says. */
    this.level = level;
    /** By steepness, so that whoever sums few of them sums those that show most. */
    this.waves = [...waves]
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST_WAVES)
      .sort((one, other) => steepness(other) - steepness(one));
    this.optics = opticsOf(absorption, scattering);
  }

  /**
   * η = level + Σ a cos(k·x − ω t + φ), m.
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
   * Come nearer to a level, without a jump: states come five times a second.
   * @param {number} level m
   * @param {number} seconds since the last time
   */
  approach(level, seconds) {
    this.level += (level - this.level) * Math.min(1, seconds / GLIDE);
  }

  /**
   * What a shader needs: a, kx, ky and the phase at a place and time, found in double precision and wrapped, so that
   * neither hours nor kilometres make the waves rough.
   * @param {number} x
   * @param {number} y
   * @param {number} time
   * @param {Float32Array} out 4 numbers per wave
   * @param {Wave[]} [waves] in the order in which they are wanted
   */
  phases(x, y, time, out, waves = this.waves) {
    waves.forEach(([amplitude, kx, ky, omega, phase], i) => {
      out[4 * i] = amplitude;
      out[4 * i + 1] = kx;
      out[4 * i + 2] = ky;
      out[4 * i + 3] = (kx * x + ky * y - omega * time + phase) % TURN;
    });
  }

  /** Variance of the slope of all waves, which is their glitter's roughness. */
  get slopeVariance() {
    return this.waves.reduce((sum, wave) => sum + 0.5 * steepness(wave) ** 2, 0);
  }
}

/** @param {Wave} wave */
export function steepness([amplitude, kx, ky]) {
  return amplitude * Math.hypot(kx, ky);
}

const WAVELENGTHS = [625, 525, 450]; // nm, of the red, green and blue of `absorption` and `scattering`

/**
 * Attenuation of a beam c = a + b; of daylight downwards K_d = √(a² + 0.256 a b) (Kirk 1981); and the share of light
 * that open water gives back, ω = b_b/(a + b_b), with b_b = b_w/2 + 0.0183 b_p (Mobley 1994, Light and Water, table
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
 * By what the clarity slider multiplies attenuation: 1 is the water as it is, 0 is as clear as air. The power gives the
 * slider's middle to what an operator wants: murky water seen some ten times as far.
 * @param {number} clarity 0…1
 */
export function murkiness(clarity) {
  return Math.max(0, 1 - clarity) ** 3;
}
