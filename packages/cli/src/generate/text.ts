export function generated(comment: string): string {
  const lines = ['Generated from services.json by make generate.', ...(comment ? ['', ...comment.split('\n')] : [])]
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}
