import { expect } from 'chai'
import { chaosSettings } from './settings.ts'

describe('chaosSettings', () => {
  it('reads the environment', () => {
    const env = { SEED: 'my-seed_1', MINUTES: '0.5', RATE: '20', REPLICAS: '1', STORE: 'postgresql', BROKERS: '3' }
    const told = { seed: 'my-seed_1', minutes: 0.5, rate: 20, replicas: 1, store: 'postgresql', brokers: 3 }
    expect(chaosSettings(env)).to.deep.equal(told)
  })

  it('creates a seed if the variable is missing or empty', () => {
    expect(chaosSettings({}).seed).to.match(/^\d+$/)
    expect(chaosSettings({ SEED: '' }).seed).to.match(/^\d+$/)
  })

  for (const [name, value] of Object.entries({
    SEED: '../x',
    MINUTES: '1e3',
    RATE: '0',
    REPLICAS: '3',
    STORE: 'redis',
    BROKERS: '2',
  })) {
    it(`rejects ${name}=${value} with the rule and an example`, () => {
      expect(() => chaosSettings({ [name]: value }))
        .to.throw(`${name}: "${value}" is not`)
        .with.property('nextStep')
        .that.includes('make -C tools chaos')
    })
  }
})
