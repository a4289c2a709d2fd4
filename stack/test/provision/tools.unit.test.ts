import { expect } from 'chai'
import { describeMissing, go, java, maven, missingTools } from '../../src/provision/tools.ts'

describe('a needed tool', () => {
  const fine = [
    [go, 'go version go1.26.8 linux/amd64'],
    [go, 'go version go1.27rc1 darwin/arm64'],
    [java, 'openjdk version "17.0.15" 2025-04-15'],
    [java, 'openjdk version "25" 2025-09-16'],
    [java, 'java version "21.0.2" 2024-01-16 LTS'],
    [maven, '\u001b[1mApache Maven 3.8.7\u001b[m\nMaven home: /usr/share/maven'],
    [maven, 'Apache Maven 4.0.0'],
  ] as const
  for (const [tool, printed] of fine) {
    it(`is new enough: ${JSON.stringify(printed)}`, () => expect(describeMissing(tool, printed)).to.equal(undefined))
  }

  const tooOld = [
    [go, 'go version go1.21.3 linux/amd64', /^needs Go 1\.26 or newer: found 1\.21; install from https:\/\/go\.dev/],
    [java, 'java version "1.8.0_392"', /^needs Java 17 or newer: found 1\.8; install with apt-get install default-jre/],
    [java, 'openjdk version "11.0.21" 2023-10-17', /^needs Java 17 or newer: found 11\.0;/],
    [maven, 'Apache Maven 3.0.5', /^needs Maven 3\.6 or newer: found 3\.0;/],
  ] as const
  for (const [tool, printed, message] of tooOld) {
    it(`is too old: ${printed}`, () => expect(describeMissing(tool, printed)).to.match(message))
  }

  it('that is not there is reported together with the others', async () => {
    const missing = await missingTools([
      { ...go, command: 'no-such-go' },
      { ...maven, command: 'no-such-mvn' },
    ])
    expect(missing).to.have.length(2)
    expect(missing[0]).to.match(/^needs Go 1\.26 or newer: not found; install/)
    expect(missing[1]).to.match(/^needs Maven 3\.6 or newer: not found; install/)
  })
})
