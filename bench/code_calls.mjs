// What TypeScript's compiler says is called in a tree.
//
//     node bench/code_calls.mjs FOLDER_OF_THE_PACKAGE TREE
//
// Prints [{"path", "line", "start", "name", "places"}] of all calls: the line of the name, from 1, and the line in which
// what is called begins. Places are declarations inside the tree, [["path", line]]; ["", 0] is a parameter or a variable inside of a function, which the code graph does not define.
import { createRequire } from "node:module";
import { relative, resolve } from "node:path";

const [packageFolder, tree] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(resolve(packageFolder));
const root = resolve(tree);
const files = ts.sys.readDirectory(root, [".ts", ".tsx"], ["**/node_modules/**"]);
const program = ts.createProgram(files, {
  allowImportingTsExtensions: true,
  jsx: ts.JsxEmit.Preserve,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  target: ts.ScriptTarget.ESNext,
});
const checker = program.getTypeChecker();

/** The line of a node's first token, from 1. */
function lineOf(node) {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** The name in the place of what is called: the last one of `a.b.c()`. */
function calledName(node) {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return undefined;
  const called = node.expression;
  if (ts.isIdentifier(called)) return called;
  return ts.isPropertyAccessExpression(called) ? called.name : undefined;
}

/** Names of calls in a file, one of each name in a line. */
function callsOf(file) {
  const found = new Map();
  const visit = (node) => {
    const name = calledName(node);
    if (name !== undefined) found.set(`${lineOf(name)} ${name.text}`, name);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.values();
}

/** What a name means, behind imports and behind variables such as `parse` in `const { parse } = util`. */
function symbolOf(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const one = symbol?.declarations?.[0];
  if (one === undefined || !ts.isBindingElement(one) || !ts.isObjectBindingPattern(one.parent)) return symbol;
  const key = (one.propertyName ?? one.name).text;
  return (key !== undefined && checker.getTypeAtLocation(one.parent).getProperty(key)) || symbol;
}

/** Whether a declaration only holds what is called: a parameter, or a variable inside of a function. */
function isHolder(one) {
  if (ts.isParameter(one)) return !ts.isParameterPropertyDeclaration(one, one.parent);
  if (ts.isBindingElement(one)) return true;
  if (!ts.isVariableDeclaration(one)) return false;
  const value = one.initializer;
  if (value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value))) return false;
  return !ts.isVariableStatement(one.parent.parent) || !ts.isSourceFile(one.parent.parent.parent);
}

/** Declarations of functions, methods, classes, fields and variables of modules inside the tree. */
function declarationsOf(name) {
  const found = [];
  for (const one of symbolOf(name)?.declarations ?? []) {
    const path = relative(root, one.getSourceFile().fileName);
    if (path.startsWith("..") || path.includes("node_modules")) continue;
    found.push(isHolder(one) ? ["", 0] : [path, lineOf(one)]);
  }
  return found;
}

const found = [];
for (const file of program.getSourceFiles()) {
  const path = relative(root, file.fileName);
  if (path.startsWith("..") || path.includes("node_modules") || file.isDeclarationFile) continue;
  for (const name of callsOf(file)) {
    found.push({ path, line: lineOf(name), start: lineOf(name.parent), name: name.text, places: declarationsOf(name) });
  }
}
console.log(JSON.stringify(found));
