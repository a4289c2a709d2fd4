import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { type Section, section } from '../../src/runtime/settings/sections.ts'
import { readSettings, SettingsError } from '../../src/runtime/settings/settings.ts'

const settings = {
  App: { Id: '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01', Name: 'a-service' },
  Web: { Host: '127.0.0.1', Hosts: '', HttpPort: 5000, HttpsPort: 5001, CertificateFile: '', KeyFile: '', Proxies: 0 },
  Auth: { Mode: 'loopback', Issuer: '', Audience: '', TenantClaim: 'tenant_id', ClientId: '', ApiKeys: '' },
  Limits: { AddressPerMinute: 600, CallerPerMinute: 300, TenantPerMinute: 600 },
  AppChannel: { Host: '127.0.0.1', Port: 5100 },
  Metrics: { Host: '127.0.0.1', Port: 3900 },
  DryRun: { Token: '' },
  Sidecar: { Host: '127.0.0.1', HttpPort: 3500, GrpcPort: 3502 },
  Stream: {
    PubSub: 'pubsub',
    Brokers: '',
    AuthType: 'none',
    SaslMechanism: 'PLAINTEXT',
    SaslUsername: '',
    SaslPassword: '',
    DisableTls: false,
    CaCert: '',
    SessionTimeout: '3s',
  },
  State: { Store: 'statestore', ConnectionString: '' },
  Trust: { File: 'trust.json', Publishers: 'publishers.json', SigningKeys: '', SignedSince: '' },
  Policy: { ApproveUpTo: 10_000 },
  Log: { Level: 'info' },
  Telemetry: { TracePage: '', MonitorPage: '' },
}
const tokens = { APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd' }

const ownSections = { Policy: section({ ApproveUpTo: { type: 'number' } }) }

interface Folder {
  sections: Record<string, Section>
  services?: string
}

function load(env: NodeJS.ProcessEnv, content: object = settings, { sections, services }: Folder = { sections: {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  writeFileSync(join(folder, 'appsettings.json'), JSON.stringify(content))
  if (services) writeFileSync(join(folder, 'services.json'), services)
  try {
    return readSettings({ root: pathToFileURL(`${folder}/`), sections: { ...ownSections, ...sections } }, env)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const problemsOf = (...args: Parameters<typeof load>) => problemsIn(() => load(...args))

function problemsIn(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  throw new Error('the settings were accepted')
}

describe('readSettings', () => {
  it('prefers the environment to the file, and also accepts Dapr’s names for tokens', () => {
    const loaded = load({
      ...tokens,
      Web__HttpPort: '8080',
      Log__Level: 'warn',
      Stream__DisableTls: 'true',
      Policy__ApproveUpTo: '1.5',
      HOME: '/',
    })
    expect(loaded.Web).to.include({ HttpPort: 8080, HttpsPort: 5001 })
    expect(loaded.Log.Level).to.equal('warn')
    expect(loaded).to.have.nested.property('Stream.DisableTls', true)
    expect(loaded).to.have.nested.property('Policy.ApproveUpTo', 1.5)
    expect([loaded.AppChannel.Token, loaded.Sidecar.Token]).to.deep.equal(['a', 'd'])
  })

  it('uses the hosting platform’s PORT if our own variable is missing', () => {
    expect(load({ ...tokens, PORT: '8080' }).Web.HttpPort).to.equal(8080)
    expect(load({ ...tokens, PORT: '8080', Web__HttpPort: '5010' }).Web.HttpPort).to.equal(5010)
    expect(load({ ...tokens, PORT: 'eighty', Web__HttpPort: '5010' }).Web.HttpPort).to.equal(5010)
    expect(load({ ...tokens, APP_API_TOKEN: 'a', AppChannel__Token: 'b' }).AppChannel.Token).to.equal('b')
  })

  it('names the variable with the wrong value: our own, or the platform’s PORT', () => {
    expect(problemsOf({ ...tokens, PORT: 'eighty' })).to.deep.equal(['PORT: must be integer, in plain digits'])
    expect(problemsOf({ ...tokens, PORT: '70000' })).to.deep.equal(['PORT: must be <= 65535'])
    expect(problemsOf({ ...tokens, PORT: '1', Web__HttpPort: 'x' })).to.deep.equal([
      'Web__HttpPort: must be integer, in plain digits',
    ])
    const Web = { ...settings.Web, HttpPort: 'x' }
    expect(problemsOf(tokens, { ...settings, Web })).to.deep.equal(['Web__HttpPort: must be integer, in plain digits'])
  })

  it('names missing settings and allowed values for a stream with a password', () => {
    expect(problemsOf({ ...tokens, Stream__AuthType: 'password', Stream__SaslUsername: 'u' })).to.deep.equal([
      'Stream__SaslPassword: is missing; set this variable',
    ])
    const wrong = { Stream__AuthType: 'Password', Stream__SaslMechanism: 'PLAIN', Stream__DisableTls: 'yes' }
    expect(problemsOf({ ...tokens, ...wrong, Stream__SessionTimeout: '3' })).to.have.members([
      'Stream__AuthType: must be one of none, password',
      'Stream__SaslMechanism: must be one of PLAINTEXT, SHA-256, SHA-512',
      'Stream__DisableTls: must be true or false',
      'Stream__SessionTimeout: must match pattern "^[1-9]\\d*s$"',
    ])
  })

  it('accepts signing keys of 32 characters or more, separated by commas, and a time with an offset', () => {
    const [key, other] = ['k'.repeat(32), 'o'.repeat(44)]
    for (const SigningKeys of ['', key, `${key},${other}`]) {
      expect(load({ ...tokens, Trust__SigningKeys: SigningKeys }).Trust.SigningKeys).to.equal(SigningKeys)
    }
    for (const SignedSince of ['2026-11-21T10:00Z', '2026-11-21T10:00:00.123+01:00']) {
      expect(load({ ...tokens, Trust__SignedSince: SignedSince }).Trust.SignedSince).to.equal(SignedSince)
    }
    const wrong = ['k'.repeat(31), `${key},`, `${key}, ${other}`].map((text) => ({ Trust__SigningKeys: text }))
    const late = ['2026-11-21', '2026-11-21T10:00', 'yes', '2026-02-30T10:00Z'].map((text) => ({
      Trust__SignedSince: text,
    }))
    for (const variables of [...wrong, ...late]) {
      const [name = ''] = Object.keys(variables)
      expect(problemsOf({ ...tokens, ...variables }).map((problem) => problem.split(':')[0])).to.deep.equal([name])
    }
  })

  it('refuses a day that does not exist, and explains the correction', () => {
    expect(problemsOf({ ...tokens, Trust__SignedSince: '2026-02-30T10:00Z' })).to.deep.equal([
      `Trust__SignedSince: must be a date-time with an offset, such as 2026-01-31T12:00:00Z; name a day that exists: this month is shorter`,
    ])
  })

  it('names every problem and the variable that fixes it', () => {
    expect(
      problemsOf({ ...tokens, Web__HttpPort: 'eighty', Policy__ApproveUpTo: '', Web__HtpPort: '1' }),
    ).to.have.members([
      'Web__HttpPort: must be integer, in plain digits',
      'Policy__ApproveUpTo: must be number, in plain digits',
      'Web__HtpPort: no such setting',
    ])
  })

  it('names wrong variables for tracing, because the OpenTelemetry SDK would ignore these variables', () => {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector', Telemetry__TracePage: 'javascript:alert(1)' }
    expect(problemsOf({ ...tokens, ...traced }).map((problem) => problem.split(':')[0])).to.have.members([
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'Telemetry__TracePage',
    ])
  })

  it('accepts a number from the environment only in plain digits', () => {
    expect(load({ ...tokens, Policy__ApproveUpTo: '-0.50' })).to.have.nested.property('Policy.ApproveUpTo', -0.5)
    for (const text of ['Infinity', '1e400', '1e3', '0x10', ' 1', '.5', 'true', '9'.repeat(400)]) {
      const problems = problemsOf({ ...tokens, Policy__ApproveUpTo: text })
      expect(problems, text).to.deep.equal(['Policy__ApproveUpTo: must be number, in plain digits'])
    }
  })

  it('refuses the value `null` in the file', () => {
    const Web = { ...settings.Web, Host: null, HttpPort: null }
    expect(problemsOf(tokens, { ...settings, Web, Policy: { ApproveUpTo: null } })).to.have.members([
      'Web__Host: must be string',
      'Web__HttpPort: must be integer, in plain digits',
      'Policy__ApproveUpTo: must be number, in plain digits',
    ])
  })

  it('requires the tokens of the sidecar and of its channel, so that the channel is not open to everyone', () => {
    expect(problemsOf({})).to.deep.equal([
      'APP_API_TOKEN: is missing; set this variable',
      'DAPR_API_TOKEN: is missing; set this variable',
    ])
  })

  it('accepts names of components separated by commas, but refuses an empty name', () => {
    expect(load({ ...tokens, Stream__PubSub: 'pubsub,pubsub-1' }).Stream.PubSub).to.equal('pubsub,pubsub-1')
    for (const text of ['', 'pubsub,', 'pubsub, pubsub-1']) {
      expect(problemsOf({ ...tokens, Stream__PubSub: text }), text).to.have.lengthOf(1)
    }
  })

  it('converts the application’s id to lower case, as in envelopes', () => {
    expect(load({ ...tokens, App__Id: settings.App.Id.toUpperCase() }).App.Id).to.equal(settings.App.Id)
  })

  it('names a section that is missing in the file', () => {
    expect(problemsOf(tokens, { ...settings, Policy: undefined })).to.deep.equal([
      'Policy: is missing; set this variable',
    ])
  })

  describe('shared settings', () => {
    const Shop = section({ Opens: { type: 'integer', minimum: 0, shared: true }, Name: { type: 'string' } })
    const application = JSON.parse(readFileSync(new URL('../../../../services.json', import.meta.url), 'utf8'))
    const inShop = { ...settings, Shop: { Name: 'ours' } }

    function openShop(shared: object, env: NodeJS.ProcessEnv = {}, content: object = inShop) {
      const services = JSON.stringify({ ...application, settings: shared })
      return load({ ...tokens, ...env }, content, { sections: { Shop }, services })
    }
    const shopProblems = (...args: Parameters<typeof openShop>) => problemsIn(() => openShop(...args))

    it('takes the value from services.json, and its other settings from the file and the environment', () => {
      const shared = { Shop: { Opens: 8 }, Unknown: { Key: 1 } }
      expect(openShop(shared, { Shop__Name: 'yours' })).to.deep.include({ Shop: { Opens: 8, Name: 'yours' } })
      const same = { ...inShop, Shop: { Name: 'ours', Opens: 8 } }
      expect(openShop(shared, { Shop__Opens: '8' }, same)).to.deep.include({ Shop: { Opens: 8, Name: 'ours' } })
    })

    it('refuses another value in a variable or in the file, and keeps it secret', () => {
      const refused =
        'Shop__Opens: "settings" of services.json has another value, 8, for all services; remove this variable, and Shop.Opens of appsettings.json'
      const other = { ...inShop, Shop: { Name: 'ours', Opens: 9 } }
      expect(shopProblems({ Shop: { Opens: 8 } }, {}, other)).to.deep.equal([refused])
      for (const value of ['9', '', 'eight'])
        expect(shopProblems({ Shop: { Opens: 8 } }, { Shop__Opens: value }), value).to.deep.equal([refused])
    })

    it('refuses a missing or invalid value, and a value of a setting that is not shared', () => {
      const place = 'Shop.Opens in "settings" of services.json'
      for (const env of [{}, { Shop__Opens: '8' }]) {
        expect(shopProblems({}, env)).to.deep.equal([`${place}: is missing; add it`])
      }
      expect(shopProblems({ Shop: { Opens: -1 } })).to.deep.equal([`${place}: must be >= 0`])
      const misplaced = { Shop: { Opens: 8, Name: 'ours', Closes: 9 }, Log: { Level: 'info' } }
      expect(shopProblems(misplaced)).to.deep.equal(
        ['Shop.Name', 'Shop.Closes', 'Log.Level'].map(
          (name) =>
            `${name} in "settings" of services.json: is no shared setting; remove it, and set ${name.replace('.', '__')}`,
        ),
      )
    })
  })
})
