import { modes } from '@orderflow/envelope-schema'
import { guidText, model, text } from '@orderflow/service-kit'
import type { Outcome } from '../domain/outcome.ts'

const number = { type: 'integer' }

const problems = {
  type: 'array',
  items: {
    type: 'object',
    properties: { pointer: text, message: text, hint: text },
    description: 'JSON pointer into the envelope, what is wrong there, and how to mend it.',
  },
}

const place = {
  index: { ...number, description: 'Its place in the body, from 0 on.' },
  line: { ...number, description: 'Its line, from 1 on, in a body of lines.' },
}

const said = {
  variant: {
    ...text,
    nullable: true,
    enum: ['full', 'reduced', null],
    description: 'Which envelope it is; null for none.',
  },
  code: { ...text, description: 'Why it is refused: stable, for programs.' },
  errors: problems,
  warnings: problems,
}

export const outcomes = {
  name: 'Outcomes',
  schema: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: model<Outcome>('Outcome', {
          ...place,
          outcome: {
            ...text,
            enum: ['accepted', 'refused', 'unsent', 'unknown'],
            description: 'In the log; not in it; not in it, to be sent again; or nobody knows.',
          },
          id: {
            ...guidText,
            nullable: true,
            description:
              'Its Id: its own, or the one that was written into it; null for a refused envelope without one.',
          },
          ...said,
          retry: { ...text, description: 'What sending it again would do.' },
        }).schema,
      },
    },
  },
} satisfies { name: string; schema: object; of?: { items: Outcome[] } }

/** What is said of an envelope that is not published. */
export interface Judged extends Pick<Outcome, 'index' | 'line' | 'variant' | 'code' | 'errors' | 'warnings'> {
  valid: boolean
}

export const judged = {
  name: 'Verdicts',
  schema: {
    type: 'object',
    properties: {
      mode: { ...text, enum: modes },
      items: {
        type: 'array',
        items: model<Judged>('Verdict', { ...place, valid: { type: 'boolean' }, ...said }).schema,
      },
    },
  },
} satisfies { name: string; schema: object; of?: object }
