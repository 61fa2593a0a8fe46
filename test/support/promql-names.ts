/** Metric and recorded names that a PromQL expression uses, by the prefixes this product owns. */
export function ownNames(expression: string): string[] {
  const withoutStrings = expression.replace(/"[^"]*"/g, '""');
  return [
    ...withoutStrings.matchAll(/\b(?:inference_(?:probe|engine)|process|nodejs)[a-zA-Z0-9_]*(?::[a-zA-Z0-9_:]+)?/g),
  ].map(([name]) => name);
}
