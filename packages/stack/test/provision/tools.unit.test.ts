import { expect } from 'chai'
import {
  browser,
  compose,
  describeMissing,
  engine,
  findTools,
  git,
  go,
  howToBring,
  java,
  maven,
  readVersion,
} from '../../src/provision/tools.ts'

describe('readVersion, findTools and howToBring', () => {
  const fine = [
    [go, 'go version go1.21.13 linux/amd64'],
    [go, 'go version go1.27rc1 darwin/arm64'],
    [java, 'openjdk version "17.0.15" 2025-04-15'],
    [java, 'openjdk version "25" 2025-09-16'],
    [java, 'java version "21.0.2" 2024-01-16 LTS'],
    [maven, '\u001b[1mApache Maven 3.8.7\u001b[m\nMaven home: /usr/share/maven'],
    [maven, 'Apache Maven 4.0.0'],
    [browser, 'Chromium 142.0.7444.175 built on Debian GNU/Linux 12 (bookworm)'],
    [browser, 'Google Chrome 141.0.7390.122 \n'],
    [git, 'git version 2.39.5 (Apple Git-154)'],
    [engine, '20.10.24+dfsg1\n'],
    [compose, 'v2.40.3\n'],
  ] as const
  for (const [tool, printed] of fine) {
    it(`finds a version that is new enough in the output ${JSON.stringify(printed)}`, () => {
      expect(readVersion(tool, printed)).to.have.property('isNewEnough', true)
    })
  }

  const tooOld = [
    [git, 'git version 2.27.0', 'needs git 2.28 or newer: found 2.27'],
    [go, 'go version go1.19.8 linux/amd64', 'needs Go 1.21 or newer: found 1.19'],
    [java, 'java version "1.8.0_392"', 'needs Java 17 or newer: found 1.8'],
    [java, 'openjdk version "11.0.21" 2023-10-17', 'needs Java 17 or newer: found 11.0'],
    [maven, 'Apache Maven 3.0.5', 'needs Maven 3.6 or newer: found 3.0'],
    [compose, '2.16.0', 'needs Docker Compose 2.24 or newer: found 2.16'],
    [maven, 'mvn: no such thing', 'needs Maven 3.6 or newer: not found'],
  ] as const
  for (const [tool, printed, message] of tooOld) {
    it(`reports a missing or outdated tool for the output ${printed}`, () => {
      const found = readVersion(tool, printed)
      expect(found.isNewEnough).to.equal(false)
      expect(describeMissing(found)).to.equal(message)
    })
  }

  it('reports a tool as missing if it is not installed', async () => {
    const [found] = await findTools([{ ...go, command: 'no-such-go' }])
    expect(found).to.deep.include({ version: undefined, isNewEnough: false })
  })

  it('returns one command for all packages, and instructions for other tools', () => {
    const missing = [go, java, maven]
    const [install, ...byHand] = howToBring(missing, 'apt')
    expect(install).to.match(/^(sudo )?apt-get install -y default-jre-headless maven$/)
    expect(byHand).to.deep.equal([go.otherwise])
    expect(howToBring(missing, 'brew')).to.deep.equal(['brew install go openjdk maven'])
    expect(howToBring([java, maven], 'none')).to.deep.equal([java.otherwise, maven.otherwise])
    expect(howToBring([engine, compose], 'apt')).to.deep.equal([engine.otherwise])
  })
})
