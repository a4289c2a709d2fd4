import { expect } from 'chai'
import { parse } from 'yaml'
import { defaultPorts, services } from '../../src/application/services.ts'
import { containersConfig, localConfig } from '../../src/observe/config.ts'

interface ScrapeConfig {
  job_name: string
  static_configs?: { targets: string[]; labels?: Record<string, string> }[]
  dns_sd_configs?: { names: string[]; port: number }[]
  relabel_configs?: { regex: string; target_label: string; replacement: string }[]
}

describe('prometheus.yml', () => {
  const local = parse(localConfig(defaultPorts, '/rules/alerts.yml', 2))
  const jobs = local.scrape_configs as ScrapeConfig[]

  it('names, for processes, the ports of each service, of its sidecar and of the exporter', () => {
    const targets = jobs.flatMap(({ job_name: job, static_configs: found = [] }) =>
      found.map(({ targets: [target], labels }) => [job, labels?.service, target]),
    )
    expect(targets).to.deep.equal([
      ...services.map(({ name }, index) => ['services', name, `127.0.0.1:${3900 + index}`]),
      ...services.map(({ name }, index) => ['sidecars', name, `127.0.0.1:${3800 + index}`]),
      ['exporter', undefined, '127.0.0.1:9091'],
    ])
  })

  it('scrapes at the given interval, with a timeout that is at most as long', () => {
    expect(local.global).to.deep.equal({ scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' })
    expect(local.rule_files).to.deep.equal(['/rules/alerts.yml'])
    const usual = parse(localConfig(defaultPorts, 'alerts.yml'))
    expect(usual.global).to.include({ scrape_interval: '10s', scrape_timeout: '4s' })
  })

  it('finds, for containers, all pods of a service by one name', () => {
    const { scrape_configs: found } = parse(containersConfig()) as { scrape_configs: ScrapeConfig[] }
    expect(found.map(({ job_name: job }) => job)).to.deep.equal(jobs.map(({ job_name: job }) => job))
    expect(found[0]?.dns_sd_configs?.map(({ names: [name], port }) => [name, port])).to.deep.equal(
      services.map(({ role }, index) => [`${role}-pods`, 3900 + index]),
    )
  })

  it('labels, for containers, each service with its full name, whether or not it ends with -service', () => {
    const { scrape_configs: found } = parse(containersConfig()) as { scrape_configs: ScrapeConfig[] }
    for (const { relabel_configs: rules = [] } of found.slice(0, 2)) {
      const nameOf = (pods: string) => rules.find(({ regex }) => new RegExp(`^(?:${regex})$`).test(pods))?.replacement
      expect(services.map(({ role }) => nameOf(`${role}-pods`))).to.deep.equal(services.map(({ name }) => name))
    }
  })
})
