export interface Named { name: string; label(): string; }
export enum Color { Red, Green }
export type Pair = [Named, Color];
export abstract class Animal implements Named {
  static count = 0;
  constructor(public name: string) {}
  label(): string { return this.speak(); }
  abstract speak(): string;
}
export default class Dog extends Animal {
  speak(): string { return helper(this.name); }
}
export function helper(text: string): string { return text; }
export const shout = (text: string) => helper(text).toUpperCase();
