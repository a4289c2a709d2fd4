import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '@orderflow/stack/base'
import { partitions } from '@orderflow/stack/internals'
import { createOperator } from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { herokuHosts } from './support/heroku-hosts.ts'
import { herokuTool } from './support/heroku-tool.ts'
import type { Tested } from './support/rehearse.ts'

/** Tests the commands that need a released app. */
export function otherCommands(tested: Tested): void {
  const { stateOf } = tested

  describe('other commands of releases', () => {
    it('creates missing topics, with the settings of the app', async () => {
      const vars = { Stream__Brokers: tested.rehearsal.kafka.bootstrapBrokers.join() }
      const { status, output } = await tested.operator.orderflowWith({ env: vars }, 'release-topics')
      const there = `exists with ${partitions.containers} partitions`
      expect(output).to.match(new RegExp(`^orderevents: ${there}\npaymentevents: ${there}\n`))
      expect(status).to.equal(0)
    })

    it('lets an operator release by hand with the exported instructions', async () => {
      const file = join(tested.env.RELEASE_FOLDER ?? '', 'order-service/instructions.md')
      const steps = readFileSync(file, 'utf8').replaceAll('<app_name>', 'by-hand')
      const blocks = [
        ...steps.replaceAll('<ACCESS_TOKEN>', tested.env.ACCESS_TOKEN ?? '').matchAll(/```sh\n([\s\S]*?)```/g),
      ]
      expect(blocks).to.have.length(10)
      const script = blocks.map(([, block]) => block).join('\n')
      const scriptFile = join(tested.env.RELEASE_FOLDER ?? '', 'by-hand.sh')
      writeFileSync(scriptFile, script, { mode: 0o600 })
      const trusting = { env: { CURL_CA_BUNDLE: tested.env.NODE_EXTRA_CA_CERTS } }
      const { status, output } = await tested.operator.run('bash', ['-euo', 'pipefail', scriptFile], trusting)
      expect(status, output).to.equal(0)
      expect(output).to.include('"logplex_url":"http').and.include('"web_url":"http')
      expect(stateOf('by-hand')).to.include({ digest: stateOf('orders').digest, quantity: 1 })
      await tested.operator.orderflow('stop', 'order', '--app', 'by-hand')
    })

    it('detects a pushed image in OCI format', async () => {
      const pushed = await tested.operator.bash(
        `
        umask 077
        manifests=https://$PLATFORM_REGISTRY/v2/by-hand/web/manifests/latest
        call() { curl -sSf -K <(printenv LOGIN) "$manifests" "$@"; }
        call -H "Accept: application/vnd.docker.distribution.manifest.v2+json" \\
          | sed -e 's/docker.distribution.manifest.v2/oci.image.manifest.v1/' -e 's/docker.container.image.v1/oci.image.config.v1/' \\
            -e 's/docker.image.rootfs.diff.tar.gzip/oci.image.layer.v1.tar+gzip/' >"$RELEASE_FOLDER/manifest.json"
        call -X PUT -H "Content-Type: application/vnd.oci.image.manifest.v1+json" -d "@$RELEASE_FOLDER/manifest.json"`,
        {
          env: { CURL_CA_BUNDLE: tested.env.NODE_EXTRA_CA_CERTS, LOGIN: `user = "_:${tested.env.ACCESS_TOKEN}"` },
        },
      )
      expect(pushed.status, pushed.output).to.equal(0)
      const script = `
        import { createHttp } from './packages/stack/src/release/http.ts'
        import { readOperator } from './packages/stack/src/release/operator.ts'
        import { createRegistry } from './packages/stack/src/release/registry.ts'
        await createRegistry(readOperator({ ...process.env, APP: 'by-hand' }, ''), createHttp()).imageDigest('')`
      const { output } = await tested.operator.run(process.execPath, ['--input-type=module', '-e', script])
      expect(output).to.match(
        /the pushed image is a application\/vnd\.oci\.image\.manifest\.v1\+json; the platform accepts/,
      )
    })

    it('creates apps that the platform’s official tool understands', async () => {
      const hosts = await herokuHosts(join(testFolder('release'), 'heroku'), tested.env)
      const program = await herokuTool()
      // The platform's tool prints config vars without masking.
      const tool = createOperator({ ...tested.env, ...hosts.env })
      const heroku = async (...args: string[]) => {
        const { status, output } = await tool.run(process.execPath, [program, ...args, '--app', 'by-tool'])
        expect(status, `${args.join(' ')}: ${output}`).to.equal(0)
        return output
      }
      try {
        await heroku('create', '--stack', 'container', '--no-remote')
        expect(await heroku('ps')).to.include('No dynos')
        await tested.operator.make('release-order', 'APP=by-tool')
        const { configVars, digest } = stateOf('by-tool')
        const shown = JSON.parse((await heroku('config', '--json')).replace(/^[^{]*/, ''))
        expect(shown).to.deep.equal(configVars)
        expect(await heroku('ps')).to.match(/web\.1: up/)
        expect(await heroku('releases')).to.match(/v3 +Deployed web/)
        expect(await heroku('logs', '--num', '20')).to.match(/app\[web\.1\]/)

        await heroku('config:set', 'Log__Level=warn')
        expect(stateOf('by-tool').configVars).to.include({ Log__Level: 'warn' })
        expect((await tested.operator.make('release-order', 'APP=by-tool')).output).to.include(
          '~ Log__Level = warn -> info',
        )

        expect(await heroku('rollback', 'v4')).to.match(/Rolling back/)
        expect(stateOf('by-tool').configVars).to.include({ Log__Level: 'warn' })
        await heroku('ps:stop', '--dyno-name', 'web.1')
        expect(stateOf('by-tool').states).to.deep.equal(['down'])
        await heroku('container:rm', 'web')
        expect(stateOf('by-tool')).to.include({ digest: undefined, quantity: undefined })
        await heroku('container:release', 'web')
        expect(stateOf('by-tool')).to.include({ digest, quantity: 1 })
        await heroku('ps:scale', 'web=0')
        expect(stateOf('by-tool').quantity).to.equal(0)
      } finally {
        hosts.close()
      }
    })

    it('keeps secrets out of output, arguments, readable files and images', async () => {
      const password = tested.env.Stream__SaslPassword ?? ''
      const secrets = [
        tested.env.ACCESS_TOKEN ?? '',
        password,
        Buffer.from(`_:${tested.env.ACCESS_TOKEN}`).toString('base64'),
      ]
      for (const secret of secrets) {
        expect(tested.operator.transcript()).to.not.include(secret)
        expect(tested.operator.processArguments()).to.not.include(secret)
      }
      expect(tested.operator.transcript()).to.include('State__ConnectionString = ***')
      expect(tested.operator.processArguments()).to.include('docker push')

      const folder = tested.env.RELEASE_FOLDER ?? ''
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const { mode } = statSync(join(folder, name))
        expect(mode & 0o077, name).to.equal(0)
      }

      const image = `${tested.env.PLATFORM_REGISTRY}/orders/web`
      const count = (pattern: string) =>
        tested.operator.bash('docker save "$IMAGE" | grep -a -c -F -f <(printenv PATTERN) || true', {
          env: { IMAGE: image, PATTERN: pattern },
        })
      expect(Number((await count('payment')).output)).to.be.greaterThan(0)
      expect((await count(secrets.join('\n'))).output.trim()).to.equal('0')
    })
  })
}
