import { expect } from 'chai'
import { killed, type Match, type Tested } from './support/rehearse.ts'

/** Tests releases that were killed at any step, and started again. */
export function killedReleases(tested: Tested): void {
  const { stateOf } = tested

  describe('a release killed with -9 and started again', () => {
    const isConfig: Match = ({ method, path }) => method === 'PATCH' && path.endsWith('/config-vars')
    const isFormation: Match = ({ method, path }) => method === 'PATCH' && path.endsWith('/formation')
    const points: [what: string, kill: { killAt?: RegExp; before?: Match; after?: Match }][] = [
      ['while the image is built', { killAt: /image: building/ }],
      ['while the image is tried', { killAt: /not root/ }],
      ['while the image is pushed', { killAt: /image: pushing/ }],
      ['before the config vars are set', { before: isConfig }],
      ['after the config vars were set', { after: isConfig }],
      ['before the image is released', { before: isFormation }],
      ['after the image was released', { after: isFormation }],
      ['while it waits', { before: ({ method, path }) => method === 'GET' && path.endsWith('/dynos') }],
    ]
    for (const [index, [what, { killAt, before, after }]] of points.entries()) {
      it(`ends in the same state and can be undone if it was killed ${what}`, async () => {
        const app = killed[index] ?? ''
        tested.interfere = (request, response, next) => {
          if (before?.(request)) return tested.operator.kill()
          if (!after?.(request)) return next()
          response.json = () => {
            tested.operator.kill()
            return response
          }
          next()
        }
        const first = await tested.operator.makeWith(killAt ? { killAt } : {}, 'release-order', `APP=${app}`)
        expect(first.status).to.equal(null)
        tested.interfere = undefined

        const { status, output } = await tested.operator.make('release-order', `APP=${app}`)
        expect(output).to.match(/live: v3/)
        expect(status).to.equal(0)
        const { digest, configVars } = stateOf('orders')
        expect(stateOf(app)).to.deep.equal({ version: 3, digest, configVars, quantity: 1, states: ['up'] })

        expect((await tested.operator.make('rollback-order', `APP=${app}`)).status).to.equal(0)
        expect(stateOf(app)).to.deep.include({ digest: undefined, configVars: {}, quantity: undefined, states: [] })
      })
    }
  })
}
