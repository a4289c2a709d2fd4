import { expect } from 'chai'
import { CliError } from '../../../src/base/error.ts'
import { readOperator, readTarget } from '../../../src/release/platform/operator.ts'

const env = { APP: 'my-orders', ACCESS_TOKEN: 'abc-123' }

function refusal(variables: NodeJS.ProcessEnv): CliError {
  try {
    readOperator(variables, 'release order')
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('readOperator', () => {
  it('returns Heroku by default', () => {
    expect(readOperator(env, 'release order')).to.deep.equal({
      apiUrl: 'https://api.heroku.com',
      platform: 'heroku',
      registry: 'registry.heroku.com',
      app: 'my-orders',
      token: 'abc-123',
    })
  })

  it('accepts another platform, even on this machine', () => {
    const target = {
      PLATFORM_API_URL: 'http://localhost:8080/',
      PLATFORM_NAME: 'acme',
      PLATFORM_REGISTRY: 'localhost:5443',
    }
    expect(readTarget(target)).to.deep.equal({
      apiUrl: 'http://localhost:8080',
      platform: 'acme',
      registry: 'localhost:5443',
    })
  })

  const wrong: [variables: NodeJS.ProcessEnv, message: string][] = [
    [{ ACCESS_TOKEN: 'a' }, 'APP is missing'],
    [{ APP: 'my-orders' }, 'ACCESS_TOKEN is missing'],
    [{ ...env, APP: '../other' }, 'APP (../other) is not usable'],
    [{ ...env, APP: 'My Orders' }, 'APP (My Orders) is not usable'],
    [{ ...env, PLATFORM_API_URL: 'http://api.example.com' }, 'PLATFORM_API_URL (http://api.example.com) is not usable'],
    [{ ...env, PLATFORM_API_URL: 'api.example.com' }, 'PLATFORM_API_URL (api.example.com) is not usable'],
    [{ ...env, PLATFORM_REGISTRY: 'https://r.example.com' }, 'PLATFORM_REGISTRY (https://r.example.com) is not usable'],
    [{ ...env, PLATFORM_NAME: 'a b' }, 'PLATFORM_NAME (a b) is not usable'],
  ]
  for (const [variables, message] of wrong) {
    it(`refuses an invalid variable and names it: ${message}`, () => {
      const error = refusal(variables)
      expect(error.message).to.include(message)
      expect(error.nextStep).to.be.a('string')
    })
  }

  it('hides the token in its errors', () => {
    const error = refusal({ ...env, ACCESS_TOKEN: 'secret with\nline break' })
    expect(`${error.message} ${error.nextStep}`).to.include('ACCESS_TOKEN is not usable').and.not.include('secret')
  })
})
