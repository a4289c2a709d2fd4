import { expect } from 'chai'
import { isSameCode } from '../texts/same-code.ts'

const same = (before: string, after: string) => isSameCode('a.tsx', before, after)

describe('isSameCode', () => {
  it('ignores comments, the content of strings and the way in which strings are joined', () => {
    expect(same(`/** One. */\nprint('one')`, `// Two, and more.\nprint("two")`)).to.equal(true)
    expect(same(`print('one ' + name + ' two')`, `print(\`three \${name}\`)`)).to.equal(true)
    expect(same(`print(\`one\`)`, `print('one ' + 'two')`)).to.equal(true)
  })

  it('ignores the texts of the page', () => {
    expect(
      same(`<p title="one">one <b>two</b></p>`, `<p title='two'>\n  three{' '}\n  <b>four</b> five\n</p>`),
    ).to.equal(true)
  })

  it('reports changed expressions, names and numbers', () => {
    expect(same(`print(\`a \${one} b\`)`, `print(\`a \${two} b\`)`)).to.equal(false)
    expect(same(`print(\`\${one} \${two}\`)`, `print(\`\${two} \${one}\`)`)).to.equal(false)
    expect(same(`const a = { 'x-y': 1 }`, `const a = { 'x-z': 1 }`)).to.equal(false)
    expect(same('const a = 1', 'const a = 2')).to.equal(false)
    expect(same('const a = /a/', 'const a = /b/')).to.equal(false)
    expect(same('const a = 1n', 'const a = 2n')).to.equal(false)
    expect(same('<p>one <b>two</b></p>', '<p>one <i>two</i></p>')).to.equal(false)
  })

  it('ignores patterns and keys in quotes, but only in tests', () => {
    const [before, after] = [`expect({ 'one': 1 }).to.match(/one/)`, `expect({ 'two': 1 }).to.match(/two/)`]
    expect(isSameCode('packages/a/test/a.ts', before, after)).to.equal(true)
    expect(isSameCode('packages/a/src/a.ts', before, after)).to.equal(false)
  })

  it('reports a changed import', () => {
    expect(same(`import { a } from './a.ts'`, `import { a } from './b.ts'`)).to.equal(false)
    expect(same(`await import('./a.ts')`, `await import('./b.ts')`)).to.equal(false)
  })
})
