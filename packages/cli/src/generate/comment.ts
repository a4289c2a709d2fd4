/** What a generated file begins with: that it is one, and what else a reader needs to know. */
export function generated(comment: string): string {
  const lines = ['Generated from services.json by make generate.', '', ...comment.split('\n')]
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}
