// Where TypeScript's compiler finds what is called at places of a tree.
//
//     node bench/code_calls.mjs FOLDER_OF_THE_PACKAGE TREE < places.json
//
// Reads [{"path", "line", "name"}], lines from 1, and prints for each of them the declarations inside the tree,
// [["path", line]], or null where no call of that name begins in the line.
import { readFileSync } from "node:fs";
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

/** Names of calls in a file, by line and name. */
function callsOf(file) {
  const found = new Map();
  const visit = (node) => {
    const name = calledName(node);
    if (name !== undefined) found.set(`${lineOf(name)} ${name.text}`, name);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Declarations of functions, methods, classes and variables inside the tree. */
function declarationsOf(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const found = [];
  for (const one of symbol?.declarations ?? []) {
    const path = relative(root, one.getSourceFile().fileName);
    if (!path.startsWith("..") && !path.includes("node_modules")) found.push([path, lineOf(one)]);
  }
  return found;
}

const calls = new Map();
const places = JSON.parse(readFileSync(0, "utf-8")).map(({ path, line, name }) => {
  const file = program.getSourceFile(resolve(root, path));
  if (file === undefined) return null;
  if (!calls.has(path)) calls.set(path, callsOf(file));
  const called = calls.get(path).get(`${line} ${name}`);
  return called === undefined ? null : declarationsOf(called);
});
console.log(JSON.stringify(places));
