import { createOutput, type Output } from '../../../src/release/output.ts'

export function capturedOutput(): Output & { text: () => string } {
  let text = ''
  const sink = {
    write: (chunk: string) => {
      text += chunk
    },
  }
  return { ...createOutput(sink, sink), text: () => text }
}
