import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack'
import { expect } from 'chai'
import type { Containers, RunOptions } from './rehearsal/containers.ts'
import { startMongo } from './rehearsal/mongo.ts'

/** The options of mongod in a text, as name and value. */
function parametersOf(text: string): string[] {
  return [...text.matchAll(/--setParameter,? (\w+=\w+)/g)].map(([, parameter = '']) => parameter)
}

// The command line, since the stand-in for MongoDB does not say at which limit it is.
describe('the MongoDB of a rehearsal', () => {
  it('ends a transaction that was left open as soon as that of the stack in containers does, and docs/release.md asks for', async () => {
    const started: RunOptions[] = []
    const containers: Pick<Containers, 'run'> = {
      run: async (_alias, _image, options) => void started.push(options),
    }
    await startMongo(containers, 'user', 'password')
    const parameters = parametersOf(started.map(({ args = [] }) => args.join(' ')).join())
    expect(parameters).to.deep.equal(['transactionLifetimeLimitSeconds=5'])
    expect(parametersOf(readFileSync(join(repository, 'docker-compose.yml'), 'utf8'))).to.deep.equal(parameters)
  })
})
