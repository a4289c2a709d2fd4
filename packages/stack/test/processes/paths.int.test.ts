import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePorts } from '../../src/application/free-ports.ts'
import { createPlan } from '../../src/processes/plan.ts'
import { processSpecs } from '../../src/processes/process/spec.ts'
import { prepareKafka, propertiesText } from '../../src/processes/servers/kafka.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('the data of a stack', () => {
  const locale = process.env.LC_ALL
  afterEach(() => {
    if (locale === undefined) delete process.env.LC_ALL
    else process.env.LC_ALL = locale
    removeFolders()
  })

  it('stays in its folder, whatever characters its path has and whatever the locale is', async () => {
    process.env.LC_ALL = 'C'
    const parent = temporaryFolder()
    const folder = join(parent, 'Müller 鈴木 😀 \\ 100%20 #1 a=b')
    const plan = await createPlan(folder, await freePorts())
    await prepareKafka(plan)
    expect(existsSync(join(folder, 'data/kafka/meta.properties'))).to.equal(true)
    expect(readdirSync(parent)).to.have.length(1)
    const { State__ConnectionString: file = '' } = processSpecs(plan)['order-sidecar']?.env ?? {}
    expect(new URL(`file:${file}`).pathname).to.match(/100%2520%20%231/)
  })

  it('gets paths that Java reads correctly', () => {
    expect(propertiesText({ a: 'C:\\ü\n', b: 1 })).to.equal('a=C:\\\\\\u00fc\\u000a\nb=1\n')
  })
})
