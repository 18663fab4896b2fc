// Places a small graph: the chosen note in the middle, what is linked to it around it. The same graph lies the same way.

const ROUNDS = 220;

/** nodes: [{id, ring}], links: [[id, id]]. Returns places by id, inside of the size. */
export function layout(nodes, links, { width, height }) {
  const places = new Map();
  const rings = new Map();
  nodes.forEach((node) => rings.set(node.ring, (rings.get(node.ring) ?? 0) + 1));
  const seen = new Map();
  for (const { id, ring } of nodes) {
    const index = seen.get(ring) ?? 0;
    seen.set(ring, index + 1);
    const angle = (2 * Math.PI * (index + 0.25 * ring)) / rings.get(ring);
    places.set(id, { x: width / 2 + ring * 0.21 * width * Math.cos(angle), y: height / 2 + ring * 0.21 * height * Math.sin(angle), isFixed: ring === 0 });
  }
  const all = [...places.values()];
  for (let round = 0; round < ROUNDS; round++) {
    const heat = 12 * (1 - round / ROUNDS);
    const moves = all.map(() => ({ x: 0, y: 0 }));
    all.forEach((one, i) => all.forEach((two, j) => {
      if (i === j) return;
      const [dx, dy] = [(one.x - two.x) * (height / width), one.y - two.y];
      const push = 5200 / Math.max(60, dx * dx + dy * dy);
      const length = Math.hypot(dx, dy) || 1;
      moves[i].x += (dx / length) * push;
      moves[i].y += (dy / length) * push;
    }));
    const indexOf = new Map([...places.keys()].map((id, index) => [id, index]));
    for (const [from, to] of links) {
      const [i, j] = [indexOf.get(from), indexOf.get(to)];
      const [dx, dy] = [all[j].x - all[i].x, all[j].y - all[i].y];
      for (const [at, sign] of [[i, 1], [j, -1]]) {
        moves[at].x += sign * dx * 0.012;
        moves[at].y += sign * dy * 0.012;
      }
    }
    all.forEach((one, i) => {
      if (one.isFixed) return;
      const length = Math.hypot(moves[i].x, moves[i].y) || 1;
      const step = Math.min(heat, length);
      one.x = Math.min(width - 80, Math.max(80, one.x + (moves[i].x / length) * step));
      one.y = Math.min(height - 36, Math.max(22, one.y + (moves[i].y / length) * step));
    });
  }
  fill(all, width, height);
  return places;
}

/** Widens a graph that leaves most of the drawing empty; the middle stays where it is. */
function fill(all, width, height) {
  const widest = Math.max(0.01, ...all.map(({ x, y }) => Math.max(Math.abs(x - width / 2) / (width / 2 - 90), Math.abs(y - height / 2) / (height / 2 - 44))));
  const scale = Math.max(1, Math.min(1.8, 1 / widest));
  for (const one of all) {
    one.x = width / 2 + (one.x - width / 2) * scale;
    one.y = height / 2 + (one.y - height / 2) * scale;
  }
}
