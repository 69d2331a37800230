// @ts-check
// Ends of the ropes in a stream of segments.

/**
 * Return the index of the last segment of each rope. The number of segments varies with the winch, so a rope ends where
 * the next segment does not continue it.
 * @param {Float32Array} ends ends of the segments of all ropes, one rope after the other
 * @returns {number[]}
 */
export function lastSegments(ends) {
  const found = [];
  for (let segment = 0; 6 * segment < ends.length; segment++) {
    const [here, next] = [6 * segment + 3, 6 * segment + 6];
    if (next >= ends.length || [0, 1, 2].some((c) => ends[here + c] !== ends[next + c])) found.push(segment);
  }
  return found;
}
