// @ts-check
// Where ropes end in a stream of their segments.

/**
 * The last segment of each rope: a winch that pays out adds segments, so only that the next begins elsewhere tells.
 * @param {Float32Array} ends of the segments of all ropes, one after the other
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
