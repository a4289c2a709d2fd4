import { expect } from 'chai'
import { parseGuid } from '../src/index.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'
const hex = guid.replaceAll('-', '')

describe('parseGuid', () => {
  it('reads a GUID in every usual spelling', () => {
    const spellings = [guid, hex, `{${guid}}`, `(${guid})`, `{${hex}}`, `urn:uuid:${guid}`, `  ${guid}\n`]
    for (const text of spellings.flatMap((each) => [each, each.toUpperCase()]))
      expect(parseGuid(text), text).to.equal(guid)
  })

  it('returns undefined for other values', () => {
    const texts = [
      '',
      guid.slice(1),
      `${guid}0`,
      `{${guid}`,
      `${guid})`,
      `{${guid})`,
      `x${guid}`,
      hex.replace('0', 'g'),
    ]
    const misplaced = `${hex.slice(0, 4)}-${hex.slice(4)}`
    for (const value of [...texts, misplaced, `urn:uuid:{${guid}}`, undefined, null, 7, [guid], ' '.repeat(99_999)])
      expect(parseGuid(value), String(value).slice(0, 50)).to.equal(undefined)
  })
})
