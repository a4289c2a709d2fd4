import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { services } from '../../src/application/services.ts'

const { PATH, NODE_COMPILE_CACHE } = process.env
const settings = {
  PORT: '8080',
  Stream__Brokers: 'broker.example.com:9093',
  State__ConnectionString: 'mongodb+srv://me:a-secret@store.example.com/',
  Trust__SigningKeys: 'a-secret-of-all-services-of-32-chars',
}

describe('the check of an image’s settings', () => {
  for (const service of services) {
    const read = (changes: Record<string, string> = {}) =>
      spawnSync(process.execPath, [join(repository, 'packages/stack/templates/release-image/settings.ts')], {
        cwd: join(repository, service.folder),
        env: { PATH, NODE_COMPILE_CACHE, ...settings, ...changes },
        encoding: 'utf8',
      })

    it(`prints the defaults that ${service.name} and its sidecar need`, () => {
      const { status, stdout, stderr } = read()
      expect(stderr).to.equal('')
      expect(stdout)
        .to.match(/^Stream__SessionTimeout=/m)
        .and.not.match(/Stream__Brokers|State__ConnectionString|PORT/)
      expect(status).to.equal(0)
    })

    it(`prints the settings of the trace collector for the sidecar of ${service.name}`, () => {
      const { stdout } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })
      expect(stdout).to.match(/^OTEL_EXPORTER_OTLP_PROTOCOL=http\/protobuf\nOTEL_EXPORTER_OTLP_INSECURE=true$/m)
      expect(read().stdout).not.to.contain('OTEL')
      expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }).stderr).to.contain(
        '- OTEL_EXPORTER_OTLP_ENDPOINT: must be',
      )
    })

    it(`applies the rules for ${service.name}, and the rules for a hosted stream and store`, () => {
      const { status, stdout, stderr } = read({ Log__Level: 'loud', Stream__Brokers: '' })
      expect(stderr)
        .to.match(/^error: settings are not usable:\n {2}- Log__Level: .*\n {2}- Stream__Brokers: is missing/)
        .and.match(/\nnext: set them/)
      expect(stdout).to.equal('')
      expect(status).to.equal(1)
    })
  }
})
