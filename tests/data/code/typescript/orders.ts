import * as core from "./core";
import { Order, load, visit } from "./core";
import { shown } from "./util";

interface Clock { now(): number; tick: (by: number) => Order; }
type Options = { clock: Clock } & { order?: Order };

const defaults = { order: new Order(), describe() { return shown(); } };

export class Orders {
  private readonly last = new Order();
  private clock;
  constructor(private readonly clockOf: Clock, readonly store?: core.Order) { this.clock = clockOf; }
  parameterProperty() { return this.clockOf.now(); }
  assignedField() { return this.clock.tick(1).first(); }
  constructedField() { this.last.first()?.price(); }
  declaredField() { this.store!.made().price(); }
  chained() { this.last.add(new core.Line()).add(new core.Line()).first(); }
}
export function namespaces() { return core.util.slug("a"); }
export function throughDefault() { return new core.Pet("rex").speak(); }
export function renamed() { shown(); }
export function constructed() { const order = new Order(); order.first(); }
export async function awaited() { const order = await load(); order.first(); }
export async function passedOn() { await load().then((order) => order.first()); }
export function taken({ clock }: Options) { clock.now(); }
export function written({ order }: { order: Order }) { order.first(); }
export function eachItem(orders: Order[]) { orders.filter((order) => order.first()).forEach((one) => one.made()); }
export function given() { new Order().each((line, order) => { line.price(); order.first(); }); }
export function givenByType() { visit((order) => order.first()); }
export function ofObject() { defaults.order.first(); defaults.describe(); }
export function bounded<T extends Order>(order: T) { order.first(); }
export function cast(order: unknown) { (order as Order).first(); }
export function looped(orders: Set<Order>) { for (const order of orders) order.first(); }
export function shadowed(load: () => void, Order: any) { load(); new Order(); }
export function global() { setTimeout(() => 1, 2); "a".trim(); new Map().get("first").first(); }
export function lent() { const { slug } = core.util; slug("b"); }
export async function loaded() { const { helper } = await import("./models"); helper("a"); }
