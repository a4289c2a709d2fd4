import { expect } from 'chai'
import { stepsOf } from '../support/documents/document.ts'

const followed = (list: string) =>
  stepsOf(list).flatMap((step) => (step.do === 'browse' ? step.sentence.instructions : []))

describe('stepsOf', () => {
  it('returns the pages, operations and buttons of a numbered list', () => {
    expect(
      followed(
        '1. Open the [monitor](monitor.md), http://localhost:5010. Unfold `GET /v1/a`, press _Try_ and then\n   _Send it_.\n',
      ),
    ).to.deep.equal([
      { do: 'open', url: 'http://localhost:5010' },
      { do: 'unfold', operation: 'GET /v1/a' },
      { do: 'press', name: 'Try' },
      { do: 'press', name: 'Send it' },
    ])
  })

  it('returns the columns, changes and entries of a numbered list', () => {
    expect(
      followed(
        '1. Press _Open the list_.\n2. Press the link below _Entry_. Change `"4"` to `4`.\n3. Enter the output of `cat key` in _Key_.\n',
      ),
    ).to.deep.equal([
      { do: 'press', name: 'Open the list' },
      { do: 'press link', column: 'Entry' },
      { do: 'change', from: '"4"', to: '4' },
      { do: 'enter', command: 'cat key', field: 'Key' },
    ])
  })

  it('returns the texts that a page must show', () => {
    expect(followed('1. The page shows _ready_. It has no errors. The answer contains `"a": 1`.\n')).to.deep.equal([
      { do: 'see', text: 'ready' },
      { do: 'see', text: '"a": 1' },
    ])
  })

  it('rejects an item without an instruction', () => {
    expect(() => stepsOf('1. Press _Go_.\n2. Think about it.\n')).to.throw('a test cannot follow: Think about it.')
  })

  it('returns commands, lists, pictures and answers in order', () => {
    const text =
      '```sh\nmake up\n```\n\n1. Press _Go_.\n\n<picture>\n  <img src="pictures/a.webp" alt="a">\n</picture>\n\n```json\n1\n```\n'
    expect(stepsOf(text).map((step) => step.do)).to.deep.equal(['run', 'browse', 'look', 'see'])
  })
})
