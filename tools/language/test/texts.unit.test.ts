import { expect } from 'chai'
import { textsOf } from '../texts/files.ts'
import { lineOf, plain } from '../texts/plain.ts'

/** Returns the texts of a file as `line kind: text`, with … for code. */
function linesOf(file: string, source: string): string[] {
  return textsOf(file, source).map(({ kind, start, end, value }) => {
    expect(value).to.have.lengthOf(end - start)
    return `${lineOf(source, start)} ${kind}: ${plain(value).text.replace(/\uFFFC+/g, '…')}`
  })
}

describe('textsOf', () => {
  it('finds comments, and leaves out tags, directives and code', () => {
    const source = `#!/usr/bin/env node
// One comment
// of two lines.

// @ts-expect-error: no text
// biome-ignore lint/a11y/x: the reason
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
      '2 comment: One comment of two lines.',
      '6 comment: the reason',
      '9 doc comment: Returns … of ….',
      '11 comment: The second paragraph:',
      '12 comment: an item',
      '13 comment: the name of it',
      '14 comment: the count',
      '18 comment: inner',
    ])
  })

  it('finds titles of tests, and leaves out data of tests', () => {
    const source = `describe('a list', () => {
  it(\`adds \${count} items\`, () => { throw new Error('no text') })
  it.skip('is long', () => print('no text'))
})`
    expect(linesOf('a.unit.test.ts', source)).to.deep.equal([
      '1 suite title: a list',
      '2 test title: adds … items',
      '3 test title: is long',
    ])
  })

  it('finds messages, help and descriptions', () => {
    const source = `throw new StackError('code-only', \`cannot read \${file}\`, { nextStep: 'run make up' })
log.info({ topic: 'a b' }, isNew ? 'is new' : 'is ' + 'old')
const route = { summary: 'Get an order', description: 'See \`make up\`', key: 'not read' }
const gauge = { name: 'a b', help: 'Events \\"that\\" wait\\n' }
`
    expect(linesOf('a.ts', source)).to.deep.equal([
      '1 message: cannot read …',
      '1 message: run make up',
      '2 message: is new',
      '2 message: is old',
      '3 API description: Get an order',
      '3 API description: See …',
      '4 help: Events "that" wait',
    ])
  })

  it('finds the lines of a help text', () => {
    const source = 'const help = `Usage: send FILE\n\n  --one   sends one\n          event\n  --all   sends all\n`'
    expect(linesOf('a.ts', source)).to.deep.equal([
      '1 help: Usage: send FILE',
      '3 help: --one sends one event',
      '5 help: --all sends all',
    ])
  })

  it('finds sentences of a page, with the elements inside them', () => {
    const source = `const View = () => <div title="A hint" class="not read">
  {/* A comment. */}
  <p>Run <code>make up</code> or <a href="/x y">read</a> {count} events{' '}</p>
  {isOpen ? 'Close the view' : <b>open it</b>}
  <Empty hint="No events" />
</div>`
    expect(linesOf('page/view.tsx', source)).to.deep.equal([
      '1 UI text: A hint',
      '2 comment: A comment.',
      '3 UI text: Run … or read … events',
      '4 UI text: Close the view',
      '5 UI text: No events',
    ])
  })

  it('finds the prose of Markdown without code, addresses and marks', () => {
    const source = `# A **title**

A [link](http://x.y/z "w") to \`code\` and
![a picture](a.png), <b>bold</b>.

| One | \`a\\|b\` |
| --- | --- |
1. an item
   of two lines

\`\`\`sh
make up
\`\`\`
<!-- hidden -->
`
    expect(linesOf('a.md', source)).to.deep.equal([
      '1 heading: A title',
      '3 prose: A link to … and a picture , bold .',
      '6 prose: One',
      '8 prose: an item of two lines',
    ])
  })

  it('finds comments and help of scripts and settings', () => {
    const makefile = `# A comment.
up: all ## Start it
	@true # ends the line
##@ A group
`
    expect(linesOf('Makefile', makefile)).to.deep.equal([
      '1 comment: A comment.',
      '2 help: Start it',
      '3 comment: ends the line',
      '4 help: A group',
    ])
    expect(linesOf('a.yml', `summary: 'It is down'\nurl: 'a # b'\n`)).to.deep.equal(['1 message: It is down'])
    expect(linesOf('start', `#!/bin/sh\necho 'not found' >&2\n`)).to.deep.equal(['2 message: not found'])
    expect(linesOf('a.go', `// Reads.\n/* Two\n * lines. */\n`)).to.deep.equal([
      '1 comment: Reads.',
      '2 comment: Two lines.',
    ])
    expect(linesOf('a.py', `"""Reads\na file."""\n`)).to.deep.equal(['1 comment: Reads a file.'])
    const tla = '(* Two *)\n(* lines. *)\nA == 1 \\* one\n'
    expect(linesOf('a.tla', tla)).to.deep.equal(['1 comment: Two lines.', '3 comment: one'])
  })

  it('finds titles and descriptions of JSON Schemas', () => {
    expect(
      linesOf('a.json', `{ "title": "An order",\n "name": "not read", "description": "Its \\"id\\"." }`),
    ).to.deep.equal(['1 schema: An order', '2 schema: Its \\"id\\".'])
  })
})
