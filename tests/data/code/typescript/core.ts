export * as util from "./util.js";
export { default as Pet } from "./models";
export type Visitor = (order: Order) => void;

export class Line {
  price(): number { return 1; }
}
export class Order {
  private lines: Map<string, Line> = new Map();
  first(): Line | undefined { return this.lines.get("a"); }
  add(line: Line): this { return this; }
  made() { return new Line(); }
  each(visit: (line: Line, order: Order) => void): void {
    for (const line of this.lines.values()) line.price();
    for (const [name, line] of this.lines) line.price();
  }
}
export function visit(visitor: Visitor): void {}
export async function load(): Promise<Order> { return new Order(); }
