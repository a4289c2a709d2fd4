/** The number of characters in a row of the terminal. */
export const columns = 112

/** Maps the terminal codes of `styleText` to CSS classes. Any other code ends a style. */
const classes: Record<string, string> = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' }

const colours = { bold: '#fff', dim: '#8a94a6', red: '#ff7b72', green: '#7ee787', yellow: '#e3b341', cyan: '#79c0ff' }

/**
 * Returns the CSS of the classes.
 * @param property the colour of a text: `fill` in SVG, `color` in HTML
 */
export const colourStyle = (property: 'fill' | 'color'): string =>
  [
    '.bold { font-weight: bold; }',
    ...Object.entries(colours).map(([name, colour]) => `.${name} { ${property}: ${colour}; }`),
  ].join(' ')

export interface Piece {
  style: string | undefined
  text: string
}

/** Splits a printed line with terminal codes into rows, at a space or comma if possible. */
export function rowsOf(line: string): Piece[][] {
  let rest = piecesOf(line).flatMap(({ style, text }) => [...text].map((character) => ({ style, text: character })))
  const rows: Piece[][] = []
  do {
    const row = rest.slice(0, rest.length > columns ? lastBreak(rest) : columns)
    rest = rest.slice(row.length)
    rows.push(joined(row))
  } while (rest.length > 0)
  return rows
}

function piecesOf(line: string): Piece[] {
  const [first = '', ...others] = line.split('\x1b[')
  const styled = others.map((part) => {
    const end = part.indexOf('m')
    return { style: classes[part.slice(0, end)], text: part.slice(end + 1) }
  })
  return [{ style: undefined, text: first }, ...styled]
}

/** Returns the number of characters in the first row. */
function lastBreak(characters: Piece[]): number {
  const end = characters.slice(0, columns).findLastIndex(({ text }) => text === ' ' || text === ',')
  const hasWords = characters.slice(0, Math.max(end, 0)).some(({ text }) => text !== ' ')
  return hasWords ? end + 1 : columns
}

function joined(characters: Piece[]): Piece[] {
  const pieces: Piece[] = []
  for (const { style, text } of characters) {
    const last = pieces.at(-1)
    if (last && last.style === style) last.text += text
    else pieces.push({ style, text })
  }
  return pieces
}

/** Returns an element of SVG or HTML with the class of the piece, or only its text. */
export const elementOf = (tag: 'tspan' | 'span', { style, text }: Piece): string =>
  style ? `<${tag} class="${style}">${escaped(text)}</${tag}>` : escaped(text)

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
