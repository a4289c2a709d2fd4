import { join } from 'node:path'
import type { Cluster } from '@orderflow/cluster'
import {
  clusterVersions,
  ensureDefinitions,
  ensureStrimziDefinitions,
  strimziMissing,
} from '@orderflow/cluster/definitions'
import { repository, timed } from '@orderflow/stack/base'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'

const onProgress = timed()

/** Checks resources of the chart for operators that do not run in these tests. The API server compares them with the definitions of the operators. */
export function resourcesForOperators(running: () => Cluster): void {
  describe('the chart’s resources for other operators', () => {
    it('fit the definitions of the Gateway API', async () => {
      const values = ['enabled=true', 'gateway.name=gateway', 'hosts.order-service=orders.example']
      const apply = () => refusalOf('route', values)
      expect(await apply()).to.contain('no matches for kind "HTTPRoute"')
      await define(await ensureDefinitions('gatewayApi', { onProgress }))
      expect(await apply()).to.equal(undefined)
    })

    it('fit the definitions of the Prometheus Operator', async () => {
      const apply = () => refusalOf('monitoring', ['enabled=true'])
      expect(await apply()).to.contain('no matches for kind "ServiceMonitor"')
      await define(await ensureDefinitions('prometheusOperator', { onProgress }))
      expect(await apply()).to.equal(undefined)
    })

    const title = 'fit the definitions of Strimzi'
    const missing = strimziMissing()
    if (missing) leaveOut(title, missing)
    else
      it(title, async () => {
        const apply = () => refusalOf('strimzi', ['enabled=true', 'cluster=kafka'])
        expect(await apply()).to.contain('no matches for kind "KafkaTopic"')
        await define(await ensureStrimziDefinitions({ onProgress }))
        expect(await apply()).to.equal(undefined)
      })
  })

  const define = async (files: string[]) => {
    const { kubectl } = running()
    for (const file of files) await kubectl('create', '--filename', file)
    await kubectl('wait', '--for=condition=Established', 'customresourcedefinitions', '--all', '--timeout=60s')
  }

  /** Returns the API server's message if it refuses the resources of a template, which this function never creates. */
  async function refusalOf(template: string, values: string[]): Promise<string | undefined> {
    const set = ['store=postgresql', 'kafka.brokers=kafka:9092', 'setup.enabled=false']
    const own = values.map((value) => `${template}.${value}`)
    const { helm, applyManifest } = running()
    const options = [
      `--set=${[...set, ...own].join()}`,
      `--show-only=templates/${template}.yaml`,
      // Helm would assume an old version, because a template needs no cluster.
      `--kube-version=${clusterVersions.kubernetes}`,
    ]
    const resources = await helm('template', 'orderflow', join(repository, 'chart'), ...options)
    return applyManifest(resources, '--dry-run=server', '--validate=strict').then(
      () => undefined,
      (error: Error) => error.message,
    )
  }
}
