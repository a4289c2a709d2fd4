/** An action of a reader in a browser, or a text that the reader sees. */
export type Instruction =
  | { do: 'open'; url: string }
  /** Shows the details of an operation, such as `POST /v1/orders`, on a page of an API. */
  | { do: 'unfold'; operation: string }
  /** Presses a button or a link by its name. */
  | { do: 'press'; name: string }
  /** Presses the first link of a table’s column. */
  | { do: 'press link'; column: string }
  /** Replaces a text in the editor of the page. */
  | { do: 'change'; from: string; to: string }
  /** Types the output of a command into a field. */
  | { do: 'enter'; command: string; field: string }
  | { do: 'see'; text: string }

/** A sentence of a document, with the instructions in it. */
export interface Sentence {
  text: string
  instructions: Instruction[]
}

const item = /^\d+\. +(.*(?:\n {2,}.*)*)/gm
const token =
  /\b(?<verb>press|below|(?:open|unfold|change|to|in)(?= [_`h])|enter(?= the output of ))\b|_(?<name>[^_\n]+)_|`(?<code>[^`\n]+)`|(?<url>https?:\/\/[^\s,]*[^\s,.])/gi

/**
 * Returns the sentences of a numbered list that have instructions. `Open`, `Unfold`, `Press`, `Change` and `Enter` tell the reader to act. Every other
 * _name_ or `text` must be visible on the page.
 * @throws {Error} if an item lacks an instruction, because a test could only skip it
 */
export function sentencesOf(list: string): Sentence[] {
  return [...list.matchAll(item)].flatMap(([, text = '']) => {
    const plain = text.replaceAll(/\s+/g, ' ').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    const sentences = plain
      .split(/(?<=[.!]) (?=[A-Z_])/)
      .map((sentence) => ({
        text: sentence.replaceAll(/`([^`]+)`|_([^_]+)_/g, '$1$2'),
        instructions: instructionsIn(sentence),
      }))
      .filter(({ instructions }) => instructions.length > 0)
    if (sentences.length === 0) throw new Error(`a test cannot follow: ${plain}`)
    return sentences
  })
}

function instructionsIn(sentence: string): Instruction[] {
  const instructions: Instruction[] = []
  let [verb, first] = ['see', '']
  for (const { groups = {} } of sentence.matchAll(token)) {
    const text = groups.name ?? groups.code ?? ''
    if (groups.verb === 'below') verb = 'press link'
    else if (groups.verb) verb = groups.verb.toLowerCase()
    else if (groups.url) instructions.push({ do: 'open', url: groups.url })
    else if (verb === 'unfold') instructions.push({ do: 'unfold', operation: text })
    else if (verb === 'press') instructions.push({ do: 'press', name: text })
    else if (verb === 'press link') instructions.push({ do: 'press link', column: text })
    else if (verb === 'change' || verb === 'enter') first = text
    else if (verb === 'to' && first) instructions.push({ do: 'change', from: first, to: text })
    else if (verb === 'in' && first) instructions.push({ do: 'enter', command: first, field: text })
    else instructions.push({ do: 'see', text })
  }
  return instructions
}
