export function slug(text: string): string { return text.trim(); }
function hidden(): void {}
export { hidden as shown };
