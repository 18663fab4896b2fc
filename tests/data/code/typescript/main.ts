import Dog, { helper as help, type Named } from "./models";
import * as models from "./models";

function run(pet: Named): string {
  const dog = new Dog("rex");
  return help(dog.speak()) + models.shout("x");
}
