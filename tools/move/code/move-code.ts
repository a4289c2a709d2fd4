import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { constantsIn, movedManifest, movedReadme, movedServices, movedSettings, movedTrust } from './files.ts'
import { movedSource } from './source.ts'

/** Copies the services, schemas and settings of a clone into an empty application. Returns the names of the services. */
export function moveCode(from: string, to: string): string[] {
  const old = readJson(join(from, 'services.json'))
  const application: string = basename(readJson(join(to, 'package.json')).name)
  const contract = readJson(join(to, 'envelope-schema/package.json'))
  // npm would ask a registry for another version than that of the application's contract. Paths in package.json of a service begin at its folder.
  const versions = {
    ...readJson(join(to, 'event-gateway/package.json')).dependencies,
    [contract.name]: contract.version,
  }
  const defaults = readJson(join(repository, 'packages/stack/templates/new-service/appsettings.json'))

  const names = Object.keys(old.services)
  const services = names.filter((name) => !existsSync(join(to, name)))
  for (const name of services) {
    cpSync(join(from, name), join(to, name), { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
    edit(join(to, name, 'package.json'), (manifest) => movedManifest(manifest, application, versions))
    const settings = join(to, name, 'appsettings.json')
    writeFileSync(settings, linesOf(movedSettings(readJson(settings), defaults)))
    for (const file of globSync(`${name}/**/*.ts`, { cwd: to })) {
      const path = join(to, file)
      writeFileSync(path, movedSource(readFileSync(path, 'utf8'), application))
    }
  }
  for (const name of names.filter((each) => !services.includes(each))) {
    const { Id } = readJson(join(from, name, 'appsettings.json')).App
    const settings = join(to, name, 'appsettings.json')
    writeFileSync(settings, readFileSync(settings, 'utf8').replace(/("Id":\s*")[^"]+/, `$1${Id}`))
  }
  cpSync(join(from, 'envelope-schema/schemas/events'), join(to, 'envelope-schema/schemas/events'), { recursive: true })
  const constants = constantsIn(readFileSync(join(from, 'envelope-schema/src/topics.ts'), 'utf8'))
  const example = readJson(join(repository, 'services.json'))
  edit(join(to, 'services.json'), (own) => movedServices({ old, own, constants, example }))
  const readme = join(to, 'README.md')
  writeFileSync(readme, movedReadme(readFileSync(readme, 'utf8'), readJson(join(to, 'services.json')).services))
  const trust = readJson(join(from, 'components/trust/trust.json'))
  edit(join(to, 'components/trust/trust.json'), ({ $schema }) => movedTrust(trust, $schema))
  return services
}

// biome-ignore lint/suspicious/noExplicitAny: the files have many forms
const readJson = (file: string): any => JSON.parse(readFileSync(file, 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: the files have many forms
function edit(file: string, change: (content: any) => object): void {
  writeFileSync(file, `${JSON.stringify(change(readJson(file)), null, 2)}\n`)
}

/** Returns JSON with one line for each section, so that the formatter joins the settings of short sections. */
function linesOf(sections: object): string {
  const lines = Object.entries(sections).map(([name, section]) => `"${name}": ${JSON.stringify(section)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
