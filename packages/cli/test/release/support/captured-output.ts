import { createOutput, type Output } from '../../../src/release/output.ts'

/** An output that keeps what would have been printed. */
export function capturedOutput(): Output & { text: () => string } {
  let text = ''
  const sink = {
    write: (chunk: string) => {
      text += chunk
    },
  }
  return { ...createOutput(sink, sink), text: () => text }
}
