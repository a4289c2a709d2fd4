import type { RecordedLine } from './recording.ts'
import { colourStyle, columns, elementOf, escaped, rowsOf } from './terminal-text.ts'

const [characterWidth, lineHeight, margin] = [7.8, 18, 16]
/** The time for which all lines stay before the animation restarts. */
const holdMs = 8000

const style = `
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }
${colourStyle('fill')}
`.trim()

/**
 * Returns an SVG document that shows each line at its time, in a loop. It has no script, so it moves in an <img>. Readers who prefer
 * reduced motion see all lines.
 */
export function terminalSvg(recording: RecordedLine[], title: string): string {
  const rows = recording.flatMap(({ at, text }) => rowsOf(text).map((pieces) => ({ at, pieces })))
  const duration = (recording.at(-1)?.at ?? 0) + holdMs
  const [width, height] = [columns * characterWidth + 2 * margin, rows.length * lineHeight + 2 * margin]
  const moments = [...new Set(rows.map(({ at }) => at))]
  const keyframes = moments.map((at, index) => {
    const percent = ((100 * at) / duration).toFixed(2)
    return `@keyframes k${index} { 0%, ${percent}% { opacity: 0 } ${percent}%, 100% { opacity: 1 } }
.k${index} { animation: k${index} ${(duration / 1000).toFixed(1)}s step-end infinite; }`
  })
  const texts = rows.map(({ at, pieces }, index) => {
    const y = margin + (index + 0.75) * lineHeight
    return `<text x="${margin}" y="${y}" class="k${moments.indexOf(at)}">${pieces.map((piece) => elementOf('tspan', piece)).join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>
${style}
${keyframes.join('\n')}
@media (prefers-reduced-motion: reduce) { text { animation: none !important; } }
</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
${texts.join('\n')}
</svg>
`
}
