import { expect } from 'chai'
import { textsOf } from '../texts.ts'

const linesOf = (file: string, source: string) =>
  textsOf(file, source).map(({ kind, line, text }) => `${line} ${kind}: ${text}`)

describe('textsOf', () => {
  it('finds comments, and leaves out names of tags and code', () => {
    const source = `// One comment
// of two lines.

// Another comment
const one = 1
/**
 * Returns \`one\` of {@link all}.
 *
 * The second paragraph:
 * - an item
 * @param {string} name the name of it
 * @returns the count
 * @example
 * call(this)
 */
function call(name: string) {} /* inner */
`
    expect(linesOf('a.ts', source)).to.deep.equal([
      '1 prose: One comment of two lines.',
      '4 prose: Another comment',
      '7 doc comment: Returns X of X.',
      '9 prose: The second paragraph:',
      '10 prose: an item',
      '11 prose: the name of it',
      '12 prose: the count',
      '16 prose: inner',
    ])
  })

  it('finds titles of tests and suites, and leaves out data of tests', () => {
    const source = `describe('a list', () => {
  it(\`adds \${count} items\`, () => { throw new Error('this text is data') })
  it.skip('is long', () => print('this text is data'))
})`
    expect(linesOf('a.unit.test.ts', source)).to.deep.equal([
      '1 prose: a list',
      '2 test title: adds X items',
      '3 test title: is long',
    ])
  })

  it('finds strings that are sentences, and leaves out keys, codes and SQL', () => {
    const source = `fail('code-only', \`cannot read the file \${file}\`, { 'a b c': 'Old events that \\"really\\" wait\\n' })
const help = 'Usage: send all FILES\\n\\n  --one   sends one\\n          event\\n  --all   sends all\\n'
query('SELECT a few rows FROM events', 'a => b and so on')
`
    expect(linesOf('a.ts', source)).to.deep.equal([
      '1 string: cannot read the file X',
      '1 string: Old events that ”really” wait',
      '2 string: Usage: send all FILES',
      '4 string: --one   sends one event',
      '6 string: --all   sends all',
    ])
  })

  it('finds the texts of a page', () => {
    expect(linesOf('a.tsx', `const view = <p title="A hint for users" class="not read">No events</p>`)).to.deep.equal([
      '1 string: A hint for users',
      '1 prose: No events',
    ])
  })

  it('finds the prose of Markdown without code, addresses and marks', () => {
    const source = `---
title: not read
---
# A **title**
A [link](http://x.y/z "w") to \`code
here\` and ![a picture](a.png), <b>bold</b>.

| One | 12 | \`a\` 5 % |
1. an item
   of two lines

\`\`\`sh
make up
\`\`\`
<!-- hidden -->
`
    expect(linesOf('a.md', source)).to.deep.equal([
      '4 prose: A title',
      '5 prose: A link to X and a picture, bold.',
      '8 prose: One',
      '8 prose: X 5%',
      '9 prose: an item of two lines',
    ])
  })

  it('finds comments and help of scripts, settings and programs', () => {
    expect(linesOf('Makefile', '# A comment\n# of two lines.\nup: all ## Start it\n##@ A group\n')).to.deep.equal([
      '1 prose: A comment of two lines.',
      '3 prose: Start it',
      '4 prose: A group',
    ])
    expect(linesOf('start', `#!/bin/sh\n# Starts.\necho\n`)).to.deep.equal(['2 prose: Starts.'])
    expect(linesOf('a.yml', `summary: It is down\nurl: 'a # b'\n`)).to.deep.equal(['1 prose: It is down'])
    expect(linesOf('a.go', `// Reads.\nx\n/* Two\n * lines. */\n`)).to.deep.equal([
      '1 prose: Reads.',
      '3 prose: Two lines.',
    ])
    expect(linesOf('a.tla', '(* Two *)\n(* lines. *)\n')).to.deep.equal(['1 prose: Two lines.'])
  })

  it('finds titles and descriptions of JSON Schemas', () => {
    const source = `{ "title": "An order",\n "name": "not read", "description": "Its \\"id\\"." }`
    expect(linesOf('a.json', source)).to.deep.equal(['1 prose: An order', '2 prose: Its ”id”.'])
  })
})
