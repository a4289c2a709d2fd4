export function generated(comment: string): string {
  const lines = ['Generated from services.json by make generate.', '', ...comment.split('\n')]
  return lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join('')
}

/** Replaces the part between `# from SOURCE` and `# to here`. */
export function replacePart(text: string, source: string, content: string, file: string): string {
  const begin = text.indexOf(`# from ${source}`)
  const from = text.indexOf('\n', begin) + 1
  const to = text.lastIndexOf('\n', text.indexOf('# to here', from)) + 1
  if (begin < 0 || to <= 0) throw new Error(`${file} has no part "# from ${source}" that ends with "# to here"`)
  return text.slice(0, from) + content + text.slice(to)
}
