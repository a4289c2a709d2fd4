import {
  TextlintKernel,
  type TextlintMessage,
  type TextlintPluginCreator,
  type TextlintRuleModule,
} from '@textlint/kernel'
import { rules } from './rules/index.ts'
import type { Rule } from './rules/rule.ts'
import { textsOf } from './texts/files.ts'
import { lineOf, plain } from './texts/plain.ts'
import type { Kind, Text } from './texts/text.ts'

export interface Problem {
  file: string
  line: number
  rule: string
  fix: string
  /** The line of the problem, cut 80 characters after the problem begins. */
  excerpt: string
}

/** A text in the syntax tree of textlint, with the data that the rules read. */
interface TextNode {
  kind: Kind
  value: string
  /** Maps each character of the value to its index in the file. */
  indices: number[]
}

const kernel = new TextlintKernel()

/** Returns the problems of a file and the number of its texts. */
export async function lintFile(file: string, source: string): Promise<{ problems: Problem[]; texts: number }> {
  const texts = textsOf(file, source)
  if (texts.length === 0) return { problems: [], texts: 0 }
  const { messages } = await kernel.lintText(source, {
    filePath: file,
    ext: '.any',
    plugins: [{ pluginId: 'texts', plugin: { Processor: processorOf(file, texts) } }],
    rules: rules.map((rule) => ({ ruleId: rule.name, rule: textlintRule(rule) })),
  })
  const problems = messages.map(({ line, ruleId, message, index }) => ({
    file,
    line,
    rule: ruleId,
    fix: message,
    excerpt: plain(source.slice(source.lastIndexOf('\n', index) + 1, index + 80)).text,
  }))
  return { problems, texts: texts.length }
}

/** Returns a processor for textlint. Its syntax tree has a `Str` for each text of a file. */
function processorOf(file: string, texts: Text[]): TextlintPluginCreator['Processor'] {
  return class {
    availableExtensions() {
      return ['.any']
    }

    processor() {
      return {
        preProcess: (source: string) => documentOf(source, texts),
        postProcess: (messages: TextlintMessage[]) => ({ messages, filePath: file }),
      }
    }
  }
}

function documentOf(source: string, texts: Text[]) {
  const children = texts.map(({ kind, start, end, value }) => {
    const { text, indices } = plain(value)
    const raw = source.slice(start, end)
    return { type: 'Str' as const, kind, raw, value: text, indices, ...extent(source, start, end) }
  })
  return { type: 'Document' as const, raw: source, children, ...extent(source, 0, source.length) }
}

function extent(source: string, start: number, end: number) {
  const range: [number, number] = [start, end]
  return { range, loc: { start: locationOf(source, start), end: locationOf(source, end) } }
}

function locationOf(source: string, index: number) {
  return { line: lineOf(source, index), column: index - source.lastIndexOf('\n', index - 1) - 1 }
}

function textlintRule({ kinds, check }: Rule): TextlintRuleModule {
  return ({ RuleError, locator, report }) => ({
    Str(node) {
      const { kind, value, indices } = node as unknown as TextNode
      if (kinds && !kinds.includes(kind)) return
      for (const { index, length, fix } of check(value, kind)) {
        const [first = 0, last = 0] = [indices[index], indices[index + length - 1]]
        report(node, new RuleError(fix, { padding: locator.range([first, last + 1]) }))
      }
    },
  })
}
