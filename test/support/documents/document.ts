import { type Sentence, sentencesOf } from './instructions.ts'

/** An instruction of a document to its reader. */
export type Step =
  | { do: 'run'; script: string }
  | { do: 'write'; path: string; text: string }
  | { do: 'change'; path: string; from: string; to: string }
  /** The last command of the previous script must print `shown`, and may print more. */
  | { do: 'see'; shown: unknown }
  | { do: 'browse'; sentence: Sentence }
  /** A picture of the page in the browser. A test takes it only with PICTURES=1. */
  | { do: 'look'; picture: string }
  /** An action that only a person can take, such as in an editor, replaced by code. Or a check that a test adds. */
  | { do: 'act'; what: string; act: () => Promise<void> }

const block =
  /(?:`([^`\n]+\.\w+)`[^`\n]*:\n\n)?^```(\w+)\n(.*?)^```$|(?<list>(?:^\d+\. [^\n]*\n(?:^ {2,}[^\n]*\n)*)+)|^ *(?:<img src="|!\[[^\]\n]*\]\()(?<picture>[^"\s]+\.webp)/gms

/**
 * Returns the steps of a document. An `sh` block is run. A block below a file’s path and a colon is the content of that file. If the block
 * is a `diff`, it is a change of that file. Any other `json` block is expected output. A numbered list is followed in a browser.
 */
export function stepsOf(markdown: string): Step[] {
  return [...markdown.matchAll(block)].flatMap(({ 1: path, 2: language, 3: text = '', groups = {} }): Step[] => {
    if (groups.list) return sentencesOf(groups.list).map((sentence) => ({ do: 'browse', sentence }))
    if (groups.picture) return [{ do: 'look', picture: groups.picture }]
    if (path && language === 'diff') return changesOf(text).map(([from, to]) => ({ do: 'change', path, from, to }))
    if (path) return [{ do: 'write', path, text }]
    if (language === 'sh') return [{ do: 'run', script: text }]
    if (language === 'json') return [{ do: 'see', shown: JSON.parse(text) }]
    throw new Error(`a block of ${language} is neither a file nor a command: ${text.slice(0, 80)}`)
  })
}

function changesOf(diff: string): [from: string, to: string][] {
  const plain = (lines = '') => lines.replaceAll(/^[-+]/gm, '')
  return [...diff.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)+)/gm)].map(([, from, to]) => [plain(from), plain(to)])
}

export function lastCommand(script: string): string {
  return (
    script
      .trimEnd()
      .split(/(?<!\\)\n/)
      .at(-1) ?? ''
  )
}
